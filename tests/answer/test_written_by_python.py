"""Files that Python writes where its caller says: as the commands do, and refused as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import steptime
from steptime.cli.main import run
from steptime.inputs.constants import published_constants, read_constants
from steptime.inputs.plain import recorded

ASKED: dict[str, Any] = {
    **{"model": "llama3-8b", "accelerator": "h100", "num_gpus": 16},
    **{"seq_length": 8192, "global_batch_size": 64},
}
WORDS = "search -m llama3-8b -a h100 -n 16 -s 8192 -B 64".split()
HEADS = "id,model,gpu,gpus,tp,pp,mbs,gbs,seq_len,recompute,zero,sp,vpp,precision,step_time_s"
CELLS = "{i},llama3-8b,h100,{gpus},{tp},1,1,{gbs},8192,none,1,y,1,bf16,{time:.4f}"
SIZES = ((16, 1, 64), (16, 2, 64), (32, 2, 128), (32, 4, 128), (64, 2, 128), (64, 4, 256))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of runs of a cluster on which all takes a fifth longer."""
    lines = [HEADS]
    for i, (gpus, tp, gbs) in enumerate(SIZES):
        step = {"num_gpus": gpus, "tp": tp, "global_batch_size": gbs, "zero_stage": 1}
        time_s = steptime.predict(**ASKED | step, recompute="none").step_time_s
        lines.append(CELLS.format(i=i, gpus=gpus, tp=tp, gbs=gbs, time=1.2 * time_s))
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


# Invariant: Python and the command write the same


def test_search_makes_the_file_that_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.sh"
    found = steptime.search(**ASKED, emit="megatron", emit_to=path, tokens=1e12)
    emission = found.emission
    assert emission is not None
    assert run([*WORDS, "--emit", "megatron", "--tokens", "1T"]) == 0
    told = capsys.readouterr()
    assert path.read_text(encoding="utf-8") == emission.text == told.out
    assert told.err.splitlines() == [f"note: {one}" for one in emission.notes]
    assert emission.candidate in found.best
    assert steptime.SearchResult.from_json(found.to_json()) == found
    assert steptime.search(**ASKED).emission is None


def test_constants_of_a_cluster_come_back_from_json() -> None:
    found = steptime.predict(**ASKED, constants=published_constants())
    text = found.to_json()
    assert steptime.Prediction.from_json(text) == found
    for broken in ('"$pairs": 3', '"$pairs": [[1]]', '"$pairs": [[{"a": 1}, 2]]'):
        with pytest.raises(steptime.ConfigError):
            steptime.Prediction.from_json(f'{{"$record": "steptime.answer:X", {broken}}}')
        with pytest.raises(steptime.ConfigError, match="list of names"):
            recorded(json.loads(f"{{{broken}}}"))


def test_a_stated_choice_is_the_layout_of_the_file() -> None:
    found = steptime.search(**ASKED, emit="megatron", choice=3)
    assert found.emission is not None
    assert found.emission.candidate == found.best[2]


def test_validate_writes_the_constants_that_the_command_writes(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = tmp_path / "ours.toml", tmp_path / "theirs.toml"
    result = steptime.validate(runs, fit=str(ours))
    assert run(["validate", str(runs), "--fit", str(theirs)]) == 0
    capsys.readouterr()
    assert ours.read_text(encoding="utf-8") == theirs.read_text(encoding="utf-8")
    assert result.fit is not None
    assert result.fit.worth_it
    # What is written answers as what was fitted does.
    again = steptime.validate(runs, constants=read_constants(ours))
    assert again.rows == result.rows
    assert steptime.Validation.from_json(result.to_json()) == result
    before = steptime.validate(runs).summary.mean_abs_ln_error
    after = result.summary.mean_abs_ln_error
    assert before is not None
    assert after is not None
    assert after < 0.5 * before


def test_nothing_is_written_where_the_published_constants_do(tmp_path: Path, runs: Path) -> None:
    lines = runs.read_text(encoding="utf-8").splitlines()[1:]
    true = []
    for line, (gpus, tp, gbs) in zip(lines, SIZES, strict=True):
        step = {"num_gpus": gpus, "tp": tp, "global_batch_size": gbs, "zero_stage": 1}
        time_s = steptime.predict(**ASKED | step, recompute="none").step_time_s
        true.append(f"{line.rpartition(',')[0]},{time_s!r}")
    same = tmp_path / "same.csv"
    same.write_text("\n".join((HEADS, *true)), encoding="utf-8")
    path = tmp_path / "none.toml"
    result = steptime.validate(same, fit=path)
    assert result.fit is not None
    assert not result.fit.worth_it
    assert not path.exists()
    assert result.rows == steptime.validate(same).rows


# Refusal


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"emit_to": "x.sh"}, "emit_to belongs to a framework's file; give emit"),
        ({"choice": 2}, "choice belongs to"),
        ({"emit": "pytorch"}, "unknown format 'pytorch'"),
        ({"emit": "megatron", "emit_to": 3}, "emit_to must be the path of a file"),
        ({"emit": "megatron", "emit_to": ""}, "emit_to must be the path of a file"),
        ({"emit": "megatron", "choice": 0}, "choice must be >= 1"),
        ({"emit": "megatron", "tokens": -1}, "tokens must be a number > 0"),
        ({"emit": "megatron", "tokens": "15T"}, "tokens must be a number"),
        ({"emit": "megatron", "emit_to": "no/such/folder/x.sh"}, "cannot write emit_to"),
    ],
)
def test_a_file_that_cannot_be_made_is_refused(more: dict[str, Any], told: str) -> None:
    with pytest.raises(steptime.ConfigError, match=told):
        steptime.search(**ASKED, **more)


def test_no_file_that_is_read_is_written_over(runs: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(runs)
    before = runs.read_bytes()
    with pytest.raises(steptime.ConfigError, match="file and fit name the same file"):
        steptime.validate(runs, fit=link)
    with pytest.raises(steptime.ConfigError, match="fit belongs to predictor='roofline'"):
        steptime.validate(runs, fit=tmp_path / "x.toml", predictor="baseline")
    with pytest.raises(steptime.ConfigError, match="fit must be the path"):
        steptime.validate(runs, fit=7)  # type: ignore[arg-type]
    assert runs.read_bytes() == before
