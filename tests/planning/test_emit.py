"""What is emitted trains that model, and reads back as the same record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from drawn_shapes import shapes
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import PRECISIONS, Batch, Layout, check_layout
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import model, model_names
from steptime.planning.emit import FORMATS, emitted
from steptime.planning.emit.length import with_steps
from steptime.planning.emit.torchtitan import flavor_of
from steptime.readers import completed, read_configuration

SUFFIX = {"torchtitan": ".toml", "megatron-bridge": ".yaml", "nemo": ".yaml", "nanotron": ".yaml"}
FUNCTIONS = {
    "megatron": ("quick-gelu", "relu2"),
    "nemo": ("gelu", "relu", "relu2"),
    "nanotron": ("gelu", "relu"),
    "deepspeed": ("gelu", "relu"),
}
"""Unusual functions that a framework has words for; any where it is not here."""
ONE_COPY = ("nemo", "nanotron", "deepspeed")
FLAVORS = tuple(name for name in model_names() if flavor_of(model(name)))
Q = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    tp = draw(st.sampled_from((1, 2, 4)))
    pp = draw(st.sampled_from((1, 1, 2, 4)))
    vpp = draw(st.sampled_from((1, 2))) if pp > 1 else 1
    dp = draw(st.sampled_from((1, 2, 8, 12)))
    return Layout(
        tp=tp,
        cp=draw(st.sampled_from((1, 1, 2))),
        pp=pp,
        vpp=vpp,
        dp=dp,
        dp_replicate=draw(st.sampled_from([1, *(n for n in (2, 4, 6) if dp % n == 0)])),
        ep=draw(st.sampled_from((1, 1, 2, 4))),
        etp=draw(st.sampled_from((1, tp))),
        sequence_parallel=tp > 1 and draw(st.booleans()),
        zero_stage=draw(st.integers(0, 3)),
        recompute=draw(st.sampled_from(("none", "selective", "full"))),
        precision=draw(st.sampled_from(PRECISIONS)),
        schedule="interleaved-1f1b"
        if vpp > 1
        else draw(st.sampled_from(("1f1b", "1f1b", "gpipe"))),
    )


def suited(kind: str, layout: Layout, shape: ModelShape) -> tuple[Layout, ModelShape]:
    """Return what was drawn as far as the framework has keys for it."""
    if shape.experts is None:
        layout = replace(layout, ep=1, etp=1)
    if layout.pp == 1:
        layout = replace(layout, schedule="1f1b")
    if kind in ONE_COPY:
        layout = replace(layout, dp_replicate=1)
    if kind in ("megatron", "megatron-bridge", "nemo") and layout.schedule == "gpipe":
        layout = replace(layout, schedule="1f1b")
    llama = replace(
        shape,
        gated=True,
        learned_positions=0,
        latent_attention=None,
        linear_bias=False,
        norm="rmsnorm",
    )
    usual = {"activation_clamp": 0.0, "glu_offset": 0.0, "sinks": False}
    if kind in ("nemo", "nanotron", "deepspeed"):
        shape, llama = replace(shape, **usual), replace(llama, **usual)
    functions = FUNCTIONS.get(kind, (shape.activation,))
    shape, llama = (
        replace(one, activation=one.activation if one.activation in functions else "")
        for one in (shape, llama)
    )
    whole = "full" if layout.recompute == "selective" else layout.recompute
    if kind == "torchtitan":
        layout = replace(
            layout,
            sequence_parallel=layout.tp > 1,
            zero_stage=max(2, layout.zero_stage) if layout.zero_stage else 0,
            precision=layout.precision if layout.precision in ("fp8", "mxfp8") else "bf16",
        )
    elif kind == "nemo":
        layout = replace(
            layout,
            etp=layout.tp if shape.experts else 1,
            zero_stage=layout.zero_stage if layout.zero_stage != 2 else 3,
            precision="bf16" if layout.precision in ("mxfp8", "nvfp4") else layout.precision,
        )
        shape = replace(shape, latent_attention=None)
    elif kind == "nanotron":
        shape = replace(llama, experts=None, qk_norm=False, head_dim=0)
        shape = replace(shape, window_size=0, windowed_layers=0)
        shape = replace(shape, head_dim=2048 // shape.num_attention_heads)
        one = replace(layout, cp=1, vpp=1, ep=1, etp=1, precision="bf16", recompute=whole)
        schedule = "1f1b" if layout.vpp > 1 else layout.schedule
        layout = replace(one, zero_stage=min(1, layout.zero_stage), schedule=schedule)
    elif kind == "deepspeed":
        experts = shape.experts and replace(shape.experts, num_shared_experts=0, num_dense_layers=0)
        shape = replace(llama, experts=experts, qk_norm=shape.qk_norm or experts is not None)
        if experts or not (shape.qk_norm or shape.qkv_bias):
            # Such have a window in every layer or in none, save for Gemma 2.
            shape = replace(shape, windowed_layers=shape.num_layers if shape.window_size else 0)
        layout = Layout(
            dp=layout.dp,
            zero_stage=layout.zero_stage or 1,
            recompute=whole,
            precision="fp16" if layout.precision == "fp16" else "bf16",
        )
    if layout.zero_stage == 0:
        # Nothing is sharded, so there are no copies of it.
        layout = replace(layout, dp_replicate=1)
    return layout, shape


# --- invariant


@pytest.mark.parametrize("kind", FORMATS)
@Q
@given(data=st.data())
def test_what_is_emitted_reads_back_as_the_same_record(
    kind: str, data: st.DataObject, tmp_path: Path
) -> None:
    own = st.sampled_from(FLAVORS).map(model) if kind == "torchtitan" else shapes()
    shape, layout = data.draw(own), data.draw(layouts())
    micro = data.draw(st.sampled_from((1, 2)))
    steps = layout.pp * data.draw(st.integers(1, 4))
    layout, shape = suited(kind, layout, shape)
    batch = Batch(
        global_batch_size=micro * layout.dp * steps, seq_length=4096, micro_batch_size=micro
    )
    try:
        check_layout(shape, layout, batch)
        text = emitted(kind, shape, layout, batch)
    except ConfigError:
        assume(False)
    path = tmp_path / f"emitted{SUFFIX.get(kind, '.sh')}"
    path.write_text(text)
    counted = "1 GPU" if layout.num_devices == 1 else f"{layout.num_devices} GPUs"
    assert f": {counted} = tp {layout.tp} " in text
    reading = read_configuration(path)
    gpus = {} if kind in ("megatron", "nemo", "deepspeed") else {"num_gpus": layout.num_devices}
    found, total = completed(reading, gpus)
    # Without ranks to share with, nothing is shared whatever the stage.
    stage = found.zero_stage if layout.dp == 1 else layout.zero_stage
    assert found == replace(layout, zero_stage=stage)
    assert total == batch
    assert reading.model is not None
    traits = {"name": "", "source": "", "norm": shape.norm, "qkv_bias": shape.qkv_bias}
    # Neither time nor memory goes by it: a file states as many as its sequences have.
    traits["max_positions"] = shape.max_positions
    assert replace(reading.model, **traits) == replace(shape, **traits)
    assert not [note for note in reading.notes if note.startswith("not used")]


# --- published: every model that can be named


@pytest.mark.parametrize("name", ["llama3-8b", "qwen3-8b"])
@pytest.mark.parametrize("kind", FORMATS)
def test_a_named_model_is_emitted_with_its_traits(name: str, kind: str) -> None:
    batch = Batch(global_batch_size=64, seq_length=4096)
    layout = Layout(dp=8, zero_stage=3 if kind in ("torchtitan", "deepspeed") else 1)
    if (name, kind) == ("qwen3-8b", "nanotron"):
        with pytest.raises(ConfigError, match="normalized queries"):
            emitted(kind, model(name), layout, batch)
        return
    text = emitted(kind, model(name), layout, batch)
    said = ("--qk-layernorm", "qk_layernorm: true", '"qwen3"', 'name = "qwen3"')
    assert any(word in text for word in said) == (name == "qwen3-8b")


@pytest.mark.parametrize(
    ("kind", "stage", "lines"),
    [
        ("megatron", 1, ["--num-distributed-optimizer-instances 4"]),
        ("megatron", 3, ["--num-distributed-optimizer-instances 4"]),
        ("megatron-bridge", 1, ["  num_distributed_optimizer_instances: 4"]),
        (
            "torchtitan",
            3,
            ["data_parallel_replicate_degree = 4", "data_parallel_shard_degree = 2"],
        ),
    ],
)
def test_copies_of_what_is_sharded_are_written_out(kind: str, stage: int, lines: list[str]) -> None:
    layout, batch = (
        Layout(dp=8, zero_stage=stage, dp_replicate=4),
        Batch(global_batch_size=64, seq_length=4096),
    )
    text = emitted(kind, model("llama3-8b"), layout, batch)
    assert all(line in text for line in lines)
    whole = emitted(kind, model("llama3-8b"), replace(layout, dp_replicate=1), batch)
    assert not any(line in whole for line in lines)


# --- refusal

COPIES = Layout(dp=4, dp_replicate=2, zero_stage=1)


@pytest.mark.parametrize(
    ("kind", "layout", "message"),
    [
        (
            "megatron",
            Layout(pp=2, schedule="zb-h1"),
            "megatron does not run schedule=zb-h1",
        ),
        (
            "megatron",
            Layout(pp=4, vpp=2, schedule="interleaved-1f1b"),
            "does not run 2 micro-batches on pp=4",
        ),
        ("torchtitan", Layout(tp=2), "sequence_parallel=False beside tp=2 before 2026-03"),
        ("torchtitan", Layout(dp=2, zero_stage=1), "torchtitan has no ZeRO-1"),
        ("deepspeed", Layout(tp=2), "deepspeed runs tp=2 only with models written for it"),
        ("deepspeed", Layout(dp=2), "shares its states at stage 0 too"),
        ("nanotron", Layout(zero_stage=3), "nanotron shares no gradients or weights"),
        ("nemo", Layout(precision="nvfp4"), "NeMo 1 has no precision='nvfp4'"),
        ("nemo", COPIES, "NeMo 1 has no dp_replicate=2"),
        ("nanotron", COPIES, "nanotron does not run dp_replicate=2 beside zero_stage=1"),
        ("deepspeed", COPIES, "deepspeed runs dp_replicate=2 beside zero_stage=1 only with models"),
        ("torchtitan", Layout(dp=2, dp_replicate=2, zero_stage=3), "torchtitan shards nothing"),
    ],
)
def test_what_a_framework_cannot_run_is_refused(kind: str, layout: Layout, message: str) -> None:
    batch = Batch(global_batch_size=2, seq_length=4096)
    with pytest.raises(ConfigError, match=message):
        emitted(kind, model("llama3-8b"), layout, batch)


@pytest.mark.parametrize(
    ("layout", "name", "says"),
    [
        (Layout(dp=4, cp=2), "llama3-8b", "zero_stage=0 beside cp=2; it runs 2 at least"),
        (Layout(dp=4, cp=2, zero_stage=1), "llama3-8b", "zero_stage=1 beside cp=2"),
        (Layout(pp=4, schedule="interleaved-1f1b"), "llama3-8b", "two chunks a device"),
        (Layout(pp=4, vpp=3, schedule="looped-bfs"), "gpt-oss-120b", ""),
        (Layout(pp=8, vpp=4, schedule="looped-bfs"), "gpt-oss-120b", ""),
        (Layout(tp=2, sequence_parallel=True, zero_stage=3), "mixtral-8x7b", "--zero 0"),
        (Layout(tp=2, sequence_parallel=True, zero_stage=3), "llama3-8b", ""),
    ],
)
def test_torchtitan_is_handed_what_it_runs_as_it_stands(
    layout: Layout, name: str, says: str
) -> None:
    batch = Batch(global_batch_size=64, seq_length=4096)
    if not says:
        assert f"{layout.num_devices} GPUs" in emitted("torchtitan", model(name), layout, batch)
        return
    with pytest.raises(ConfigError, match=says):
        emitted("torchtitan", model(name), layout, batch)


def test_context_ranks_of_torchtitan_share_weights_without_shards(tmp_path: Path) -> None:
    layout = Layout(dp=2, dp_replicate=2, cp=2, zero_stage=3)
    batch = Batch(global_batch_size=64, seq_length=4096)
    path = tmp_path / "train.toml"
    path.write_text(emitted("torchtitan", model("llama3-8b"), layout, batch))
    assert "data_parallel_shard_degree = 1" in path.read_text()
    assert completed(read_configuration(path), {"num_gpus": 4})[0] == layout


def test_what_megatron_needs_to_start_is_a_marked_placeholder() -> None:
    batch = Batch(global_batch_size=2, seq_length=4096)
    text = emitted("megatron", model("llama3-8b"), Layout(), batch)
    for flag in ("--train-iters", "--lr"):
        assert f"# {flag} is a placeholder" in text
        assert f"    {flag} " in text
    told = with_steps("megatron", text, 77)
    assert told.count("--train-iters") == 1
    assert "    --train-iters 77 \\\n" in told
    assert "# --lr is a placeholder" in told
