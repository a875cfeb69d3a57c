"""What `steptime search` says of what it cannot do as asked: the way out, and which layouts."""

from __future__ import annotations

import json

import pytest

from steptime.cli.main import run


@pytest.mark.parametrize(
    ("words", "batch"),
    [
        # 4 racks of 72 leave 288 ranks of data: no power of two divides by them.
        ("-m mixtral-8x7b -a gb200 --nodes 4 -B 100 --tp 1 --cp 1 --pp 1", 288),
        ("-m mixtral-8x7b -a gb200 --nodes 4 -B 500 --tp 1 --cp 1 --pp 1", 576),
        ("-m llama3-8b -a h100 -n 512 -B 12 --tp 1 --cp 1 --pp 8 -b 3", 192),
        # DualPipe runs two micro-batches a stage and more.
        ("-m llama3-8b -a h100 -n 16 -B 6 --tp 1 --cp 1 --pp 4 --schedule dualpipe", 32),
    ],
)
def test_a_batch_that_cannot_be_cut_is_refused_with_the_next_that_can(
    words: str, batch: int, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["search", *words.split(), "-s", "4k"]
    assert run(line) == 2
    told = capsys.readouterr().err
    assert f"with --global-batch-size {batch} it can be cut" in told
    # And that one is: whether it fits is another question.
    line[line.index("-B") + 1] = str(batch)
    run(line)
    assert "no layout can be cut" not in capsys.readouterr().err


@pytest.mark.parametrize(
    # On fewer than are named something may fit, with a smaller chance than is asked for.
    ("name", "few", "fewer", "named"),
    [("llama3-8b", 1, 2, 4), ("llama3-405b", 16, 112, 128)],
)
def test_more_gpus_are_named_by_what_fits_as_surely_as_is_asked(
    name: str, few: int, fewer: int, named: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", "-m", name, "-a", "h100", "-s", "8192", "-B", "64"]
    assert run([*words, "--gpus", str(few)]) == 2
    assert f"with {named} GPUs the best fits" in capsys.readouterr().err
    for count, sure in ((fewer, False), (named, True)):
        assert run([*words, "--gpus", str(count), "--json"]) == 0
        assert (json.loads(capsys.readouterr().out)["num_fitting"] > 0) is sure


def test_every_layout_that_the_software_does_not_run_is_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["search", "-m", "llama3-8b", "-a", "h100", "-s", "8192", "-B", "64", "--gpus", "16"]
    words += ["--stack", "gpt-neox", "--tp", "1,2", "--pp", "1", "--zero", "3", "--top", "3"]
    assert run(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "not run: layout 2, 3: gpt-neox does not run zero_stage=3 beside tp=2" in shown
    assert run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    for one, lacks in zip(told["layouts"], told["not_run"], strict=True):
        assert bool(lacks) is (one["tp"] == 2)
