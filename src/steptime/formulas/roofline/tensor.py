"""What tensor parallelism sends for one layer and micro-batch, and what products hide of it."""

from steptime.formulas.number import Number, minimum, where
from steptime.formulas.records import (
    Constants,
    Job,
    LandedChunks,
    Products,
    TensorMessages,
    TimeFacts,
)
from steptime.formulas.roofline.links import beside_s, gather_s, reduce_s
from steptime.formulas.roofline.rates import ranks_inside


def across_wait_s(job: Job, stack: TimeFacts) -> Number:
    """Return what a layer's tensor-parallel messages wait for where they leave the server.

    Args:
        stack: ``across_wait_s`` per rank.
    """
    return where(job.tp > job.nvlink_domain, job.tp, 0.0) * stack.across_wait_s


def chunk_share(job: Job, stack: TimeFacts) -> Number:
    """Return the share of a layer's messages that are cut into chunks, which products hide.

    Chunks land in memory that all ranks of the group map, which takes one NVLink domain; those
    that are sent as messages of their own go further. Gathers and scatters are cut, an all-reduce
    is not.

    Args:
        stack: ``overlap_tp``, and ``tp_chunks_sent``, 1 where chunks are sent.

    References:
        torch2026, csrc/distributed/c10d/symm_mem/CUDASymmetricMemory.cu (all ranks must be in the
        same NVLink domain); transformerengine2026, common/comm_gemm_overlap/userbuffers/
        userbuffers-host.cpp (handles of one server or NVLink fabric); megatronlm2026,
        megatron/training/arguments.py (--tp-comm-overlap asks for sequence parallelism).
    """
    near = where(job.tp > job.nvlink_domain, stack.tp_chunks_sent, 1.0)
    split = where(job.sequence_parallel > 0.0, near, 0.0)
    return where(job.tp > 1.0, stack.overlap_tp * split, 0.0)


def landed_s(
    job: Job, stack: TimeFacts, constants: Constants, gathered_bytes: Number, size: Number
) -> LandedChunks:
    """Return what memory moves for chunks of messages that land in buffers, in one pass.

    Before a gather each rank copies its slice to where the others read it, and to its place in the
    whole: two copies, each read and written. A scatter's chunks land as they are, so all ranks'
    are read and their sum is written.

    Args:
        stack: ``tp_chunk_copies`` is 1 where chunks are copied; see `chunk_share`.
        constants: ``hbm_efficiency``.
        gathered_bytes: Of a gathered input.
        size: Of the output that is scattered.

    Returns:
        ``gathers`` and ``scatters``: of the two of a pass.

    References:
        torch2026, distributed/_symmetric_memory (fused_all_gather_matmul and
        fused_matmul_reduce_scatter).
    """
    bytes_per_s = job.hbm_bytes_per_s * constants.hbm_efficiency
    cut = chunk_share(job, stack) * stack.tp_chunk_copies
    return {
        "gathers": cut * 2.0 * 4.0 * gathered_bytes / job.tp / bytes_per_s,
        "scatters": cut * 2.0 * (size + size / job.tp) / bytes_per_s,
    }


def tensor_s(
    job: Job, stack: TimeFacts, constants: Constants, tokens: Number, products: Products
) -> TensorMessages:
    """Return the exposed time of a layer's tensor-parallel messages.

    Two a pass: each is a gather and a reduce-scatter with sequence parallelism, else an
    all-reduce. Asynchronous ones are cut into a chunk for each rank, and products work on those
    that are there: one chunk has nothing to hide behind, and no more hides than products last.
    What chunks cost where they land shows, see `landed_s`.

    Args:
        stack: `chunk_share` of the messages is cut so; ``overlap_tp_backward`` is the share of
            the backward pass alone, behind the weight's product; ``narrow_gathers`` is 1 where
            8-bit products gather inputs that are cast already.
        constants: ``contention`` of what is hidden shows all the same.
        tokens: Of a micro-batch on this device.
        products: Time of the layer's products.

    Returns:
        ``tensor`` of the forward and ``tensor_back`` of the backward pass, ``tensor_gathers``
        of a forward pass alone and ``tensor_last``, its last message.

    References:
        korthikanti2022, Sec. 4.2.2; transformerengine2026, user buffers; torchtitan2025,
        asynchronous tensor parallelism.
    """
    inside = ranks_inside(job, job.tp, 1.0)
    size = tokens * job.hidden_size * 2.0
    narrow = 1.0 - 0.5 * job.fp8 * stack.narrow_gathers
    scattered = gather_s(job, constants, size, job.tp, inside)
    gathered = gather_s(job, constants, size * narrow, job.tp, inside)
    split = where(job.sequence_parallel > 0.0, 1.0, 0.0)
    whole = reduce_s(job, constants, size, job.tp, inside)
    both = 2.0 * where(split > 0.0, scattered + gathered, whole)
    wait = 0.5 * across_wait_s(job, stack)
    cut = chunk_share(job, stack) * (1.0 - 1.0 / job.tp)
    ahead, grads = products["forward"], products["backward"]
    landed = landed_s(job, stack, constants, split * narrow * size, split * size)
    landed_both = landed["gathers"] + landed["scatters"]
    chunked = beside_s(constants, both, cut, grads) + landed_both
    behind_weight = beside_s(constants, both, stack.overlap_tp_backward, 0.5 * grads)
    return {
        "tensor": beside_s(constants, both, cut, ahead) + landed_both + wait,
        "tensor_back": minimum(chunked, behind_weight) + wait,
        "tensor_gathers": beside_s(constants, 2.0 * split * gathered, cut, ahead)
        + landed["gathers"],
        "tensor_last": beside_s(constants, split * scattered, cut, ahead)
        + 0.5 * landed["scatters"],
    }
