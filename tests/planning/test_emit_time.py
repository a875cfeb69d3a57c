"""What is emitted takes the time that was predicted: the overlap that it assumed is written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from steptime.answer.answer import answer
from steptime.answer.question import Question
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.training_step import TrainingStep
from steptime.planning.emit import emitted
from steptime.planning.emit.words import said_by
from steptime.planning.explain import step_of
from steptime.readers import read_configuration

SUFFIX = {
    "megatron-bridge": ".yaml",
    "nemo": ".yaml",
    "nanotron": ".yaml",
    "torchtitan": ".toml",
}
LAYOUTS = {
    "tensor": Layout(tp=2, dp=4, sequence_parallel=True, zero_stage=1, recompute="full"),
    "data": Layout(dp=8, zero_stage=1),
    "stages": Layout(
        pp=2, vpp=2, dp=4, zero_stage=1, schedule="interleaved-1f1b", recompute="full"
    ),
}


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("kind", ["megatron", "megatron-bridge", "nemo"])
def test_an_emitted_file_takes_the_time_that_was_predicted(
    kind: str, layout: str, tmp_path: Path
) -> None:
    shape, device = model("llama3-8b"), accelerator("h100")
    own, batch = LAYOUTS[layout], Batch(global_batch_size=64, seq_length=4096)
    path = tmp_path / f"emitted{SUFFIX.get(kind, '.sh')}"
    path.write_text(emitted(kind, shape, own, batch))
    reading = read_configuration(path)
    gpus = {"num_gpus": own.num_devices} if reading.value("num_gpus") is None else {}
    step = step_of(reading, device, gpus, Said())
    asked = TrainingStep(
        model=shape,
        accelerator=device,
        layout=own,
        batch=batch,
        said=Said(stack=step.said.stack),
        assumed=(),
    )
    found, wanted = answer(Question(step=step)), answer(Question(step=asked))
    assert found.step_time_s == pytest.approx(wanted.step_time_s, rel=1e-12)
    assert found.total_bytes == pytest.approx(wanted.total_bytes, rel=1e-12)


# What may be said of the software, and of which kind a layout must be for it to count.
WORDS = {
    "overlap_dp": (0.0, 1.0),
    "overlap_tp": (0.0, 1.0),
    "overlap_sends": (0.0, 1.0),
    "fused_accumulation": (0.0, 1.0),
    "sent_gradient_bytes": (2.0, 4.0),
    "plain_exchange": (0.0, 1.0),
    "loss_bytes": (14.0, 40.0, 52.0),
    "eager": (0.0, 1.0),
    "kernel": ("flash-2", "cudnn", "stored"),
    "cp_comm_type": ("p2p", "all_gather", "a2a", "a2a+p2p", "allgather", "alltoall"),
}
# A switch that stands for two facts says both.
TWINS = {"overlap_dp": "overlap_plain_dp", "sent_gradient_bytes": "gradient_bytes"}
# What a command line says by leaving a switch out: megatron/training/arguments.py.
LEFT_OUT = {
    "overlap_sends": 1.0,
    "fused_accumulation": 1.0,
    "sent_gradient_bytes": 4.0,
    "gradient_bytes": 4.0,
}
OWN_KINDS = {"torchtitan": ("allgather", "alltoall")}
FEW = {"torchtitan": ("flash-2",), "deepspeed": ("flash-2", "cudnn", "stored")}


def wanted_facts(draw: st.DrawFn, kind: str) -> dict[str, float | str]:
    """Draw facts that a format has words for."""
    facts: dict[str, float | str] = {}
    for name in sorted(said_by(kind) & set(WORDS)):
        if not draw(st.booleans()):
            continue
        values = WORDS[name]
        if name == "cp_comm_type":
            values = OWN_KINDS.get(kind, values[:4])
        value = draw(st.sampled_from(values))
        facts[name] = value
        twin = TWINS.get(name)
        if twin in said_by(kind):
            facts[twin] = value
    if kind == "torchtitan":
        # Its words for the width of gradients and the kernel say one value each here.
        facts.pop("kernel", None)
    return facts


@pytest.mark.parametrize(
    "kind", ["megatron", "megatron-bridge", "nemo", "torchtitan", "deepspeed", "nanotron"]
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_what_is_said_of_the_software_is_written_and_read_back(
    kind: str, data: st.DataObject, tmp_path: Path
) -> None:
    moe = data.draw(st.booleans()) and kind not in ("nanotron", "deepspeed", "torchtitan")
    shape = model("qwen3-30b-a3b" if moe else "llama3-8b")
    alone = kind in ("deepspeed", "nanotron")
    cp = 1 if alone else data.draw(st.sampled_from((1, 2)))
    # Files ask for overlap of tensor-parallel messages only where there are such.
    tp = 1 if alone else 2
    layout = Layout(
        tp=tp,
        etp=tp if moe else 1,
        sequence_parallel=not alone,
        dp=4,
        cp=cp,
        dp_replicate=1
        if kind in ("nemo", "nanotron", "deepspeed")
        else data.draw(st.sampled_from((1, 2))),
        ep=4 if moe else 1,
        zero_stage=3 if kind == "torchtitan" else 1,
        recompute="full",
    )
    batch = Batch(global_batch_size=32, seq_length=4096)
    facts = data.draw(st.composite(wanted_facts)(kind))
    try:
        text = emitted(kind, shape, layout, batch, facts)
    except ConfigError:
        assume(False)
    assert "no key of it says" not in text
    path = tmp_path / f"emitted{SUFFIX.get(kind, '.sh')}"
    path.write_text(text)
    reading = read_configuration(path)
    found: dict[str, object] = dict(LEFT_OUT) if kind == "megatron" else {}
    found |= {one.name: one.value for one in reading.software_facts}
    idle = {"cp_comm_type"} if cp == 1 else set()
    assert {name: found.get(name) for name in facts if name not in idle} == {
        name: value for name, value in facts.items() if name not in idle
    }
    assert not [note for note in reading.notes if note.startswith("not used")]


def test_a_fact_without_a_key_is_told_in_the_file() -> None:
    batch = Batch(global_batch_size=32, seq_length=4096)
    text = emitted("nanotron", model("llama3-8b"), Layout(dp=8), batch, {"overlap_dp": 1.0})
    assert "# no key of it says: overlap_dp=1.0\n" in text
