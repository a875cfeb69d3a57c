"""What the roofline model has to know of the software beyond the layout."""

from dataclasses import dataclass

from steptime.formulas.number import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFacts:
    """Facts of the software, and of the part it runs on, as floats.

    Switches are 1.0 or 0.0; a share lies between them.

    Attributes:
        flash: Attention never stores its scores.
        attention_flop_per_s: Published rate of the attention kernel.
        dropout: Dropout is on.
        eager: Share of element-wise operations that run unfused.
        plain_norms: Share of norms that run in 32 bits, a kernel for each operation.
        host_layer_s: Least time of a layer and micro-batch: what the host takes to launch it.
        stage_wait_s: Added to it per tensor-parallel rank while stages on several servers
            send and receive in turn.
        across_wait_s: Time that a layer's tensor-parallel messages wait, per rank, where they
            leave the server.
        loss_bytes: Bytes moved per logit by the loss, both passes.
        scattered_sends: Each tensor-parallel rank sends its part of an activation only.
        overlap_dp: Gradients travel during the backward pass.
        overlap_plain_dp: Gradients do so where nothing is sharded and there is one stage.
        overlap_tp: Share of tensor-parallel messages that are cut into chunks and overlap with
            products: Transformer Engine's user buffers, torchtitan's asynchronous mode. With
            sequence parallelism only, and inside one NVLink domain.
        tp_chunks_sent: Such chunks are sent as messages, which leave an NVLink domain too; else
            they land in memory that the ranks of one domain map.
        overlap_tp_backward: Share of those of the backward pass that the weight's product hides.
        tp_chunk_copies: Such chunks are copied to buffers that other ranks read, and what lands in
            buffers is added up at the end: torchtitan's asynchronous mode.
        cp_head_ranks: Context-parallel ranks over which attention is cut by heads (Ulysses): 1
            for none, 0 for as many as share an NVLink domain.
        cp_copies_heads: Such ranks beyond the heads of keys and values get copies of them.
        cp_ring: Keys and values go round a ring, block by block; else one collective moves them.
        overlap_cp: They do so while attention works on the blocks that are there.
        cp_gradient_bytes: Bytes of a gradient of keys and values as it travels.
        overlap_sends: Sends between stages overlap with computing.
        overlap_ep: Exchanges of tokens overlap with computing.
        sent_gradient_bytes: Bytes of a gradient as products add to it and ranks exchange it.
        gathered_weight_bytes: Bytes of a weight as sharded ones are gathered.
        gradient_all_reduce: Sharded optimizers still add up whole gradients.
        fused_accumulation: Products add to the gradient themselves.
        bucket_bytes: Size of one gradient message.
        reshard_after_forward: Fully sharded weights are dropped after the forward pass.
        gather_each_microbatch: Where gradients are sharded and weights are not dropped after the
            forward pass, they are after the backward pass, so each micro-batch gathers them.
        reduce_each_microbatch: Sharded gradients are scattered after each micro-batch.
        copies_each_microbatch: And then added up over the copies of what is sharded.
        keep_in_pipeline: With pipeline stages weights stay gathered after a backward pass, and
            whole gradients are added up until the last one.
        recompute_layers: Layers of a stage that full recomputation covers; 0 for all.
        early_stop: Recomputation leaves out a layer's last product.
        recompute_per_op: Selective recomputation runs every other product again, with what lies
            between, not the attention core.
        recompute_up_projection: Latent attention's Q, K and V are recomputed (mla_up_proj).
        recompute_mlp: A dense layer's activation is recomputed.
        recompute_activation: A dense network's product of gate and activation is recomputed.
        recompute_norms: A layer's two normed inputs are recomputed (layernorm).
        recompute_expert_activation: An expert's activation is recomputed (moe_act).
        recompute_shared_experts: The experts that every token uses run again (shared_experts).
        recompute_experts: A mixture layer's whole feed-forward part does, exchanges too (moe).
        edges_count: Embedding and head count as a layer each where that makes chunks equal.
        balance_by_cost: Stages are cut by what layers and head cost.
        fp4: Products run in four bits.
        block_scaled: 8-bit values are scaled in blocks.
        scaled_products: Extra time of products that scale rows or blocks over those that scale
            a tensor.
        narrow_gathers: 8-bit products gather tensor-parallel inputs that are cast already.
        eager_experts: The experts' activation is a chain of small kernels.
        dispatch_bytes: Bytes of a value on its way to an expert; back it always has two.
        plain_exchange: Each copy of a token travels to its expert by itself, and nothing hides it.
        old_experts: Routed work still waits for the host.
        power_scale: Rate of a part over that of its kin: less where it may draw less power.
    """

    flash: Number = 1.0
    attention_flop_per_s: Number = 190e12
    dropout: Number = 0.0
    eager: Number = 0.0
    plain_norms: Number = 0.0
    host_layer_s: Number = 0.0
    stage_wait_s: Number = 0.0
    across_wait_s: Number = 0.0
    loss_bytes: Number = 14.0
    scattered_sends: Number = 1.0
    overlap_dp: Number = 1.0
    overlap_plain_dp: Number = 0.0
    overlap_tp: Number = 0.0
    tp_chunks_sent: Number = 0.0
    overlap_tp_backward: Number = 0.0
    tp_chunk_copies: Number = 0.0
    cp_head_ranks: Number = 1.0
    cp_copies_heads: Number = 0.0
    cp_ring: Number = 1.0
    overlap_cp: Number = 1.0
    cp_gradient_bytes: Number = 2.0
    overlap_sends: Number = 0.0
    overlap_ep: Number = 1.0
    sent_gradient_bytes: Number = 4.0
    gathered_weight_bytes: Number = 2.0
    gradient_all_reduce: Number = 0.0
    fused_accumulation: Number = 1.0
    bucket_bytes: Number = 1e15
    reshard_after_forward: Number = 1.0
    gather_each_microbatch: Number = 0.0
    reduce_each_microbatch: Number = 1.0
    copies_each_microbatch: Number = 0.0
    keep_in_pipeline: Number = 0.0
    recompute_layers: Number = 0.0
    early_stop: Number = 0.0
    recompute_per_op: Number = 0.0
    recompute_up_projection: Number = 0.0
    recompute_mlp: Number = 0.0
    recompute_activation: Number = 0.0
    recompute_norms: Number = 0.0
    recompute_expert_activation: Number = 0.0
    recompute_shared_experts: Number = 0.0
    recompute_experts: Number = 0.0
    edges_count: Number = 1.0
    balance_by_cost: Number = 0.0
    fp4: Number = 0.0
    block_scaled: Number = 0.0
    scaled_products: Number = 0.0
    narrow_gathers: Number = 0.0
    eager_experts: Number = 0.0
    dispatch_bytes: Number = 2.0
    plain_exchange: Number = 0.0
    old_experts: Number = 0.0
    power_scale: Number = 1.0
