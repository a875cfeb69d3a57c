"""What every formula reads of the training step itself."""

from dataclasses import dataclass

from steptime.formulas.number import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A training step as numbers; names as in the dataclasses they come from.

    Every value is a float or, in a search, a float64 array, so no product of counts can overflow
    in NumPy or turn into an exact integer that JavaScript would round. Switches are 1 or 0,
    ``schedule`` is a place in ``formulas.schedule.SCHEDULES``. ``num_experts`` is 0 for a dense
    model, ``max_groups`` where a token may reach all groups of experts; the ``*_rank`` and
    ``qk_*`` fields are 0 without latent attention. ``data_inside`` is 1 where data-parallel ranks
    are nearer than pipeline ones, as in Megatron-LM's order. ``*_stage_layers`` is 0 where nobody
    states the layers of that rank.
    """

    # model
    num_layers: Number
    hidden_size: Number
    ffn_hidden_size: Number
    num_attention_heads: Number
    num_query_groups: Number
    head_dim: Number
    vocab_size: Number
    gated: Number
    tied: Number
    learned_positions: Number
    window_size: Number
    windowed_layers: Number
    num_experts: Number
    top_k: Number
    num_shared_experts: Number
    expert_ffn_hidden_size: Number
    num_dense_layers: Number
    expert_groups: Number
    max_groups: Number
    q_lora_rank: Number
    kv_lora_rank: Number
    qk_nope_head_dim: Number
    qk_rope_head_dim: Number
    v_head_dim: Number
    # batch
    seq_length: Number
    micro_batch_size: Number
    global_batch_size: Number
    # layout
    tp: Number
    cp: Number
    pp: Number
    vpp: Number
    dp: Number
    dp_replicate: Number
    ep: Number
    etp: Number
    sequence_parallel: Number
    zero_stage: Number
    recompute_full: Number
    recompute_selective: Number
    fp8: Number
    schedule: Number
    data_inside: Number
    first_stage_layers: Number
    last_stage_layers: Number
    # accelerator
    peak_flop_per_s: Number
    peak_fp8_flop_per_s: Number
    peak_fp4_flop_per_s: Number
    matmul_flop_per_s: Number
    matmul_fp8_flop_per_s: Number
    matmul_fp4_flop_per_s: Number
    hbm_bytes: Number
    hbm_bytes_per_s: Number
    nvlink_bytes_per_s: Number
    nvlink_domain: Number
    network_bytes_per_s: Number
    num_sms: Number
