"""The changes that `predict` offers: each is another answer, faster, and it fits."""

from __future__ import annotations

import re
from typing import Any

import pytest

from steptime.answer import Question, predict
from steptime.cli.main import run
from steptime.inputs.face import FITS_WITH
from steptime.inputs.training_step import training_step
from steptime.planning.faster import LEAST_GAIN, SHOWN, faster
from steptime.planning.search import search

STEPS: list[dict[str, Any]] = [
    {"model": "llama3-70b", "accelerator": "h100", "tp": 8, "pp": 4, "dp": 16},
    {
        **{"model": "qwen3-30b-a3b", "accelerator": "h100", "ep": 8, "dp": 32},
        **{"recompute": "full", "stack": "megatron-core"},
    },
    {"model": "gpt3-175b", "accelerator": "a100", "tp": 8, "pp": 8, "dp": 8, "cp": 2},
]


@pytest.mark.parametrize("sizes", STEPS, ids=lambda sizes: sizes["model"])
def test_each_change_is_faster_fits_and_takes_as_many_devices(sizes: dict[str, Any]) -> None:
    asked = {"seq_length": 4096, "global_batch_size": 512, **sizes}
    found = predict(**asked)
    helps = faster(found, Question(step=training_step(**asked)))
    assert 0 < len(helps) <= SHOWN
    gains = [one.gain_fraction for one in helps]
    assert gains == sorted(gains, reverse=True)
    own = found.fit_probability
    assert own is not None
    for one in helps:
        assert one.found.fits
        assert (one.found.fit_probability or 0.0) >= min(FITS_WITH, own)
        assert one.found.step.layout.num_devices == found.step.layout.num_devices
        assert one.gain_fraction >= LEAST_GAIN
        assert one.found.step_time_s == pytest.approx(found.step_time_s * (1 - one.gain_fraction))


def test_the_words_of_a_change_give_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["-m", "llama3-70b", "-a", "h100", "--tp", "8", "--pp", "4", "--gpus", "512"]
    line += ["-s", "8k", "-B", "1k"]
    assert run(["predict", *line]) == 0
    told = re.findall(r"to be faster: (.+): ([\d.]+) s \(", capsys.readouterr().out)
    assert told
    for change, seconds in told:
        words = [word for word in line if not (word == "512" or word == "--gpus")]
        words += ["--dp", "16", *change.split()]
        assert run(["predict", *words]) == 0
        assert f": {seconds} s a step" in capsys.readouterr().out, change


def test_the_best_of_a_search_has_no_change_that_the_search_had_tried() -> None:
    question = Question(step=training_step(**STEPS[0], seq_length=4096, global_batch_size=512))
    from steptime.planning.asked import search_question

    asked = search_question(
        model="llama3-70b", accelerator="h100", num_gpus=512, seq_length=4096, global_batch_size=512
    )
    best = search(asked).best[0]
    found = predict(
        **STEPS[0] | {name: getattr(best.layout, name) for name in ("tp", "cp", "pp", "vpp", "dp")},
        seq_length=4096,
        global_batch_size=512,
        micro_batch_size=best.batch.micro_batch_size,
        zero_stage=best.layout.zero_stage,
        recompute=best.layout.recompute,
        sequence_parallel=best.layout.sequence_parallel,
        schedule=best.layout.schedule,
    )
    assert found.step_time_s == best.step_time_s
    tried = faster(found, question)
    assert [one.change for one in tried if "--schedule zb" not in one.change] == []


def test_what_does_not_fit_is_told_what_would(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["-m", "llama3-70b", "-a", "h100", "--tp", "8", "--pp", "4", "--gpus", "512"]
    assert run(["predict", *line, "-s", "32k", "-B", "256"]) == 0
    out = capsys.readouterr().out
    assert "to fit: --recompute full" in out
    assert "to be faster" not in out


def test_a_stated_cut_of_layers_that_costs_time_is_named_first() -> None:
    asked = {**STEPS[0], "seq_length": 8192, "global_batch_size": 1024}
    own, plain = predict(**asked, first_stage_layers=5), predict(**asked)
    best = faster(own, own.question)[0]
    assert best.change == "--first-stage-layers 0"
    assert best.found.step_time_s == plain.step_time_s
    assert not [one for one in faster(plain, plain.question) if "stage-layers" in one.change]
