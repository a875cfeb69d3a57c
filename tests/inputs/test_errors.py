import math
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError, check_choice, check_count, check_number
from steptime.inputs.stack import FACT_NAMES, stacks

# refusal


@pytest.mark.parametrize("value", [0, -1, 1.0, "8", None, True, math.nan, 10**4000])
def test_counts(value: object) -> None:
    with pytest.raises(ConfigError, match="tp must be"):
        check_count("tp", value)


@pytest.mark.parametrize(
    "value", [0, -1.0, math.nan, math.inf, -math.inf, "8", None, True, 10**4000]
)
def test_numbers(value: object) -> None:
    with pytest.raises(ConfigError, match="x must be a number"):
        check_number("x", value)


def test_good_values_pass_through() -> None:
    assert check_count("tp", 8) == 8
    assert check_number("x", 3) == 3.0
    assert check_choice("recompute", "full", ("none", "full")) == "full"


def test_messages_stay_short() -> None:
    with pytest.raises(ConfigError) as refused:
        check_choice("model", "x" * 10_000, ("a", "b"))
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("asked", "meant"),
    # As like zb-h1 and zb-h2 by what stands in a row: these have more letters, or letters in place.
    [("zb-1q", "zb-1p"), ("zb-p2", "zb-2p"), ("zb-q2", "zb-h2"), ("zb-h3", "zb-h2")],
)
def test_of_names_as_near_the_one_with_the_letters_is_offered(asked: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'"):
        check_choice("schedule", asked, ("zb-h1", "zb-h2", "zb-1p", "zb-2p", "zb-v"))


@pytest.mark.parametrize(("asked", "known"), [("foo", FACT_NAMES), ("foo", stacks())])
def test_a_word_that_is_like_no_name_is_not_taken_for_one(asked: str, known: Any) -> None:
    with pytest.raises(ConfigError, match=f"unknown thing '{asked}'; one of: "):
        check_choice("thing", asked, known)
