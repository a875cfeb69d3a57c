"""What an answer is made of is made once, and only what is asked for."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import pytest

from steptime.answer import Prediction, peak, predict
from steptime.inputs import training_step as asked_step

ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "seq_length": 8192,
    "global_batch_size": 128,
    "tp": 2,
    "dp": 32,
}
LATE = ("fit_verdict", "interval_s", "outcome", "limits_of", "beyond", "job_memory")


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, *names: str) -> Counter[str]:
    """Count the calls of some functions that a module uses."""
    calls: Counter[str] = Counter()

    def counting(name: str, function: Any) -> Any:
        def called(*values: Any) -> Any:
            calls[name] += 1
            return function(*values)

        return called

    for name in names:
        monkeypatch.setattr(module, name, counting(name, getattr(module, name)))
    return calls


def looked_at(found: Prediction) -> tuple[Any, ...]:
    """Return all that an answer can be asked for."""
    rates = (found.mfu_fraction, found.tflops_per_gpu, found.tokens_per_s_per_gpu)
    ends = (found.step_time_low_s, found.step_time_high_s)
    return (
        found.fits,
        found.verdict,
        found.memory,
        found.assumed,
        found.fit_probability,
        *rates,
    ), ends


def test_nothing_is_worked_out_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    # By its name: `steptime.answer.answer` is the function.
    door = import_module("steptime.answer.answer")
    calls = counted(monkeypatch, door, *LATE, "memory_total_bytes")
    found = predict(**ASKED)
    assert calls == {"memory_total_bytes": 1}
    assert looked_at(found) == looked_at(found)
    assert calls == dict.fromkeys((*LATE, "memory_total_bytes"), 1)


def test_the_flat_record_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, asked_step, "job")
    found = predict(**ASKED)
    assert found.record is found.step.job()
    assert calls == {"job": 1}


def test_memory_says_once_whether_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = predict(**ASKED).memory
    calls = counted(monkeypatch, peak, "fit_verdict")
    assert (memory.fits, memory.tight, memory.fits) == (True, False, True)
    assert calls == {"fit_verdict": 1}
