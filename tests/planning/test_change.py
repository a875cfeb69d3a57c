"""Every change that is offered, stated beside what was asked, gives what its line says."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from steptime.answer import Prediction, predict
from steptime.cli.main import run
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import FIELDS
from steptime.planning.change import LIKELY, may_run, outlook
from steptime.planning.faster import faster
from steptime.planning.remedy import Remedy, remedies

OPTIONS = {flag: field for field in FIELDS for one in field.flags for flag in one.split("/")}
MODELS = ("llama3-8b", "llama3-70b", "qwen2.5-0.5b", "gpt-oss-20b", "deepseek-v3", "gpt3-175b")
DEVICES = ("h100", "a100", "h800", "h20", "mi355x", "gaudi2", "b200")
SOFTWARE = (None, None, "megatron", "torchtitan", "maxtext", "deepspeed")


def stated_by(change: str) -> dict[str, Any]:
    """Return what the options of a command line state, by name of the field."""
    words, found = change.split(), {}
    while words:
        flag = words.pop(0)
        field = OPTIONS[flag]
        if "/" in field.flags[0]:
            found[field.name] = not flag.startswith("--no-")
            continue
        word = words.pop(0)
        found[field.name] = int(word) if word.isdigit() else word
    return found


def drawn(luck: random.Random) -> dict[str, Any]:
    """Return a question at random, with much of it left open."""
    sizes: dict[str, Any] = {
        **{"tp": luck.choice((1, 1, 2, 8)), "pp": luck.choice((1, 1, 2, 4))},
        **{"cp": luck.choice((1, 1, 1, 2)), "ep": 1},
    }
    rest, dp = sizes["tp"] * sizes["pp"] * sizes["cp"], luck.choice((1, 1, 2, 8, 32))
    by = luck.choice(("dp", "num_gpus", "both"))
    more = {"dp": dp} if by != "num_gpus" else {}
    more |= {"num_gpus": dp * rest} if by != "dp" else {}
    some = {
        "zero_stage": luck.choice((0, 1, 2, 3)),
        "recompute": luck.choice(("none", "selective", "full")),
        "sequence_parallel": luck.choice((False, True)) if sizes["tp"] > 1 else False,
        "micro_batch_size": luck.choice((1, 2, 4)),
        "vpp": luck.choice((1, 2)) if sizes["pp"] > 1 else 1,
        "dp_replicate": luck.choice((1, dp)),
    }
    told = {name: value for name, value in some.items() if luck.random() < 0.3}
    return {
        **{"model": luck.choice(MODELS), "accelerator": luck.choice(DEVICES)},
        **{"seq_length": luck.choice((1024, 8192, 32768)), "global_batch_size": 256},
        **{"stack": luck.choice(SOFTWARE), **sizes, **more, **told},
        "predictor": luck.choice((None, None, None, "baseline", "chapter")),
    }


def questions(number: int, seed: int) -> list[tuple[dict[str, Any], Prediction]]:
    luck, found = random.Random(seed), []
    while len(found) < number:
        asked = drawn(luck)
        try:
            found.append((asked, predict(**asked)))
        except ConfigError:
            continue
    return found


# invariant


@pytest.mark.parametrize("seed", range(4))
def test_every_offer_is_what_the_question_with_its_options_answers(seed: int) -> None:
    kinds = {"fit": 0, "faster": 0}
    for asked, found in questions(25, seed):
        for way in remedies(found):
            after = predict(**asked | stated_by(way.change))
            told = (after.total_bytes, after.fit_probability, after.memory.outlook)
            assert told == (way.total_bytes, way.fit_probability, way.outlook), (asked, way.change)
            assert after.step.layout.num_devices == way.num_devices
            assert after.step_time_s == way.step_time_s
            kinds["fit"] += 1
        for one in faster(found, found.question):
            after = predict(**asked | stated_by(one.change))
            assert after.step_time_s == one.found.step_time_s, (asked, one.change)
            assert after.total_bytes == one.found.total_bytes, (asked, one.change)
            assert after.memory.outlook == one.found.memory.outlook
            assert may_run(after)
            kinds["faster"] += 1
    assert min(kinds.values()) > 10


def told(**asked: Any) -> tuple[Remedy, ...]:
    return remedies(predict(**asked))


# limit


def test_stated_devices_come_before_more_and_more_are_named() -> None:
    sizes = {"model": "llama3-8b", "accelerator": "h20", "seq_length": 8192}
    for way in told(**sizes, num_gpus=1, global_batch_size=8):
        assert way.num_devices == 1 or f"--gpus {way.num_devices}" in way.change
    wide = told(**sizes, num_gpus=8, global_batch_size=8, zero_stage=0)
    assert wide[0].enough
    assert wide[0].num_devices == 8


def test_fewer_copies_are_tried() -> None:
    helps = told(
        model="llama3-70b", accelerator="h100", dp=128, dp_replicate=64, zero_stage=3,
        seq_length=8192, global_batch_size=256, stack="torchtitan",
    )  # fmt: skip
    assert helps[0].enough
    assert "--dp-replicate" in helps[0].change


def test_what_likely_does_not_fit_is_told_what_would_and_nothing_faster(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = ["-m", "gpt-oss-20b", "-a", "gaudi2", "-s", "10240", "-B", "1024", "--pp", "2"]
    line += ["--gpus", "128", "--zero", "2"]
    assert run(["predict", *line]) == 0
    out = capsys.readouterr().out
    assert "Likely does not fit" in out
    assert "to be faster" not in out
    lines = re.findall(r"to fit: (.+): ([\d.]+) GB, (.+) \((\d+) %\)", out)
    assert lines
    for change, size, word, chance in lines:
        assert run(["predict", *line, *change.split()]) == 0
        after = " ".join(capsys.readouterr().out.split()).lower()
        assert f"{word}: {size} of" in after
        assert f"the chance that it fits: {chance} %" in after


def test_a_tight_fit_is_told_only_what_makes_it_sure() -> None:
    found = predict(
        model="llama3-8b", accelerator="h20", seq_length=8192, global_batch_size=8, pp=4
    )
    assert outlook(found) == LIKELY
    helps = remedies(found)
    assert helps
    assert {one.outlook for one in helps} == {"fits"}
