import json
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


# published


def test_json_is_the_chapters_table(steptime: Call) -> None:
    status, out, _ = steptime("validate", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["model"] == "baseline"
    assert answer["constants"]["eta"] == pytest.approx(0.473, abs=0.0005)
    assert len(answer["rows"]) == 13
    assert answer["skipped"] == []
    assert answer["summary"]["rows"] == 12
    assert answer["summary"]["mean_abs_error_fraction"] == pytest.approx(0.108, abs=0.0005)
    assert answer["summary"]["max_abs_error_fraction"] == pytest.approx(0.186, abs=0.0005)
    parts = {
        "compute",
        "tensor_parallel",
        "context_parallel",
        "bubble",
        "pipeline_sends",
        "data_parallel",
    }
    assert parts <= set(answer["rows"][0]["breakdown_s"])


def test_the_table_shows_every_row(steptime: Call) -> None:
    status, out, _ = steptime("validate")
    assert status == 0
    assert out.count("nar21-t1-") == 10
    assert "fitted" in out
    assert "mean error 10.8 %" in out


def test_own_rows_are_scored_and_incomplete_ones_skipped(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "id,model,gpu,gpus,tp,pp,gbs,seq_len,recompute,step_time_s\n"
        "a,gpt3-175b,a100,64,8,8,64,2048,full,30\n"
        "b,gpt3-175b,a100,64,8,8,,2048,full,30\n"
        "c,gpt3-175b,a100,64,8,8,64,2048,full,\n"
    )
    status, out, _ = steptime("validate", str(path), "--json")
    answer = json.loads(out)
    assert status == 0
    assert [row["id"] for row in answer["rows"]] == ["a"]
    assert answer["rows"][0]["published_step_time_s"] == 30
    assert {row["id"]: row["reason"] for row in answer["skipped"]} == {
        "b": "gbs is not stated",
        "c": "no outcome is printed: step time, tokens/s, TFLOP/s or MFU",
    }


def test_results_as_a_file(steptime: Call, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    status, _, _ = steptime("validate", "--csv", str(out))
    lines = out.read_text().splitlines()
    assert status == 0
    assert len(lines) == 14
    assert lines[0].startswith("id,step_time_s")
    assert list(tmp_path.iterdir()) == [out]


# refusal


def test_a_file_that_cannot_be_written(steptime: Call, tmp_path: Path) -> None:
    status, _, err = steptime("validate", "--csv", str(tmp_path / "none" / "out.csv"))
    assert status == 2
    assert "No such file" in err


def test_a_bad_cell_is_named(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("id,model,gpu,gpus,tp\na,GPT,h100,8,x\n")
    status, out, err = steptime("validate", str(path))
    assert (status, out) == (2, "")
    assert "mine.csv: line 2: column 'tp': 'x'" in err


def test_an_unknown_model_is_refused(steptime: Call) -> None:
    status, _, err = steptime("validate", "--model", "baselin")
    assert status == 2
    assert "did you mean 'baseline'?" in err
