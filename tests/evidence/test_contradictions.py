"""Rows whose outcomes contradict each other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.evidence.contradictions import contradictions
from steptime.evidence.schema import PublishedRow, published_rows

# 8 GPUs, 64 sequences of 4096 tokens in 8 s: 4096 tokens a second and GPU.
RUN = {"id": "mine", "model": "llama3-8b", "gpu": "h100", "gpus": 8, "tp": 1, "pp": 1}
RUN |= {"gbs": 64, "mbs": 1, "seq_len": 4096, "recompute": "none", "step_time_s": 8.0}


def told(**changed: object) -> str:
    found = contradictions([PublishedRow.model_validate(RUN | changed)])
    return found[0][1] if found else ""


# --- limit


@pytest.mark.parametrize("rate", [4096.0, 4096.0 * 1.04, 4096.0 / 1.04])
def test_tokens_that_agree_with_the_step_are_no_contradiction(rate: float) -> None:
    assert told(tokens_per_s_per_gpu=rate) == ""


def test_six_flop_a_parameter_and_token_explain_a_rate() -> None:
    # 8.03e9 parameters, 6 FLOP each and token, 4096 tokens a second.
    assert told(tflops_per_gpu=6 * 8.03e9 * 4096 / 1e12) == ""


def test_published_rows_contradict_themselves_where_windows_are_counted_alone() -> None:
    found = dict(contradictions(published_rows()))
    models = Counter(row.model for row in published_rows() if row.id in found)
    # And one run of Llama 2 is printed faster than its device's peak, one with a peak of memory
    # over its device's.
    assert models == {"GPT-OSS-120B": 14, "Llama-2-7B": 1, "Llama-2-70B": 1}
    assert "157.3 GB is more than a device has (h200: 150.8 GB)" in found["colossal-097"]
    assert "over the device's peak of 312" in found["mllama-059"]


# --- refusal


def test_what_no_way_of_counting_explains_is_named() -> None:
    assert "tokens_per_s_per_gpu 512, which amounts to 64 s a step" in told(
        tokens_per_s_per_gpu=512.0
    )
    assert told(tflops_per_gpu=900.0).startswith("step_time_s 8 contradicts tflops_per_gpu 900: ")
    assert "contradicts" in told(tflops_per_gpu=90.0)
    assert told(tflops_per_gpu=None) == ""
    assert told(gpu="unheard-of", tflops_per_gpu=900.0) == ""


def test_the_command_names_the_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.csv"
    row = RUN | {"tflops_per_gpu": 400}
    path.write_text(",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n")
    for model in ("baseline", "roofline"):
        assert run(["validate", str(path), "--model", model, "--json"]) == 0
        notes = json.loads(capsys.readouterr().out)["notes"]
        assert any(note.startswith("mine: step_time_s 8 contradicts") for note in notes)
