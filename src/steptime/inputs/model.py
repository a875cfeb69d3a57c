"""The shape of a decoder-only language model."""

from __future__ import annotations

from dataclasses import dataclass, field

from steptime.inputs.assumed import Assumed
from steptime.inputs.errors import ConfigError, check_choice, check_count
from steptime.inputs.fact import Fact
from steptime.inputs.kinds import check_kinds

NORMS = ("rmsnorm", "layernorm")
ACTIVATIONS = ("silu", "gelu", "relu", "relu2", "quick-gelu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """The mixture-of-experts part of a model.

    Attributes:
        num_experts: Routed experts in each mixture layer.
        top_k: Routed experts that each token uses.
        expert_ffn_hidden_size: Feed-forward width of one expert.
        num_shared_experts: Experts of the same width that every token uses.
        num_dense_layers: Leading layers that keep an ordinary feed-forward network.
        num_groups: Groups that the experts fall into, each meant for a server; 1 without groups.
        max_groups: Groups that a token may reach (node-limited routing); 0 for all.
    """

    num_experts: int
    top_k: int
    expert_ffn_hidden_size: int
    num_shared_experts: int = 0
    num_dense_layers: int = 0
    num_groups: int = 1
    max_groups: int = 0

    def __post_init__(self) -> None:
        check_kinds(self)
        check_count("num_experts", self.num_experts)
        check_count("top_k", self.top_k)
        check_count("expert_ffn_hidden_size", self.expert_ffn_hidden_size)
        check_count("num_shared_experts", self.num_shared_experts, least=0)
        check_count("num_dense_layers", self.num_dense_layers, least=0)
        check_count("num_groups", self.num_groups)
        check_count("max_groups", self.max_groups, least=0)
        if self.top_k > self.num_experts:
            raise ConfigError(f"top_k={self.top_k} must be <= num_experts={self.num_experts}")
        if self.max_groups > self.num_groups:
            raise ConfigError(
                f"max_groups={self.max_groups} must be <= num_groups={self.num_groups}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention, as in DeepSeek-V2 and V3.

    Attributes:
        q_lora_rank: Width of the compressed query; 0 where it is not compressed.
        kv_lora_rank: Width of the compressed key and value.
        qk_nope_head_dim: Width of a query or key head without position.
        qk_rope_head_dim: Width of the part that carries position.
        v_head_dim: Width of a value head.
    """

    q_lora_rank: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int

    def __post_init__(self) -> None:
        check_kinds(self)
        check_count("q_lora_rank", self.q_lora_rank, least=0)
        check_count("kv_lora_rank", self.kv_lora_rank)
        check_count("qk_nope_head_dim", self.qk_nope_head_dim)
        check_count("qk_rope_head_dim", self.qk_rope_head_dim)
        check_count("v_head_dim", self.v_head_dim)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A decoder-only transformer, by its sizes alone.

    Attributes:
        name: What to call it.
        num_layers: Transformer layers, l.
        hidden_size: Width of the residual stream, h.
        ffn_hidden_size: Width inside the dense feed-forward network, f.
        num_attention_heads: Query heads.
        num_query_groups: Key and value heads; equal to the query heads without grouping.
        head_dim: Width of one head; ``hidden_size / num_attention_heads`` if 0 is given. Latent
            attention has widths of its own, and ``v_head_dim`` here.
        vocab_size: Entries of the embedding, V.
        gated: Whether the feed-forward network has a gate (SwiGLU): three matrices, not two.
        tied: Whether the embedding also serves as the output matrix.
        learned_positions: Rows of a learned position table; 0 where there is none.
        window_size: Keys that a windowed layer attends to; 0 where no layer is windowed.
        windowed_layers: Layers with such a window.
        experts: The mixture-of-experts part, or None for a dense model.
        latent_attention: The latent-attention part, or None for ordinary attention.
        mtp_layers: Layers that predict further tokens, beside the others: not modelled.
        source: Key in ``references.bib`` and place in it.
        facts: What this model changes of the software that trains it.
        zero_stage: What data parallelism shards by its own report; None where it does not say.
        trained_with: The stack that its own report describes; empty where none does.
        norm: rmsnorm or layernorm; empty where nothing says.
        linear_bias: Whether every matrix has a bias.
        qkv_bias: Whether queries, keys and values have a bias.
        qk_norm: Whether queries and keys are normalized.
        activation_clamp: Bound on what enters the gated activation; 0 where there is none.
        activation: One of `ACTIVATIONS`; empty for the usual: silu with a gate, gelu without.
        glu_offset: What is added to the part that the gate multiplies.
        sinks: Whether each head has a learned sink, which takes a share of the softmax.
        max_positions: Tokens of the longest sequence that it is stated for; 0 where nothing says.
        remarks: How the file that it was read from was taken: what is not counted, or assumed.
    """

    name: str
    num_layers: int
    hidden_size: int
    ffn_hidden_size: int
    num_attention_heads: int
    num_query_groups: int
    vocab_size: int
    head_dim: int = 0
    gated: bool = False
    tied: bool = True
    learned_positions: int = 0
    window_size: int = 0
    windowed_layers: int = 0
    experts: Experts | None = None
    latent_attention: LatentAttention | None = None
    mtp_layers: int = 0
    source: str = ""
    facts: tuple[Fact, ...] = ()
    zero_stage: int | None = None
    trained_with: str = ""
    norm: str = ""
    linear_bias: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    activation_clamp: float = 0.0
    activation: str = ""
    glu_offset: float = 0.0
    sinks: bool = False
    max_positions: int = 0
    remarks: tuple[Assumed, ...] = field(default=(), compare=False, repr=False)

    def _set_head_dim(self) -> None:
        if self.latent_attention is not None:
            # Configurations leave the width out, or mean the part with positions by it.
            object.__setattr__(self, "head_dim", self.latent_attention.v_head_dim)
        if self.head_dim == 0:
            if self.hidden_size % self.num_attention_heads:
                raise ConfigError(
                    f"hidden_size={self.hidden_size} does not divide into "
                    f"num_attention_heads={self.num_attention_heads}; give head_dim"
                )
            object.__setattr__(self, "head_dim", self.hidden_size // self.num_attention_heads)

    def __post_init__(self) -> None:
        check_kinds(self)
        check_choice("norm", self.norm, ("", *NORMS))
        check_choice("activation", self.activation, ("", *ACTIVATIONS))
        for name in (
            "num_layers",
            "hidden_size",
            "ffn_hidden_size",
            "num_attention_heads",
            "num_query_groups",
            "vocab_size",
        ):
            check_count(name, getattr(self, name), most=10**8)
        counts = ("learned_positions", "window_size", "windowed_layers", "mtp_layers")
        for name in (*counts, "max_positions"):
            check_count(name, getattr(self, name), least=0, most=10**8)
        self._set_head_dim()
        check_count("head_dim", self.head_dim, most=10**6)
        if self.num_attention_heads % self.num_query_groups:
            raise ConfigError(
                f"num_attention_heads={self.num_attention_heads} must be a multiple of "
                f"num_query_groups={self.num_query_groups}"
            )
        if self.zero_stage is not None:
            check_count("zero_stage", self.zero_stage, least=0, most=3)
        if self.windowed_layers > self.num_layers:
            raise ConfigError(
                f"windowed_layers={self.windowed_layers} must be <= num_layers={self.num_layers}"
            )
        if self.experts and self.experts.num_dense_layers > self.num_layers:
            raise ConfigError(
                f"num_dense_layers={self.experts.num_dense_layers} must be <= "
                f"num_layers={self.num_layers}"
            )
