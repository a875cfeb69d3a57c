"""What every formula reads of the training step itself."""

from typing import Protocol

from steptime.formulas.number import Number


class Job(Protocol):
    """A training step as numbers: switches are 1 or 0, counts are whole."""

    @property
    def num_layers(self) -> Number:
        """Layers of the model, L."""

    @property
    def hidden_size(self) -> Number:
        """Width of the residual stream, h."""

    @property
    def ffn_hidden_size(self) -> Number:
        """Inner width of a dense feed-forward network."""

    @property
    def num_attention_heads(self) -> Number:
        """Attention heads, a."""

    @property
    def num_query_groups(self) -> Number:
        """Heads of keys and values."""

    @property
    def head_dim(self) -> Number:
        """Width of one head."""

    @property
    def vocab_size(self) -> Number:
        """Tokens of the vocabulary, V."""

    @property
    def gated(self) -> Number:
        """1 if the feed-forward network has a gate, so three matrices instead of two."""

    @property
    def tied(self) -> Number:
        """1 if the embedding and the output head are one matrix."""

    @property
    def learned_positions(self) -> Number:
        """Learned position embeddings: how many rows, 0 without."""

    @property
    def window_size(self) -> Number:
        """Keys that a token sees in a layer with a sliding window."""

    @property
    def windowed_layers(self) -> Number:
        """Layers with a sliding window."""

    @property
    def num_experts(self) -> Number:
        """Experts of a mixture layer, 0 for a dense model."""

    @property
    def top_k(self) -> Number:
        """Experts that each token goes to."""

    @property
    def num_shared_experts(self) -> Number:
        """Experts of a mixture layer that every token goes to."""

    @property
    def expert_ffn_hidden_size(self) -> Number:
        """Inner width of one expert."""

    @property
    def num_dense_layers(self) -> Number:
        """Layers without experts: all of a dense model's."""

    @property
    def q_lora_rank(self) -> Number:
        """Width that queries are compressed to, 0 without latent attention."""

    @property
    def kv_lora_rank(self) -> Number:
        """Width that keys and values are compressed to, 0 without latent attention."""

    @property
    def qk_nope_head_dim(self) -> Number:
        """Width of a latent head's part without positions."""

    @property
    def qk_rope_head_dim(self) -> Number:
        """Width of a latent head's part with positions."""

    @property
    def v_head_dim(self) -> Number:
        """Width of a latent head's values."""

    @property
    def seq_length(self) -> Number:
        """Tokens of one sequence, s."""

    @property
    def micro_batch_size(self) -> Number:
        """Sequences of one micro-batch, b."""

    @property
    def global_batch_size(self) -> Number:
        """Sequences of one step, B."""

    @property
    def tp(self) -> Number:
        """Tensor-parallel size, t."""

    @property
    def cp(self) -> Number:
        """Context-parallel size, c."""

    @property
    def pp(self) -> Number:
        """Pipeline stages, p."""

    @property
    def vpp(self) -> Number:
        """Model chunks that a device holds, v."""

    @property
    def dp(self) -> Number:
        """Data-parallel size, d."""

    @property
    def ep(self) -> Number:
        """Expert-parallel size, e."""

    @property
    def etp(self) -> Number:
        """Tensor-parallel size within an expert."""

    @property
    def sequence_parallel(self) -> Number:
        """1 if norms and dropout are split over the tensor-parallel ranks."""

    @property
    def zero_stage(self) -> Number:
        """ZeRO stage, 0 to 3."""

    @property
    def recompute_full(self) -> Number:
        """1 if a layer's forward pass runs again in the backward pass."""

    @property
    def recompute_selective(self) -> Number:
        """1 if the attention core alone does."""

    @property
    def fp8(self) -> Number:
        """1 if products run in 8 bits and below."""

    @property
    def schedule(self) -> Number:
        """Place of the schedule's name in ``formulas.schedule.SCHEDULES``."""

    @property
    def peak_flop_per_s(self) -> Number:
        """16-bit peak of one device, by its data sheet."""

    @property
    def matmul_flop_per_s(self) -> Number:
        """Largest rate measured on 16-bit matrix products."""

    @property
    def hbm_bytes_per_s(self) -> Number:
        """Bandwidth of the device's memory."""

    @property
    def nvlink_bytes_per_s(self) -> Number:
        """Bandwidth of NVLink, one direction of one device."""

    @property
    def nvlink_domain(self) -> Number:
        """Devices that one NVLink domain joins."""

    @property
    def network_bytes_per_s(self) -> Number:
        """Bandwidth of the network, one direction of one device."""

    @property
    def num_sms(self) -> Number:
        """Streaming multiprocessors of the device."""
