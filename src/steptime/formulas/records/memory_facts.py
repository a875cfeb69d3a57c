"""What the memory model reads of the software."""

from typing import Protocol

from steptime.formulas.number import Number


class MemoryFacts(Protocol):
    """What a software stack keeps, and for how long: bytes per value, kernels, cuts, reserves."""

    @property
    def weight_bytes(self) -> Number:
        """Bytes of a weight that the model multiplies by."""

    @property
    def fp8_copy_bytes(self) -> Number:
        """Bytes of its 8-bit copies (rows and columns) in 8-bit training."""

    @property
    def fp8_input_bytes(self) -> Number:
        """Bytes of a stored input of a product in 8-bit training."""

    @property
    def fp8_output_bytes(self) -> Number:
        """Bytes of attention's output in it: 16 bits and an 8-bit copy."""

    @property
    def fp8_activation_bytes(self) -> Number:
        """Bytes of a stored input of an activation in 8-bit training."""

    @property
    def gradient_bytes(self) -> Number:
        """Bytes of the gradient that micro-batches add up in."""

    @property
    def exchange_bytes(self) -> Number:
        """Bytes of a flat copy that a data-parallel exchange sends from."""

    @property
    def extra_gradient_bytes(self) -> Number:
        """Bytes of a second copy beside it, such as 16-bit ``.grad``."""

    @property
    def master_bytes(self) -> Number:
        """Bytes of the 32-bit weight that the optimizer updates."""

    @property
    def moment_bytes(self) -> Number:
        """Bytes of the optimizer's moments: 8 for Adam."""

    @property
    def update_bytes(self) -> Number:
        """Bytes of the 32-bit gradients that the optimizer copies for its own shard."""

    @property
    def flash(self) -> Number:
        """1 if attention never stores its scores."""

    @property
    def dropout(self) -> Number:
        """1 if dropout is on."""

    @property
    def gated_values(self) -> Number:
        """Values kept per inner width of a gated network: 3 fused, 4 not."""

    @property
    def norm_input_bytes(self) -> Number:
        """Bytes per value of a norm's stored input."""

    @property
    def logit_bytes(self) -> Number:
        """Bytes per logit, with its 32-bit copies."""

    @property
    def expert_imbalance(self) -> Number:
        """Tokens of the busiest rank's experts over the mean."""

    @property
    def gathered_inputs(self) -> Number:
        """Share of the inputs gathered for sequence parallelism kept until the backward pass."""

    @property
    def whole_sequences(self) -> Number:
        """Whole sequences held for a moment where sequence parallelism is on."""

    @property
    def stage_outputs(self) -> Number:
        """1 if a stage keeps what it sent until the backward pass."""

    @property
    def sliced_checkpoints(self) -> Number:
        """1 if recomputation's inputs are saved in slices over tp."""

    @property
    def recompute_layers(self) -> Number:
        """Layers of a stage that full recomputation covers; 0 for all."""

    @property
    def recompute_norms(self) -> Number:
        """1 if a layer's two normed inputs are recomputed (layernorm)."""

    @property
    def recompute_up_projection(self) -> Number:
        """1 if latent attention's Q, K and V are (mla_up_proj)."""

    @property
    def recompute_mlp(self) -> Number:
        """1 if a dense feed-forward network is (mlp)."""

    @property
    def recompute_expert_activation(self) -> Number:
        """1 if an expert's product is (moe_act)."""

    @property
    def recompute_shared_experts(self) -> Number:
        """1 if shared experts are (shared_experts)."""

    @property
    def recompute_experts(self) -> Number:
        """1 if a mixture layer's whole feed-forward part is (moe)."""

    @property
    def offloaded_layers(self) -> Number:
        """Layers of a rank whose activations wait in the host's memory."""

    @property
    def recompute_group(self) -> Number:
        """Layers recomputed from one saved input."""

    @property
    def gathered_layers(self) -> Number:
        """Layers whose weights ZeRO-3 holds whole at once."""

    @property
    def embedding_slots(self) -> Number:
        """Layers that the embedding counts for where stages are cut."""

    @property
    def head_slots(self) -> Number:
        """The same for the output head."""

    @property
    def balance_by_cost(self) -> Number:
        """1 if the head counts for as many layers as it has parameters."""

    @property
    def first_stage_extra(self) -> Number:
        """Layers by which each cut comes later than an even one, before it is rounded down."""

    @property
    def reserve_bytes(self) -> Number:
        """Context of the device, communication library, and the like."""

    @property
    def fragmentation(self) -> Number:
        """Share that the allocator holds beyond activations and buffers."""
