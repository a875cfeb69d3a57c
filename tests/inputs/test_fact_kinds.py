"""Every fact of the software has one kind, and what is out of its range is refused."""

import pytest

from steptime.cli.main import run
from steptime.inputs.errors import ConfigError
from steptime.inputs.fact_kinds import check_fact, fact_kinds
from steptime.inputs.said import Said
from steptime.inputs.stack import FACT_NAMES, WORD_FACTS, stacks

NUMBERS = tuple(name for name in FACT_NAMES if name not in WORD_FACTS)


def test_every_fact_has_a_kind_and_no_kind_names_another() -> None:
    assert {*fact_kinds()} == {*FACT_NAMES}
    assert {name for name, kind in fact_kinds().items() if kind.name == "word"} == {*WORD_FACTS}


@pytest.mark.parametrize("name", NUMBERS)
def test_values_beyond_a_facts_range_are_refused_and_its_ends_are_not(name: str) -> None:
    kind = fact_kinds()[name]
    low = kind.least if kind.above is None else kind.above * 1.5 or 1.0
    assert check_fact(name, low) == low
    assert check_fact(name, kind.most) == kind.most
    beyond = [kind.most * 1.001, -1, float("nan"), 10**400, True, "1"]
    beyond += [kind.least - 0.5] if kind.above is None else [kind.above]
    beyond += [low + 0.5] if kind.whole else []
    for value in beyond:
        with pytest.raises(ConfigError, match=f"fact {name} must be a") as refused:
            Said(facts=((name, value),))  # type: ignore[arg-type]
        assert "\n" not in str(refused.value)


def test_flags_and_shares_lie_between_0_and_1() -> None:
    kinds = fact_kinds()
    for name in ("offloaded_states", "eager", "recompute_mlp", "fused_accumulation", "overlap_dp"):
        assert (kinds[name].least, kinds[name].most) == (0.0, 1.0)


def test_what_every_stack_does_is_in_range() -> None:
    for stack in stacks().values():
        for fact in stack.facts:
            if fact.name not in WORD_FACTS:
                assert check_fact(fact.name, fact.value) == fact.value


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("offloaded_states=1.5", "fact offloaded_states must be a number >= 0 and <= 1"),
        ("fused_accumulation=30", "fact fused_accumulation must be a number >= 0 and <= 1"),
        ("eager=2", "got 2.0 (a share, from 0 to 1)"),
        ("recompute_mlp=1000", "got 1000.0 (0 for no, 1 for yes)"),
        ("recompute_layers=2.5", "recompute_layers must be a whole number >= 0"),
    ],
)
def test_the_command_line_refuses_them_in_one_line(
    capsys: pytest.CaptureFixture[str], fact: str, said: str
) -> None:
    asked = ("memory", "-m", "llama3-8b", "-a", "h100", "--tp", "2", "-s", "4096", "-B", "8")
    assert run((*asked, "--recompute", "full", "--fact", fact)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
