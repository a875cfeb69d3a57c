import math

import pytest

from steptime.inputs.errors import ConfigError, check_choice, check_count, check_number

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
