"""Values of Python that cannot be used are refused by name, in one line."""

from __future__ import annotations

from typing import Any

import pytest

import steptime
from steptime.cli.main import run

STEP: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "seq_length": 4096,
    "global_batch_size": 8,
}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"fits_with": "0.9"}, "fits_with must be a number, got '0.9'"),
        ({"fits_with": None}, "fits_with must be a number, got None"),
        ({"fits_with": 1.0}, "fits_with must be in [0, 1)"),
        ({"fits_with": -0.1}, "fits_with must be a number >= 0"),
        ({"memory_share": 0}, "memory_share must be a number > 0 and <= 1, got 0"),
        ({"memory_share": "1"}, "memory_share must be a number, got '1'"),
        ({"tp": []}, "tp is empty: give at least one value to try"),
        ({"recompute": ()}, "recompute is empty"),
        ({"tp": 2.5}, "tp must be one value or several to try, got 2.5"),
        ({"facts": [("overlap_dp", 0)]}, "facts must be values by name"),
        ({"constants": "x"}, "constants must be a .toml file"),
    ],
)
def test_a_search_refuses_them(given: dict[str, Any], error: str) -> None:
    with pytest.raises(steptime.ConfigError) as refused:
        steptime.search(**STEP, num_gpus=8, **given)
    assert str(refused.value).startswith(error)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"facts": [("overlap_dp", 0)]}, "facts must be values by name"),
        ({"facts": "overlap_dp=0"}, "facts must be values by name"),
        ({"facts": {"overlap_dp": [0]}}, "fact overlap_dp must be a number, got [0]"),
        ({"constants": "x"}, "constants must be a .toml file"),
        ({"constants": {"launch_s": 1}}, "constants must be a .toml file"),
        ({"constants": "no_such.toml"}, "cannot read no_such.toml: No such file"),
    ],
)
@pytest.mark.parametrize("ask", [steptime.predict, steptime.memory])
def test_an_answer_refuses_them(ask: Any, given: dict[str, Any], error: str) -> None:
    with pytest.raises(steptime.ConfigError) as refused:
        ask(**STEP, **given)
    assert str(refused.value).startswith(error)


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        (("overlap_dp=0", "overlap_dp=1"), "--fact overlap_dp is given twice, state it once"),
        (("kernel=",), "--fact 'kernel=' must be kernel=word, such as kernel=flash-2"),
        (("overlap_dp=",), "--fact 'overlap_dp=' must be name=number, such as overlap_dp=0"),
    ],
)
def test_the_command_line_refuses_a_fact_without_a_value_or_with_two(
    capsys: pytest.CaptureFixture[str], facts: tuple[str, ...], error: str
) -> None:
    words = ["predict", "-m", "llama3-8b", "-a", "h100", "-s", "4096", "-B", "8"]
    assert run([*words, *(word for fact in facts for word in ("--fact", fact))]) == 2
    assert error in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "error"),
    [
        # Counts end in k for 1024, as commands take them, amounts in k for 1000.
        ({"seq_length": "8k"}, "seq_length must be a whole number, got '8k'; write 8192"),
        ({"seq_length": " 8_192 "}, "seq_length must be a whole number, got ' 8_192 '; write 8192"),
        ({"seq_length": "1e3"}, "seq_length must be a whole number, got '1e3'; write 1000"),
        ({"seq_length": 4096.0}, "seq_length must be a whole number, got 4096.0; write 4096"),
        ({"seq_length": 4096.5}, "seq_length must be a whole number, got 4096.5"),
        ({"seq_length": "long"}, "seq_length must be a whole number, got 'long'"),
        ({"seq_length": "inf"}, "seq_length must be a whole number, got 'inf'"),
        ({"seq_length": ""}, "seq_length must be a whole number, got ''"),
        ({"seq_length": True}, "seq_length must be a whole number, got True"),
        ({"tp": "2"}, "tp must be a whole number, got '2'; write 2"),
        ({"network_gbit": "1k"}, "network_gbit must be a number, got '1k'; write 1000"),
        (
            {"facts": {"overlap_dp": "0.5"}},
            "fact overlap_dp must be a number, got '0.5'; write 0.5",
        ),
    ],
)
@pytest.mark.parametrize("ask", [steptime.predict, steptime.memory, steptime.search])
def test_a_number_as_text_is_told_how_to_write_it(
    ask: Any, given: dict[str, Any], error: str
) -> None:
    with pytest.raises(steptime.ConfigError) as refused:
        ask(**STEP | {"num_gpus": 8} | given)
    assert str(refused.value) == error


def test_tokens_as_text_are_told_how_to_write_them() -> None:
    step = steptime.predict(**STEP)
    with pytest.raises(steptime.ConfigError, match=r"tokens must be a number, got '15T'; write"):
        steptime.run_of(step, "15T")  # type: ignore[arg-type]
