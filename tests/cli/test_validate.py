import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


# published


def test_json_is_the_chapters_table(steptime: Call) -> None:
    status, out, _ = steptime("validate", "--predictor", "chapter", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["model"] == "chapter"
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
    status, out, _ = steptime("validate", "--predictor", "chapter")
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
    status, out, _ = steptime("validate", str(path), "--predictor", "chapter", "--json")
    answer = json.loads(out)
    assert status == 0
    assert [row["id"] for row in answer["rows"]] == ["a"]
    assert answer["rows"][0]["published_step_time_s"] == 30
    assert {row["id"]: row["reason"] for row in answer["skipped"]} == {
        "b": "gbs is not stated (the source does not say it)",
        "c": "no outcome is printed: step time, tokens/s, TFLOP/s or MFU "
        "(the source does not say it)",
    }


def test_results_as_a_file(steptime: Call, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    status, _, _ = steptime("validate", "--predictor", "chapter", "--csv", str(out))
    lines = out.read_text().splitlines()
    assert status == 0
    assert len(lines) == 14
    assert lines[0].startswith("id,step_time_s")
    assert list(tmp_path.iterdir()) == [out]


# invariant


SWEEPS = Path(__file__).parents[2] / "data" / "sweeps"


@pytest.mark.parametrize(("name", "rows"), [("narayanan2021_figures_digitised.csv", 47)])
def test_a_published_sweep_is_scored_in_its_own_columns(
    steptime: Call, name: str, rows: int
) -> None:
    status, out, _ = steptime("validate", str(SWEEPS / name), "--predictor", "roofline", "--json")
    answer = json.loads(out)
    assert status == 0
    assert (len(answer["rows"]), answer["skipped"]) == (rows, [])
    assert [one["source"] for one in answer["by_source"]] == ["narayanan2021"]
    assert answer["by_source"][0]["rows"] == answer["summary"]["rows"] == rows
    inside = sum(
        one["step_time_low_s"] <= one["published_step_time_s"] <= one["step_time_high_s"]
        for one in answer["rows"]
    )
    assert answer["summary"]["covered_fraction"] == pytest.approx(inside / rows)


def test_the_table_names_sources_and_what_lies_inside(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    head = "id,source,model,gpu,gpus,tp,pp,vpp,gbs,seq_len,mbs,recompute,step_time_s\n"
    rows = [f"r{n},s{n},gpt3-175b,a100,64,8,8,1,64,2048,1,full,{25 * n}\n" for n in (1, 2)]
    path.write_text(head + "".join(rows))
    status, out, _ = steptime("validate", str(path), "--predictor", "roofline")
    assert status == 0
    assert "error by source" in out
    assert re.search(r"within their 90 % interval: \d+ % of 2 rows;", out)


# refusal


def test_a_file_that_cannot_be_written(steptime: Call, tmp_path: Path) -> None:
    status, _, err = steptime("validate", "--csv", str(tmp_path / "none" / "out.csv"))
    assert status == 2
    assert "No such file" in err


def test_a_bad_cell_costs_its_row_alone(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "id,model,gpu,gpus,tp,pp,gbs,seq_len,mbs,recompute,step_time_s\n"
        "a,gpt3-175b,a100,64,x,8,64,2048,1,full,30\n"
        "b,gpt3-175b,a100,64,8,8,64,2048,1,full,30\n"
    )
    status, out, _ = steptime("validate", str(path), "--predictor", "chapter", "--json")
    answer = json.loads(out)
    assert status == 0
    assert [row["id"] for row in answer["rows"]] == ["b"]
    (skipped,) = answer["skipped"]
    assert skipped["id"] == "a"
    assert "line 2: column 'tp': 'x'" in skipped["reason"]


def test_a_file_that_is_no_table_of_runs(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("hello\nworld\n")
    status, out, err = steptime("validate", str(path), "--predictor", "roofline")
    assert (status, out) == (2, "")
    assert "no table of runs" in err


def test_an_unknown_model_is_refused(steptime: Call) -> None:
    for option in ("--predictor", "--model"):
        status, _, err = steptime("validate", option, "baselin")
        assert status == 2
        assert "did you mean 'baseline'?" in err
