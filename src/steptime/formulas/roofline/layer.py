"""One layer and one micro-batch on one device: what each part of it takes."""

from steptime.formulas.experts import expert_width
from steptime.formulas.number import Number, where
from steptime.formulas.records import Constants, Floors, Job, Messages, Passes, Products, TimeFacts
from steptime.formulas.roofline.attention import (
    flash_forward_s,
    flash_share,
    output_width,
    query_width,
    stored_s,
)
from steptime.formulas.roofline.elementwise import cast_bytes_per_value, layer_traffic_bytes
from steptime.formulas.roofline.exchanges import exchange_s
from steptime.formulas.roofline.experts import (
    dense_backward_s,
    dense_forward_s,
    mixture_forward_s,
    mixture_share,
    routed_rows,
)
from steptime.formulas.roofline.matmul import gradient_products_s, product_s
from steptime.formulas.roofline.modules import EXPANSION_SHARE, full_share
from steptime.formulas.roofline.rates import ceiling_flop_per_s, product_flop_per_s
from steptime.formulas.roofline.tensor import across_wait_s, tensor_s


def tokens_per_device(job: Job) -> Number:
    """Return the tokens of one micro-batch that a device works on, before tensor parallelism."""
    return job.micro_batch_size * job.seq_length / job.cp


def input_outputs(job: Job) -> Number:
    """Return the outputs of attention's input products, as one product of the hidden size.

    Latent attention's chain of small products is taken as one with as many parameters.

    References:
        deepseek2024, Sec. 2.1.1; deepseek2024v2, Appendix B (queries that are not compressed).
    """
    ordinary = (job.num_attention_heads + 2.0 * job.num_query_groups) * job.head_dim
    key_value = job.num_attention_heads * (job.qk_nope_head_dim + job.v_head_dim)
    # Small models compress keys and values alone.
    compressed = job.q_lora_rank * (1.0 + query_width(job) / job.hidden_size)
    latent = (
        where(job.q_lora_rank > 0.0, compressed, query_width(job))
        + job.kv_lora_rank * (1.0 + key_value / job.hidden_size)
        + job.qk_rope_head_dim
    )
    return where(job.kv_lora_rank > 0.0, latent, ordinary)


def products_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Products:
    """Return the forward and backward time of a layer's matrix products.

    Args:
        constants: As in `product_s`.
        tokens: Of a micro-batch on this device.

    Returns:
        ``attention_forward``, ``forward``, ``backward`` and ``down_forward``, the last
        product of a dense layer.
    """
    rate = product_flop_per_s(job, stack, constants)
    share = mixture_share(job)
    h, into, out = job.hidden_size, input_outputs(job) / job.tp, output_width(job) / job.tp
    attention = product_s(job, constants, tokens, into, h, rate)
    attention = attention + product_s(job, constants, tokens, h, out, rate)
    backward = gradient_products_s(job, constants, tokens, into, h, rate)
    backward = backward + gradient_products_s(job, constants, tokens, h, out, rate)
    mixture = mixture_forward_s(job, stack, constants, tokens, rate)
    dense_forward = dense_forward_s(job, constants, tokens, rate)
    dense_backward = dense_backward_s(job, constants, tokens, rate)
    width = job.ffn_hidden_size / job.tp
    return {
        "attention_forward": attention,
        "forward": attention + (1.0 - share) * dense_forward + share * mixture,
        "backward": backward + (1.0 - share) * dense_backward + 2.0 * share * mixture,
        "down_forward": (1.0 - share) * product_s(job, constants, tokens, h, width, rate),
    }


def core_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Passes:
    """Return the forward and backward time of a layer's attention core.

    A kernel that never stored its scores has to make them anew going back: five products
    for two. For one that did see `stored_s`.

    Args:
        stack: ``flash`` is 1 or 0; where nobody says which kernel it is, see `flash_share`.
        constants: As in the attention formulas.
        tokens: Of a micro-batch on this device.

    Returns:
        ``forward`` and ``backward``.

    References:
        dao2023, Sec. 4.1 (2.5 times the forward FLOP).
    """
    rate = ceiling_flop_per_s(job, stack, constants)
    share = flash_share(job, stack)
    flash = flash_forward_s(job, stack, constants, tokens)
    stored = stored_s(job, stack, constants, tokens, rate)
    return {
        "forward": share * flash + (1.0 - share) * stored["forward"],
        "backward": share * 2.5 * flash + (1.0 - share) * stored["backward"],
    }


def elementwise_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Passes:
    """Return the forward and backward time of everything else that runs on the device.

    In 8 bits each input of a product is cast on the way forward, each gradient going back.

    Args:
        constants: ``hbm_efficiency`` and those of the elementwise formulas.
        tokens: Of a micro-batch on this device.

    Returns:
        ``forward`` and ``backward``.
    """
    share = mixture_share(job)
    hbm = job.hbm_bytes_per_s * constants.hbm_efficiency
    traffic = layer_traffic_bytes(job, stack, tokens, 1.0 - share)
    cast = cast_bytes_per_value(job, stack)
    h, gates = job.hidden_size, 1.0 + job.gated
    dense, rows = job.ffn_hidden_size * (1.0 - share), share * routed_rows(job, tokens)
    inputs = tokens * (h + (output_width(job) + h + dense) / job.tp)
    inputs = inputs + rows * (h + expert_width(job))
    grads = tokens * (h + (input_outputs(job) + gates * dense + h) / job.tp)
    grads = grads + rows * (h + gates * expert_width(job))
    return {
        "forward": (traffic["forward"] + cast * inputs) / hbm,
        "backward": (traffic["backward"] + cast * grads) / hbm,
    }


