"""What users do with the roofline model: validate, fit, use the fit, measure a device."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from steptime.inputs.datafiles import data_path

Call = Callable[..., tuple[int, str, str]]
PREDICT = (
    *("predict", "-m", "gpt3-175b", "-a", "a100", "--tp", "8", "--pp", "8", "--dp", "2"),
    *("-s", "2048", "-B", "128", "--recompute", "full", "--stack", "megatron-2021", "--json"),
)


@pytest.fixture
def runs(tmp_path: Path) -> str:
    """Return a file with the ten rows of one source and an open one of another."""
    lines = data_path("published_runs.csv").read_text(encoding="utf-8").splitlines()
    chosen = [line for line in lines if line.startswith(("id,", "nar21-t1", "llama3-001"))]
    (tmp_path / "runs.csv").write_text("\n".join(chosen) + "\n", encoding="utf-8")
    return str(tmp_path / "runs.csv")


# ---- published


def test_rows_carry_intervals_and_open_rows_their_bounds(steptime: Call, runs: str) -> None:
    status, out, _ = steptime("validate", runs, "--predictor", "roofline", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["summary"]["rows"] == 10
    for row in answer["rows"]:
        assert row["step_time_low_s"] < row["step_time_s"] < row["step_time_high_s"]
    assert [one["id"] for one in answer["open"]] == ["llama3-001"]
    assert answer["open"][0]["inside"] is True
    assert answer["skipped"] == []


# ---- invariant


def test_a_fit_is_a_file_that_other_commands_take(
    steptime: Call, runs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    own = str(tmp_path / "own.toml")
    # A cluster a fifth slower than the published one, which alone would teach nothing.
    rows = list(csv.DictReader(Path(runs).read_text(encoding="utf-8").splitlines()))
    slower = [
        row | {"tflops_per_gpu": str(float(row["tflops_per_gpu"] or 0) / 1.2)} for row in rows
    ]
    with Path(runs).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"step_time_s": ""} for row in slower if row["id"] != "llama3-001")
    status, out, _ = steptime("validate", runs, "--predictor", "roofline", "--fit", own)
    assert status == 0
    assert "ampere_efficiency" in out
    before = json.loads(steptime(*PREDICT)[1])["step_time_s"]
    slow = Path(own).read_text(encoding="utf-8").split("[interval]")[0]
    Path(own).write_text(slow.replace("ampere_efficiency = 0.", "ampere_efficiency = 0.4"))
    status, out, _ = steptime("--constants", own, *PREDICT)
    assert status == 0
    assert json.loads(out)["step_time_s"] > 1.3 * before
    assert steptime(*PREDICT, "--constants", own)[1] == out
    assert json.loads(steptime(*PREDICT)[1])["step_time_s"] == before


def test_where_a_fit_buys_nothing_nothing_is_written(
    steptime: Call, runs: str, tmp_path: Path
) -> None:
    told = json.loads(steptime("validate", runs, "--json")[1])["rows"]
    rows = list(csv.DictReader(Path(runs).read_text(encoding="utf-8").splitlines()))
    asis = {one["id"]: one["step_time_s"] for one in told}
    made = [row | {"step_time_s": asis[row["id"]]} for row in rows if row["id"] in asis]
    path, own = tmp_path / "asis.csv", tmp_path / "own.toml"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(made[0]))
        writer.writeheader()
        writer.writerows(made)
    status, out, _ = steptime("validate", str(path), "--fit", str(own))
    assert status == 0
    assert "keep the published constants; nothing is written" in " ".join(out.split())
    assert not own.exists()
    fit = json.loads(steptime("validate", str(path), "--fit", str(own), "--json")[1])["fit"]
    assert (fit["worth_it"], fit["written"], fit["learned"]) == (False, None, [])
    assert not own.exists()


HEAD = "model,gpu,gpus,tp,pp,mbs,gbs,seq_len,recompute,precision,zero,software,step_time_s\n"


@pytest.mark.parametrize(
    ("device", "times"), [("h100", 0.3), ("h100", 15.0), ("tpu-v5p", 0.3), ("tpu-v5p", 15.0)]
)
def test_rows_that_are_kept_out_are_not_fitted_and_no_file_is_written(
    steptime: Call, tmp_path: Path, device: str, times: float
) -> None:
    path, own = tmp_path / "runs.csv", tmp_path / "own.toml"

    def asked(time_s: float) -> str:
        stack = "maxtext" if device == "tpu-v5p" else "megatron"
        cells = f"llama3-8b,{device},64,2,1,1,256,8192,none,bf16,1,{stack}"
        path.write_text(HEAD + 3 * f"{cells},{time_s}\n", encoding="utf-8")
        return str(path)

    (row, *_) = json.loads(steptime("validate", asked(5.0), "--json")[1])["rows"]
    status, out, err = steptime(
        "validate", asked(times * row["step_time_s"]), "--fit", str(own), "--json"
    )
    told = json.loads(out)
    assert status == 2
    assert "no row could be scored" in err
    assert len(told["kept_out"]) == 3
    assert (told["fit"]["rows"], told["fit"]["written"]) == (0, None)
    # Not with the constants that such rows would have taught.
    assert told["rows"][0]["step_time_s"] == row["step_time_s"]
    looks = {one["suspicion"] for one in told["doubts"]}
    assert looks == {"mis-described" if times > 1.0 else "mis-measured"}
    status, out, _ = steptime("validate", str(path), "--fit", str(own))
    assert "nothing is left to fit to; nothing is written" in " ".join(out.split())
    assert not own.exists()


def test_measure_writes_a_file_that_predict_takes(steptime: Call, tmp_path: Path) -> None:
    out = str(tmp_path / "cpu.toml")
    words = ("measure", "--backend", "numpy", "--seconds", "0.1", "--largest", "1024")
    status, printed, _ = steptime(*words, "--out", out)
    assert status == 0
    assert "product" in printed
    status, printed, _ = steptime(
        *("predict", "-m", "gpt3-175b", "-a", out, "-s", "2048", "-B", "1"),
        *("--predictor", "baseline", "--json"),
    )
    assert status == 0
    assert json.loads(printed)["accelerator"] == "my-gpu"


# ---- refusal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--constants", "none.toml", *PREDICT), "none.toml"),
        (
            ("validate", "--predictor", "chapter", "--fit", "x.toml"),
            "--fit belongs to --predictor roofline",
        ),
        (("measure", "--out", "x.toml", "--backend", "cuda"), "one of: numpy, torch"),
        (("measure", "--out", "x.toml", "--name", "a b"), "--name"),
        (("measure", "--out", "x.toml", "--seconds", "-1"), "--seconds"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    steptime: Call, words: tuple[str, ...], message: str
) -> None:
    status, _, err = steptime(*words)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
