"""What a software stack keeps in memory: bytes per value, kernels, cuts and reserves."""

from dataclasses import dataclass

from steptime.formulas.number import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """Facts of a software stack that a layout does not state, as floats.

    Attributes:
        weight_bytes: Bytes of a weight that the model multiplies by.
        fp8_copy_bytes: Bytes of its 8-bit copies (rows and columns) in 8-bit training.
        fp8_input_bytes: Bytes of a stored input of a product in 8-bit training.
        fp8_output_bytes: Bytes of attention's output in it: 16 bits and an 8-bit copy.
        fp8_activation_bytes: Bytes of a stored input of an activation in 8-bit training.
        gradient_bytes: Bytes of the gradient that micro-batches add up in.
        exchange_bytes: Bytes of a flat copy that a data-parallel exchange sends from.
        extra_gradient_bytes: Bytes of a second copy beside it, such as 16-bit ``.grad``.
        master_bytes: Bytes of the 32-bit weight that the optimizer updates.
        moment_bytes: Bytes of the optimizer's moments: 8 for Adam.
        update_bytes: Bytes of the 32-bit gradients that the optimizer copies for its own shard.
        flash: 1 if attention never stores its scores.
        dropout: 1 if dropout is on.
        gated_values: Values kept per inner width of a gated network: 3 fused, 4 not.
        norm_input_bytes: Bytes per value of what runs past the blocks: a norm's stored input.
        logit_bytes: Bytes per logit, with its 32-bit copies.
        dispatch_bytes: Bytes of a value on its way to an expert; back it always has two.
        expert_imbalance: Tokens of the busiest rank's experts over the mean.
        gathered_inputs: Share of the inputs gathered for sequence parallelism that stays
            until the backward pass: 0 if they are gathered again.
        whole_sequences: Whole sequences held for a moment where sequence parallelism is on.
        stage_outputs: 1 if a stage keeps what it sent until the backward pass.
        sliced_checkpoints: 1 if recomputation's inputs are saved in slices over tp.
        recompute_layers: Layers of a stage that full recomputation covers; 0 for all.
        recompute_norms: 1 if a layer's two normed inputs are recomputed (layernorm).
        recompute_up_projection: 1 if latent attention's Q, K and V are (mla_up_proj).
        recompute_mlp: 1 if a dense feed-forward network is (mlp).
        recompute_expert_activation: 1 if an expert's product is (moe_act).
        recompute_shared_experts: 1 if shared experts are (shared_experts).
        recompute_experts: 1 if a mixture layer's whole feed-forward part is (moe).
        recompute_activation: 1 if a dense network's product of gate and activation is.
        recompute_per_op: 1 if selective recomputation keeps every second product alone.
        offloaded_layers: Layers of a rank whose activations wait in the host's memory.
        offloaded_states: Share of weights, gradients and optimizer that waits there.
        kept_keys: 1 if keys and values of every layer stay beside what is recomputed from.
        tile_tokens: Tokens that a feed-forward network takes at a time; 0 for all. Their
            inner values stay for the backward pass, their gradients do not.
        gradients_freed: 1 if a step's gradients are given back with its update.
        recompute_group: Layers recomputed from one saved input.
        reshard_after_forward: 1 if fully sharded weights are dropped after the forward pass.
        reduce_each_microbatch: 1 if sharded gradients are scattered after each micro-batch.
        keep_in_pipeline: 1 if with pipeline stages weights stay gathered and gradients whole.
        gathered_layers: Layers whose weights ZeRO-3 holds whole at once.
        embedding_slots: Layers that the embedding counts for where stages are cut.
        head_slots: The same for the output head.
        balance_by_cost: 1 if the head counts for as many layers as it has parameters.
        first_stage_extra: Layers by which each cut comes later than an even one, before it is
            rounded down: just under 1 rounds up.
        reserve_bytes: Context of the device, communication library, and the like.
        fragmentation: Share that the allocator holds beyond activations and buffers.
    """

    weight_bytes: Number = 2.0
    fp8_copy_bytes: Number = 2.0
    fp8_input_bytes: Number = 1.0
    fp8_output_bytes: Number = 3.0
    fp8_activation_bytes: Number = 2.0
    gradient_bytes: Number = 4.0
    extra_gradient_bytes: Number = 0.0
    exchange_bytes: Number = 0.0
    master_bytes: Number = 4.0
    moment_bytes: Number = 8.0
    update_bytes: Number = 0.0
    flash: Number = 1.0
    dropout: Number = 0.0
    gated_values: Number = 3.0
    norm_input_bytes: Number = 2.0
    logit_bytes: Number = 10.0
    dispatch_bytes: Number = 2.0
    expert_imbalance: Number = 1.0
    gathered_inputs: Number = 0.0
    whole_sequences: Number = 1.0
    stage_outputs: Number = 0.0
    sliced_checkpoints: Number = 0.0
    recompute_layers: Number = 0.0
    recompute_norms: Number = 0.0
    recompute_up_projection: Number = 0.0
    recompute_mlp: Number = 0.0
    recompute_expert_activation: Number = 0.0
    recompute_shared_experts: Number = 0.0
    recompute_experts: Number = 0.0
    recompute_activation: Number = 0.0
    recompute_per_op: Number = 0.0
    offloaded_layers: Number = 0.0
    offloaded_states: Number = 0.0
    kept_keys: Number = 0.0
    tile_tokens: Number = 0.0
    gradients_freed: Number = 0.0
    recompute_group: Number = 1.0
    reshard_after_forward: Number = 1.0
    reduce_each_microbatch: Number = 1.0
    keep_in_pipeline: Number = 0.0
    gathered_layers: Number = 2.0
    embedding_slots: Number = 0.0
    head_slots: Number = 0.0
    balance_by_cost: Number = 0.0
    first_stage_extra: Number = 0.0
    reserve_bytes: Number = 1e9
    fragmentation: Number = 0.0
