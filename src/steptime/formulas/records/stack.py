"""What the roofline model reads of the software and of the device's generation."""

from typing import Protocol

from steptime.formulas.number import Number


class Stack(Protocol):
    """Facts of the software that a layout does not state: shares, and switches of 1 or 0."""

    @property
    def flash(self) -> Number:
        """Attention never stores its scores."""

    @property
    def attention_flop_per_s(self) -> Number:
        """Published rate of the attention kernel."""

    @property
    def dropout(self) -> Number:
        """Dropout is on."""

    @property
    def eager(self) -> Number:
        """Share of element-wise operations that run unfused."""

    @property
    def host_layer_s(self) -> Number:
        """Least time of a layer and micro-batch: what the host takes to launch it."""

    @property
    def stage_wait_s(self) -> Number:
        """Added to it per tensor-parallel rank while stages on several servers send in turn."""

    @property
    def across_wait_s(self) -> Number:
        """Wait of a layer's tensor-parallel messages, per rank, where they leave the server."""

    @property
    def loss_bytes(self) -> Number:
        """Bytes moved per logit by the loss, both passes."""

    @property
    def scattered_sends(self) -> Number:
        """Each tensor-parallel rank sends its part of an activation only."""

    @property
    def overlap_dp(self) -> Number:
        """Gradients travel during the backward pass."""

    @property
    def overlap_tp(self) -> Number:
        """Share of tensor-parallel messages that overlap with products."""

    @property
    def overlap_tp_backward(self) -> Number:
        """Share of those of the backward pass that the weight's product hides."""

    @property
    def overlap_sends(self) -> Number:
        """Sends between stages overlap with computing."""

    @property
    def overlap_ep(self) -> Number:
        """Exchanges of tokens overlap with computing."""

    @property
    def gradient_bytes(self) -> Number:
        """Bytes of a gradient where they are added up."""

    @property
    def gradient_all_reduce(self) -> Number:
        """Sharded optimizers still add up whole gradients."""

    @property
    def fused_accumulation(self) -> Number:
        """Products add to the gradient themselves."""

    @property
    def bucket_bytes(self) -> Number:
        """Size of one gradient message."""

    @property
    def early_stop(self) -> Number:
        """Recomputation leaves out a layer's last product."""

    @property
    def recompute_per_op(self) -> Number:
        """Every other product is recomputed, with what lies between."""

    @property
    def recompute_latent(self) -> Number:
        """Latent attention's expansions are recomputed."""

    @property
    def recompute_mlp(self) -> Number:
        """A dense layer's activation is recomputed."""

    @property
    def edges_count(self) -> Number:
        """Embedding and head count as a layer where stages are cut."""

    @property
    def balance_by_cost(self) -> Number:
        """Stages are cut by what layers and head cost."""

    @property
    def fp4(self) -> Number:
        """Products run in four bits."""

    @property
    def block_scaled(self) -> Number:
        """8-bit values are scaled in blocks."""

    @property
    def scaled_products(self) -> Number:
        """Extra time of products that scale rows or blocks over those that scale a tensor."""

    @property
    def narrow_gathers(self) -> Number:
        """8-bit products gather tensor-parallel inputs that are cast already."""

    @property
    def eager_experts(self) -> Number:
        """The experts' activation is a chain of small kernels."""

    @property
    def plain_exchange(self) -> Number:
        """Each copy of a token travels to its expert by itself, and nothing hides it."""

    @property
    def old_experts(self) -> Number:
        """Routed work still waits for the host."""

    @property
    def hopper(self) -> Number:
        """The device is of this generation."""

    @property
    def blackwell(self) -> Number:
        """The device is of this generation."""

    @property
    def power_scale(self) -> Number:
        """Rate left to a part that may draw less power than usual."""