def messages_s(
    job: Job, stack: TimeFacts, constants: Constants, tokens: Number, products: Products
) -> Messages:
    """Return the exposed time of a layer's messages, those of context parallelism apart.

    Args:
        stack: As in `tensor_s` and `exchange_s`; ``recompute_experts`` exchanges once more.
        constants: As in `tensor_s` and `exchange_s`.
        tokens: Of a micro-batch on this device.
        products: From `products_s`.

    Returns:
        What `tensor_s` returns; ``expert`` of both passes, and ``expert_covered``, which other
        work may cover.
    """
    tensor = tensor_s(job, stack, constants, tokens, products)
    exchange = exchange_s(job, stack, constants, tokens)
    passes = 4.0 + 2.0 * stack.recompute_experts
    exchanges = where(job.num_experts > 0.0, passes * mixture_share(job), 0.0)
    return {
        "tensor": tensor["tensor"],
        "tensor_back": tensor["tensor_back"],
        "tensor_gathers": tensor["tensor_gathers"],
        "tensor_last": tensor["tensor_last"],
        "expert": exchanges * exchange["shown"],
        "expert_covered": exchanges * exchange["covered"],
    }


def crosses_servers(job: Job) -> Number:
    """Return 1 where stages of the pipeline lie in different NVLink domains, else 0.

    Tensor-, context- and data-parallel ranks are placed before pipeline stages.

    References:
        narayanan2021, Sec. 3.2 (stages over servers).
    """
    devices = job.tp * job.cp * job.pp * job.dp
    return where(job.pp > 1.0, where(devices > job.nvlink_domain, 1.0, 0.0), 0.0)


def floors_s(job: Job, stack: TimeFacts) -> Floors:
    """Return the least times of a layer and micro-batch, forward and backward.

    Kernels that are launched one by one cannot run faster than the host launches them. A forward
    pass is a third of a layer's launches, and one that runs again is launched again. In one stack
    each tensor-parallel rank adds a wait while messages between stages are under way on the
    network.

    Args:
        stack: ``host_layer_s``, ``stage_wait_s`` and ``across_wait_s``; and as in `full_share`.

    Returns:
        ``host``, always, and ``staged``, while stages send and receive in turn.
    """
    waits = stack.stage_wait_s * crosses_servers(job) * where(job.tp > 1.0, job.tp, 0.0)
    staged = waits + crosses_servers(job) * across_wait_s(job, stack)
    host = stack.host_layer_s * (1.0 + full_share(job, stack) / 3.0)
    return {"host": host, "staged": host + staged}


def again_products_share(job: Job) -> Number:
    """Return the share of a layer's products that recomputation by operation runs again.

    Of the products for queries, keys, values and output, then gate, up and down, every second
    one is not kept; 8-bit ones are not known to it, so none is. The last one, and the output's
    where its sum over tensor-parallel ranks is kept, are needed by nobody. Experts: half.

    References:
        torchtitan2025, parallelisms/parallelize_llama.py (what is kept).
    """
    out = where(job.sequence_parallel * job.tp > 1.0, 0.0, output_width(job))
    f, into = job.ffn_hidden_size, input_outputs(job)
    second = job.num_query_groups * job.head_dim + out + job.gated * f
    every = into + out + (1.0 + job.gated) * f
    whole = into + output_width(job) + (2.0 + job.gated) * f
    dense = where(job.fp8 > 0.0, every, second) / whole
    return where(job.num_experts > 0.0, 0.5, dense)


def recomputed_s(
    job: Job, stack: TimeFacts, products: Products, core: Passes, other: Passes
) -> Number:
    """Return the time of what runs again in the backward pass, messages apart.

    Args:
        job: ``recompute_selective`` (the attention core), and as in `full_share`.
        stack: As there; ``recompute_per_op`` (`again_products_share` and the element-wise part),
            ``recompute_up_projection`` (latent attention's expansions), ``recompute_mlp`` (the
            dense layers' activation); ``early_stop`` leaves out the last product of a layer,
            whose result nobody needs.

    References:
        korthikanti2022, Sec. 5.
    """
    again = products["forward"] - stack.early_stop * products["down_forward"]
    full = full_share(job, stack) * (again + core["forward"] + other["forward"])
    selective = job.recompute_selective * (1.0 - stack.recompute_per_op) * core["forward"]
    operations = again_products_share(job) * products["forward"] + other["forward"]
    per_op = job.recompute_selective * stack.recompute_per_op * operations
    expansions = where(job.kv_lora_rank > 0.0, EXPANSION_SHARE * products["attention_forward"], 0.0)
    modules = stack.recompute_up_projection * expansions
    modules = modules + stack.recompute_mlp * products["down_forward"]
    # Where the whole layer runs again, they are in it.
    apart = 1.0 - full_share(job, stack)
    return full + selective + per_op + apart * modules
