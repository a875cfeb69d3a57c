"""What every command that answers is told of software, network and model, before or after."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from steptime.inputs.stack import FACT_NAMES, stacks

Call = Callable[..., tuple[int, str, str]]
JOB = ("-m", "mixtral-8x7b", "-a", "h100", "-s", "4096", "-B", "128")
CUT = ("--tp", "2", "--dp", "16", "--ep", "8", "--zero", "1", "--recompute", "none")
LAUNCH = str(Path(__file__).parents[1] / "readers" / "launch" / "llama70b.sh")
ANSWERING = {
    "predict": ("predict", *JOB, *CUT),
    "memory": ("memory", *JOB, *CUT),
    "search": ("search", *JOB, "-n", "32", "--top", "1"),
    "explain": ("explain", LAUNCH, "-a", "h100"),
    "validate": ("validate",),
}
HOW = (
    ("--stack", "megatron-2022"),
    ("--stack", "megatron", "--date", "2022-08"),
    ("--network-gbit", "100"),
    ("--fact", "logit_bytes=4", "--fact", "overlap_dp=0"),
    ("--predictor", "baseline"),
)


# invariant


@pytest.mark.parametrize("name", ANSWERING)
@pytest.mark.parametrize("told", HOW, ids=" ".join)
def test_an_option_means_the_same_before_and_after_the_commands_name(
    steptime: Call, name: str, told: tuple[str, ...]
) -> None:
    words = (*ANSWERING[name], "--json")
    after = steptime(*words, *told)
    before = steptime(*told, *words)
    assert (after[0], after[2]) == (before[0], before[2])
    answers = [json.loads(out) if out else None for _, out, _ in (before, after)]
    for answer in answers:
        # A search says how long it took.
        for timed in ("elapsed_s", "layouts_per_s"):
            (answer or {}).pop(timed, None)
    assert answers[0] == answers[1]


def test_what_stands_after_comes_before_what_stands_before(steptime: Call) -> None:
    words = (*ANSWERING["predict"], "--json")
    _, only, _ = steptime(*words, "--stack", "megatron-2022", "--fact", "overlap_dp=1")
    _, both, _ = steptime(
        *("--stack", "megatron-core", "--fact", "overlap_dp=0"),
        *(*words, "--stack", "megatron-2022", "--fact", "overlap_dp=1"),
    )
    assert both == only
    # Other facts add up.
    _, apart, _ = steptime("--fact", "dropout=1", *words, "--fact", "overlap_dp=0")
    _, together, _ = steptime(*words, "--fact", "dropout=1", "--fact", "overlap_dp=0")
    assert apart == together


def test_facts_dates_and_networks_change_the_answer(steptime: Call) -> None:
    words = (*ANSWERING["predict"], "--stack", "megatron-core", "--json")
    plain = json.loads(steptime(*words)[1])["step_time_s"]
    for told in (("--fact", "plain_exchange=1"), ("--date", "2024-12")):
        assert json.loads(steptime(*words, *told)[1])["step_time_s"] > plain, told
    slow = json.loads(steptime(*words, "--network-gbit", "50")[1])
    assert slow["step_time_s"] > plain
    assert not any(one["what"] == "network" for one in slow["assumptions"])
    dated = json.loads(steptime(*words, "--date", "2024-12")[1])
    assert not any(one["what"] == "date" for one in dated["assumptions"])


def test_stacks_and_facts_are_listed_as_they_are_taken(steptime: Call) -> None:
    found = json.loads(steptime("stacks", "--json")[1])
    assert list(found) == list(stacks())
    status, table, _ = steptime("stacks")
    assert status == 0
    assert all(name in table for name in stacks())
    told = json.loads(steptime("facts", "torchtitan", "--json")[1])
    # A family means what anybody's runs had: the newest, or what was current then.
    assert told["stack"] == "torchtitan-2024"
    assert json.loads(steptime("facts", "megatron", "--json")[1])["stack"] == "megatron-core"
    dated = json.loads(steptime("facts", "megatron", "--date", "2022-01", "--json")[1])
    assert dated["stack"] == "megatron-2021"
    assert json.loads(steptime("facts", "vtrain", "--json")[1])["stack"] == "vtrain"
    family = json.loads(steptime("stacks", "torchtitan", "--json")[1])
    assert list(family) == ["torchtitan-2025", "torchtitan-2024"]
    assert list(json.loads(steptime("stacks", "bloom", "--json")[1])) == ["bloom"]
    then = json.loads(steptime("stacks", "megatron", "--date", "2023-06", "--json")[1])
    assert list(then) == ["megatron-2023"]
    assert list(told["facts"]) == list(FACT_NAMES)
    kernel, *later = told["facts"]["kernel"]
    assert (kernel["value"], kernel["kind"], kernel["when"]) == ("flash-2", "counted", [])
    # PyTorch takes cuDNN's attention from a month on, on each kind of device another.
    assert [(one["value"], one["when"], one["before"]) for one in later] == [
        ("cudnn", ["blackwell"], ""),
        ("flash-2", ["blackwell"], "2025-05"),
        ("cudnn", ["hopper"], ""),
        ("flash-2", ["hopper"], "2025-10"),
    ]
    status, table, _ = steptime("facts")
    assert status == 0
    assert all(name in table for name in FACT_NAMES)


# refusal


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (("--fact", "overlap_dp"), "--fact 'overlap_dp' must be name=number"),
        (("--fact", "overlap_dp="), "must be name=number"),
        (("--fact", "overlap_dq=1"), "did you mean 'overlap_dp'"),
        (("--fact", "overlap_dq"), "did you mean 'overlap_dp'"),
        (("--fact", "=1"), "must be name=number"),
        (("--fact", "kernel=flash-9"), "unknown attention kernel 'flash-9'"),
        (("--date", "yesterday"), "date must be a month such as 2025-02, got 'yesterday'"),
        (("--stack", "megatrom"), "did you mean 'megatron'"),
        (("--network-gbit", "0"), "network_gbit must be a number > 0"),
        (("--predictor", "oracle"), "unknown predictor 'oracle'"),
        (("--constants", "none.toml"), "none.toml"),
    ],
)
@pytest.mark.parametrize("name", ["predict", "memory", "search", "explain"])
def test_what_is_not_known_is_one_line_in_every_command(
    steptime: Call, name: str, told: tuple[str, ...], message: str
) -> None:
    for words in ((*ANSWERING[name], *told), (*told, *ANSWERING[name])):
        status, out, err = steptime(*words)
        assert (status, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


def test_unknown_stacks_are_refused_where_facts_are_listed(steptime: Call) -> None:
    status, _, err = steptime("facts", "megatron-cor")
    assert status == 2
    assert "did you mean 'megatron-core'" in err


@pytest.mark.parametrize("command", ["models", "schedules", "schedule", "accelerators"])
def test_options_before_a_command_that_does_not_take_them_are_refused(
    command: str, steptime: Call
) -> None:
    for option, value in (("--stack", "torchtitan"), ("--date", "2024-01"), ("--fact", "a=1")):
        status, out, err = steptime(option, value, command)
        assert (status, out) == (2, "")
        assert err == f"steptime: steptime {command} takes no {option}; leave it out\n"


def test_lists_of_software_hear_options_before_their_name(steptime: Call) -> None:
    for command in ("stacks", "facts"):
        before = steptime("--date", "2022-06", command, "megatron", "--json")
        assert before == steptime(command, "megatron", "--date", "2022-06", "--json")
        assert before != steptime(command, "megatron", "--json")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--date", "1999-01"), "date=1999-01 is before any software for such models; use 2017-06"),
        (("--date", "2050-01"), "date=2050-01 is too far ahead"),
        (("--network-gbit", "1e-300"), "network_gbit must be a number > 0.001"),
        (("--network-gbit", "1e9"), "network_gbit must be a number > 0.001 and <= 1e+06"),
        (("--fact", "attention_flop_per_s=1"), "attention_flop_per_s must be a number > 1e+09"),
        (("--fact", "power_scale=1e9"), "power_scale must be a number > 0.001 and <= 1000"),
    ],
)
def test_what_no_machine_and_no_software_has_is_refused(
    words: tuple[str, ...], says: str, steptime: Call
) -> None:
    asked = ("predict", "-m", "llama3-8b", "-a", "h100", "-s", "8192", "-B", "128", "--dp", "8")
    status, out, err = steptime(*asked, *words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert says in err


def test_two_mixtures_of_software_are_said_to_be_two(steptime: Call) -> None:
    asked = ("predict", "-m", "llama3-8b", "-a", "h100", "-s", "8192", "-B", "128", "--dp", "8")
    for stage, other in (("1", "ZeRO-3 is taken to run on"), ("3", "ZeRO-0 to 2 are taken")):
        assert other in steptime(*asked, "--zero", stage, "--json")[1]
        named = steptime(*asked, "--zero", stage, "--stack", "deepspeed", "--json")[1]
        assert "other software" not in named
