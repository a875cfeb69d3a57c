"""What is held for a moment: logits, messages, gathered weights, work space."""

from steptime.formulas.experts import of_copies
from steptime.formulas.layout_terms import key_value_width
from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.records import Job, MemoryFacts
from steptime.formulas.traffic import key_value_bytes


def tokens(job: Job) -> Number:
    """Return the tokens of one micro-batch on one rank: b s / c."""
    return job.micro_batch_size * job.seq_length / job.cp


def tile_share(job: Job, facts: MemoryFacts) -> Number:
    """Return the share of a micro-batch's tokens that a feed-forward network takes at a time.

    References:
        trl2026, docs/source/distributing_training.md (the MLP in tiles of the sequence).
    """
    tiled = facts.tile_tokens > 0.0
    return where(tiled, minimum(facts.tile_tokens / tokens(job), 1.0), 1.0)


def logit_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the bytes of one micro-batch's logits and their cross-entropy.

    The product in 16 bits, its 32-bit copy, and the softmax that becomes the gradient.
    Only one micro-batch is at the loss at a time.

    References:
        korthikanti2022, Sec. 4.3 (4 s b v in 32 bits alone); shoeybi2019, Sec. 3.
    """
    return tokens(job) * job.vocab_size / job.tp * facts.logit_bytes


def message_bytes(job: Job, split: Number) -> Number:
    """Return the receive and send buffers of the pipeline, a pair each way; 0 if p = 1.

    Args:
        split: From `sequence_split`.

    References:
        narayanan2021, Sec. 4.1.
    """
    one = 2.0 * tokens(job) * job.hidden_size / split
    return where(job.pp > 1.0, 4.0 * one, 0.0)


def gathered_sequence_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the whole sequences that sequence parallelism holds; 0 without it.

    The gathered input at least; a stack may keep one more for the backward pass, and has what
    a row-parallel product gives before it is scattered, and the gradient of the gathered input.

    References:
        korthikanti2022, Sec. 4.2.2; tazi2025, nanotron, tensor_parallel/
        functional.py (buffers allgather and allgather2, products before reduce-scatter).
    """
    on = where(job.tp > 1.0, job.sequence_parallel, 0.0)
    return on * facts.whole_sequences * (2.0 * tokens(job) * job.hidden_size)


def gathered_keys_bytes(job: Job) -> Number:
    """Return the whole sequence's K and V of one layer, as context parallelism gathers them.

    References:
        grattafiori2024, Sec. 3.3.2 (all-gather of K and V).
    """
    width = key_value_width(job, job.tp)
    whole = key_value_bytes(job.micro_batch_size, job.seq_length, width, job.tp, 2.0)
    return where(job.cp > 1.0, whole, 0.0)


def dispatch_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the all-to-all's buffers: the copies that leave and those that come back.

    References:
        lepikhin2020, Sec. 3.2; deepseek2024, Sec. 3.3.3 (8 bits out, 16 back).
    """
    copies = tokens(job) * job.top_k * facts.expert_imbalance
    both = (facts.dispatch_bytes + 2.0) * copies * job.hidden_size
    return where(job.ep > 1.0, of_copies(both, job), 0.0)


def work_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the gradients of one feed-forward network's inner values, in its backward pass.

    A network that takes its tokens in tiles has those of one tile.

    References:
        derived here: the inner widths once more, in 16 bits, while the layer's own wait.
    """
    routed = job.top_k * job.expert_ffn_hidden_size
    width = maximum(where(job.num_experts > 0.0, routed, 0.0), job.ffn_hidden_size)
    return tile_share(job, facts) * tokens(job) * 2.0 * (1.0 + job.gated) * width / job.tp


def moment_bytes(job: Job, facts: MemoryFacts, split: Number) -> Number:
    """Return the messages and gathered values that every rank holds for a moment.

    Args:
        split: From `sequence_split`.
    """
    gathered = gathered_sequence_bytes(job, facts) + gathered_keys_bytes(job)
    return message_bytes(job, split) + gathered
