"""The search of the page under Node against `steptime search`: the same, to the last bit."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steptime.book.node import node_path
from steptime.book.search_page import modules
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.presets import model
from steptime.inputs.said import Said
from steptime.inputs.stack import stacks
from steptime.inputs.training_step import device_named
from steptime.planning.question import FITS_WITH, Question
from steptime.planning.result import Candidate, answered
from steptime.planning.search import search

RUNNER = Path(__file__).with_name("search_runner.mjs")


EXACT = [name for name in stacks() if Said(stack=name).exact]


def asked(
    name: str,
    gpu: str,
    n: int,
    batch: int,
    seq: int,
    precision: str = "bf16",
    fits: float = FITS_WITH,
    **how: Any,
) -> Any:
    return {
        **{"model": name, "gpu": gpu, "n": n},
        **{"batch": batch, "seq": seq, "precision": precision, "fits": f"{fits:g}"},
        **{"stack": "", "date": "", "net": 0},
        **how,
    }


ASKED = [
    asked("llama3-405b", "h100", 16384, 2048, 8192),
    asked("gpt3-175b", "a100-80gb", 1536, 1536, 2048),
    asked("mixtral-8x7b", "h100", 96, 384, 4096, fits=0.0),
    asked("llama3-8b", "a100-40gb", 16, 64, 4096, fits=0.5),
    # None is as sure as asked: the fastest of the most likely stands alone.
    asked("llama3-70b", "h100", 24, 64, 8192),
    asked("deepseek-v3", "h800", 2048, 15360, 4096, "fp8"),
    asked("gpt-oss-120b", "gb200", 144, 288, 8192),
    # Nobody measured it: the baseline answers.
    asked("llama3-8b", "mi300x", 48, 96, 8192),
    # Nothing fits.
    asked("gpt3-175b", "a100-80gb", 8, 64, 2048),
    # What named software runs, and what it is known to do; its month; the network.
    asked("llama3-70b", "h100", 128, 512, 8192, stack="megatron", net=100),
    asked("llama3-70b", "h100", 128, 512, 8192, stack="torchtitan", date="2024-10"),
    asked("llama3-8b", "a100-80gb", 64, 256, 4096, stack="nanotron"),
    asked("llama3-8b", "a100-80gb", 64, 256, 4096, stack="gpt-neox", net=200),
    asked("mixtral-8x7b", "h100", 64, 256, 4096, stack="deepspeed"),
    asked("mixtral-8x7b", "h100", 64, 256, 4096, stack="maxtext"),
    asked("llama3-8b", "h100", 64, 256, 8192, date="2023-06"),
    *(
        asked("llama3-8b", "h100", 48, 96, 8192, stack=name)
        for name in (*EXACT[::5], "llm-foundry", "fsdp", "megatron-deepspeed")
    ),
    asked("llama3-70b", "h100", 64, 64, 8192, stack="megatron", date="2021-06"),
    # A batch that no rank divides, and odd counts.
    asked("llama3-70b", "b200", 720, 1000, 6000),
    asked("llama3-8b", "a100-80gb", 64, 256, 4096, "fp8"),
    asked("llama3-8b", "h100", 64, 256, 4096, stack="torchtitan-2025", date="2019-01"),
]


def question(one: dict[str, Any]) -> Question:
    return Question(
        model=model(one["model"]),
        accelerator=device_named(one["gpu"], None, one["net"] or None),
        said=Said(stack=one["stack"] or None, date=one["date"] or None),
        num_devices=one["n"],
        global_batch_size=one["batch"],
        seq_length=one["seq"],
        precision=one["precision"],
        fits_with=float(one["fits"]),
    )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what the page's modules find for each question under Node."""
    folder: Path = tmp_path_factory.mktemp("search")
    for name, text in modules().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "questions.json").write_text(json.dumps(ASKED), encoding="utf-8")
    shutil.copyfile(RUNNER, folder / "run.js")
    subprocess.run([node_path(), "run.js"], cwd=folder, check=True, timeout=120)
    found: list[dict[str, Any]] = json.loads((folder / "answers.json").read_text("utf-8"))
    return found


def bits(value: float | None) -> str | None:
    return None if value is None else struct.pack(">d", float(value)).hex()


def coded(asked: Question, one: Candidate) -> dict[str, Any]:
    """Return a candidate as the runner writes it."""
    cut = one.layout
    return {
        "layout": [
            *(cut.tp, cut.cp, cut.pp, cut.dp, cut.dp_replicate, cut.ep, cut.etp, cut.vpp),
            *(SCHEDULES.index(cut.schedule), one.batch.micro_batch_size),
            *(asked.recompute.index(cut.recompute), asked.zero_stages.index(cut.zero_stage)),
            asked.sequence_parallel.index(cut.sequence_parallel),
        ],
        "seconds": bits(one.step_time_s),
        "bytes": bits(one.memory_bytes),
        "chance": bits(one.fit_probability),
    }


# --- invariant
@pytest.mark.parametrize("place", range(len(ASKED)))
def test_page_and_command_find_the_same(place: int, answers: list[dict[str, Any]]) -> None:
    found = answers[place]
    if "refused" in found:
        with pytest.raises(ConfigError, match=re.escape(found["refused"])):
            question(ASKED[place])
        return
    every = question(ASKED[place])
    result = search(every, splits=False)
    assert found["model"] == every.predictor
    assert found["counts"]["evaluated"] == result.num_evaluated
    assert found["counts"]["fitting"] == result.num_fitting
    assert found["counts"]["rows"] == found["counts"]["all"] > 0
    assert dict(found["dropped"]) == result.dropped
    assert found["best"] == [coded(every, one) for one in result.best]
    assert found["front"] == [coded(every, one) for one in result.front]
    if one_stands_alone := bool(result.best) and not result.num_fitting:
        assert found["best"][0] in found["front"]
        assert len(found["best"]) == 1
    assert (result.caution is not None) == one_stands_alone
    if not result.best:
        assert result.leanest is not None
        assert found["leanest"] == coded(every, result.leanest)
        return
    assert found["ties"] == result.num_ties
    whole = answered(every, result.best[0])
    low, high = whole.step_time_low_s, whole.step_time_high_s
    assert found["interval"] == (None if low is None else [bits(low), bits(high)])


def test_one_question_has_no_layout_as_sure_as_asked(answers: list[dict[str, Any]]) -> None:
    alone = [one for one in answers if one.get("best") and not one["counts"]["fitting"]]
    assert len(alone) == 1


def test_two_questions_are_refused(answers: list[dict[str, Any]]) -> None:
    last = len(ASKED) - 1
    assert [place for place, one in enumerate(answers) if "refused" in one] == [last - 1, last]
