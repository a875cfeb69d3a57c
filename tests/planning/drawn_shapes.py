"""Models of any kind that a framework may have keys for."""

from __future__ import annotations

from hypothesis import strategies as st

from steptime.inputs.model import Experts, LatentAttention, ModelShape

EXPERTS = st.builds(
    Experts,
    num_experts=st.sampled_from((8, 64)),
    top_k=st.sampled_from((1, 2, 6)),
    expert_ffn_hidden_size=st.sampled_from((256, 1408)),
    num_shared_experts=st.integers(0, 2),
    num_dense_layers=st.integers(0, 3),
)
LATENT = LatentAttention(
    q_lora_rank=0, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128
)


@st.composite
def shapes(draw: st.DrawFn) -> ModelShape:
    """Draw a model; its vocabulary divides over any tensor-parallel ranks, as real ones do."""
    layers = draw(st.sampled_from((8, 24, 32, 61)))
    gated = draw(st.booleans())
    window = draw(st.sampled_from((0, 128, 4096)))
    latent = draw(st.sampled_from((None, None, LATENT)))
    heads = draw(st.sampled_from((16, 32)))
    return ModelShape(
        name="drawn",
        num_layers=layers,
        hidden_size=2048,
        ffn_hidden_size=draw(st.sampled_from((5632, 8192))),
        num_attention_heads=heads,
        num_query_groups=heads if latent else draw(st.sampled_from((2, 8, heads))),
        head_dim=draw(st.sampled_from((2048 // heads, 128))),
        vocab_size=draw(st.sampled_from((32768, 128 * 1024, 151936 // 128 * 128))),
        gated=gated,
        tied=draw(st.booleans()),
        learned_positions=0 if gated else draw(st.sampled_from((0, 2048))),
        window_size=window,
        windowed_layers=draw(st.integers(1, layers)) if window else 0,
        experts=draw(st.none() | EXPERTS) if layers > 3 else None,
        latent_attention=latent,
        norm=draw(st.sampled_from(("rmsnorm", "layernorm"))),
        linear_bias=draw(st.booleans()),
        qkv_bias=False,
        qk_norm=draw(st.booleans()),
        activation=draw(
            st.sampled_from(("", "gelu", "relu", "quick-gelu") if gated else ("", "relu2"))
        ),
        activation_clamp=draw(st.sampled_from((0.0, 7.0))) if gated else 0.0,
        glu_offset=draw(st.sampled_from((0.0, 1.0))) if gated else 0.0,
        sinks=draw(st.booleans()),
    )
