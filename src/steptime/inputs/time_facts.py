"""What the roofline model has to know of the software beyond the layout."""

from __future__ import annotations

from dataclasses import dataclass, fields

from steptime.inputs.errors import check_number


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFacts:
    """Facts of the software, and of the part it runs on, as floats.

    Switches are 1.0 or 0.0; a share lies between them.

    Attributes:
        flash: Attention never stores its scores.
        attention_flop_per_s: Published rate of the attention kernel.
        dropout: Dropout is on.
        eager: Share of element-wise operations that run unfused.
        host_layer_s: Least time of a layer and micro-batch: what the host takes to launch it.
        stage_wait_s: Added to it per tensor-parallel rank while stages on several servers
            send and receive in turn.
        across_wait_s: Time that a layer's tensor-parallel messages wait, per rank, where they
            leave the server.
        loss_bytes: Bytes moved per logit by the loss, both passes.
        scattered_sends: Each tensor-parallel rank sends its part of an activation only.
        overlap_dp: Gradients travel during the backward pass.
        overlap_tp: Share of tensor-parallel messages that overlap with products.
        overlap_tp_backward: Share of those of the backward pass that the weight's product hides.
        overlap_sends: Sends between stages overlap with computing.
        overlap_ep: Exchanges of tokens overlap with computing.
        sent_gradient_bytes: Bytes of a gradient as products add to it and ranks exchange it.
        gradient_all_reduce: Sharded optimizers still add up whole gradients.
        fused_accumulation: Products add to the gradient themselves.
        bucket_bytes: Size of one gradient message.
        early_stop: Recomputation leaves out a layer's last product.
        recompute_per_op: Every other product is recomputed, with what lies between.
        recompute_latent: Latent attention's expansions are recomputed.
        recompute_mlp: A dense layer's activation is recomputed.
        edges_count: Embedding and head count as a layer each where that makes chunks equal.
        balance_by_cost: Stages are cut by what layers and head cost.
        fp4: Products run in four bits.
        block_scaled: 8-bit values are scaled in blocks.
        scaled_products: Extra time of products that scale rows or blocks over those that scale
            a tensor.
        narrow_gathers: 8-bit products gather tensor-parallel inputs that are cast already.
        eager_experts: The experts' activation is a chain of small kernels.
        plain_exchange: Each copy of a token travels to its expert by itself, and nothing hides it.
        old_experts: Routed work still waits for the host.
        power_scale: Rate of a part over that of its kin: less where it may draw less power.
    """

    flash: float = 1.0
    attention_flop_per_s: float = 190e12
    dropout: float = 0.0
    eager: float = 0.0
    host_layer_s: float = 0.0
    stage_wait_s: float = 0.0
    across_wait_s: float = 0.0
    loss_bytes: float = 14.0
    scattered_sends: float = 1.0
    overlap_dp: float = 1.0
    overlap_tp: float = 0.0
    overlap_tp_backward: float = 0.0
    overlap_sends: float = 0.0
    overlap_ep: float = 1.0
    sent_gradient_bytes: float = 4.0
    gradient_all_reduce: float = 0.0
    fused_accumulation: float = 1.0
    bucket_bytes: float = 1e15
    early_stop: float = 0.0
    recompute_per_op: float = 0.0
    recompute_latent: float = 0.0
    recompute_mlp: float = 0.0
    edges_count: float = 1.0
    balance_by_cost: float = 0.0
    fp4: float = 0.0
    block_scaled: float = 0.0
    scaled_products: float = 0.0
    narrow_gathers: float = 0.0
    eager_experts: float = 0.0
    plain_exchange: float = 0.0
    old_experts: float = 0.0
    power_scale: float = 1.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = check_number(entry.name, getattr(self, entry.name), above=-1e-300)
            object.__setattr__(self, entry.name, value)
        for name in ("attention_flop_per_s", "sent_gradient_bytes", "bucket_bytes", "power_scale"):
            check_number(name, getattr(self, name))


TIME_FACTS = tuple(entry.name for entry in fields(TimeFacts))
