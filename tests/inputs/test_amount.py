"""Counts and amounts as people write them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from steptime.inputs.amount import amount, whole, wholes, words
from steptime.inputs.errors import ConfigError
from steptime.inputs.extras import EXTRAS, way_out

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [("8192", 8192), ("8k", 8192), ("32K", 32768), ("1m", 1048576), ("8_192", 8192), ("-1", -1)],
)
def test_a_count_may_end_in_k_or_m(text: str, value: int) -> None:
    assert whole(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("15e12", 15e12), ("15T", 15e12), ("2.5b", 2.5e9), ("300M", 3e8), ("1_000", 1000.0)],
)
def test_an_amount_may_end_in_a_thousand_to_a_million_million(text: str, value: float) -> None:
    assert amount(text) == value


def test_several_stand_with_commas_between() -> None:
    assert wholes(["4,8", "1k"]) == (4, 8, 1024)
    assert words(["none, full", "selective"]) == ("none", "full", "selective")


@pytest.mark.parametrize("text", ["", "k", "8q", "eight", "1.5k", "1e3", "9" * 50])
def test_no_count_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"valid integer|too many digits"):
        whole(text)


@pytest.mark.parametrize("text", ["", "T", "nan", "inf", "1e400", "12x"])
def test_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a valid number; write 15e12 or 15T"):
        amount(text)


def test_every_package_that_a_user_may_lack_is_in_the_group_that_is_named() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {"yaml": "pyyaml", "distributed": "dask[distributed]", "dask": "dask[distributed]"}
    for module, extra in EXTRAS.items():
        held = {line.split(">=")[0].split("==")[0] for line in _group(groups, extra)}
        assert names.get(module, module) in held, module
    assert way_out("yaml.nodes", "this") == "this needs yaml: pip install 'steptime[cli]'"


def _group(project: dict[str, dict[str, list[str]]], name: str) -> list[str]:
    return project["optional-dependencies"][name]
