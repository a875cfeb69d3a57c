"""A whole step and its memory from the printed equations alone, as a reader would work them out."""

from __future__ import annotations

from typing import Any

import pytest
from printed_step import Pages

import steptime
from steptime.formulas.baseline import baseline_step, step_s
from steptime.formulas.memory.shared import shared_terms
from steptime.formulas.memory.total import rank_memory_bytes
from steptime.formulas.roofline.step import roofline_step, roofline_step_s

USUAL: dict[str, Any] = {"accelerator": "h100", "seq_length": 8192, "micro_batch_size": 1}
ASKED: dict[str, dict[str, Any]] = {
    "llama3-70b, 64 H100": {"model": "llama3-70b", "tp": 8, "pp": 4, "dp": 2}
    | {"global_batch_size": 64},
    "ZeRO-3, all recomputed": {"model": "llama3-8b", "dp": 16, "global_batch_size": 64}
    | {"zero_stage": 3, "recompute": "full", "stack": "torchtitan", "date": "2025-03"},
    "a ring, zero-bubble, 8 bits": {"model": "llama3-70b", "tp": 4, "cp": 2, "pp": 4, "dp": 2}
    | {"global_batch_size": 32, "schedule": "zb-h1", "precision": "fp8"},
    "experts, interleaved": {"model": "mixtral-8x22b", "tp": 2, "pp": 4, "vpp": 2, "dp": 8}
    | {"ep": 8, "global_batch_size": 128, "schedule": "interleaved-1f1b"},
    "latent attention, from both ends": {"model": "deepseek-v3", "pp": 16, "dp": 8, "ep": 8}
    | {"global_batch_size": 512, "schedule": "dualpipe", "seq_length": 4096, "precision": "fp8"},
}
AS_CODE = {"entry_number", "idle_time"}
"""What the pages print as code: a schedule's numbers, and its forms by its name."""


def asked(name: str, **more: Any) -> tuple[steptime.Prediction, Pages]:
    """Return the package's answer, and the pages with the records of the same question."""
    answer = steptime.predict(**USUAL | ASKED[name] | more)
    job, software = answer.record, answer.software
    records = {"Job": job, "TimeFacts": software.time, "MemoryFacts": software.memory}
    records |= {"Constants": answer.known.constants, "BaselineConstants": answer.known.constants}
    return answer, Pages(records | {"SharedTerms": shared_terms(job, software.memory)})


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_the_roofline_step_is_the_package_s(name: str) -> None:
    answer, pages = asked(name)
    parts = pages.value(roofline_step, ())
    # Constants are printed with ten figures or so.
    for part, seconds in answer.breakdown_s.items():
        assert parts[part] == pytest.approx(seconds, rel=1e-9), part
    assert pages.value(roofline_step_s, (parts,)) == pytest.approx(answer.step_time_s, rel=1e-9)
    assert {one.__name__ for one in pages.as_code} <= AS_CODE
    assert len(pages.printed) > 100


def test_the_baseline_step_is_the_package_s() -> None:
    answer, pages = asked("llama3-70b, 64 H100", predictor="baseline")
    parts = pages.value(baseline_step, ())
    assert pages.value(step_s, (parts,)) == pytest.approx(answer.step_time_s, rel=1e-9)
    assert {one.__name__ for one in pages.as_code} <= AS_CODE


@pytest.mark.parametrize("name", ASKED)
def test_the_memory_of_the_fullest_rank_is_the_package_s(name: str) -> None:
    answer, pages = asked(name)
    full = answer.memory.fullest
    parts = pages.value(rank_memory_bytes, (float(full.rank),))
    assert parts["total"] == pytest.approx(answer.total_bytes, rel=1e-9)
    for part, size in full.parts_bytes.items():
        assert parts[part] == pytest.approx(size, rel=1e-9), part
    assert {one.__name__ for one in pages.as_code} <= AS_CODE | {"held_line"}
