"""What is emitted takes the time that was predicted: the overlap that it assumed is written out."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.answer.answer import answer
from steptime.answer.question import Question
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.training_step import TrainingStep
from steptime.planning.emit import emitted
from steptime.planning.explain import step_of
from steptime.readers import read_configuration

SUFFIX = {"megatron-bridge": ".yaml", "nemo": ".yaml", "nanotron": ".yaml"}
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
