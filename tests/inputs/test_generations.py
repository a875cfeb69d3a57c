"""Generations of devices and precisions of products: a row each."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from steptime import ConfigError
from steptime.inputs.constants import constant_entries, published_constants, share_name
from steptime.inputs.generation import STORED, generations, kernel_named
from steptime.inputs.precision import PRECISIONS, check_precision, precision_named
from steptime.inputs.presets import accelerator, accelerator_names
from steptime.inputs.software import knows, power_scale

# published


def test_rates_of_kernels_are_those_printed() -> None:
    """dao2023, Fig. 6: 189 on A100 and 328 on H100 at 16k tokens and heads of 128."""
    for name, printed in (("ampere", 189.0), ("hopper", 328.0)):
        rate = kernel_named(generations()[name], "flash-2").flop_per_s
        assert rate / 1e12 == pytest.approx(printed, abs=2.5)


def test_a_part_of_less_power_runs_slower_by_the_square_root() -> None:
    """nvidia2023h100, specifications table: up to 700 W, and 350 W on a card."""
    h100 = accelerator("h100")
    assert power_scale(replace(h100, watt=700.0)) == 1.0
    assert power_scale(replace(h100, watt=350.0)) == pytest.approx(math.sqrt(0.5))
    assert power_scale(replace(h100, watt=1000.0)) == 1.0
    assert power_scale(replace(h100, product_scale=1.25)) == pytest.approx(1.25 * power_scale(h100))


# invariant


@pytest.mark.parametrize("name", list(generations()))
def test_a_generation_has_all_that_formulas_ask_of_it(name: str) -> None:
    one = generations()[name]
    assert 0.0 < one.low <= one.efficiency <= one.high <= 1.0
    assert set(one.kernels) == set(generations()["hopper"].kernels)
    assert STORED in one.kernels
    constants = published_constants()
    assert constants.of(name).efficiency == one.efficiency
    slower = constants.changed({share_name(name): 0.5})
    assert slower.of(name).efficiency == 0.5
    assert slower.values() | {share_name(name): one.efficiency} == constants.values()
    assert share_name(name) in {entry.name for entry in constant_entries()}


def test_every_device_of_a_known_generation_may_be_asked() -> None:
    known = [name for name in accelerator_names() if knows(accelerator(name))]
    assert {accelerator(name).generation for name in known} == set(generations())
    assert not knows(accelerator("tpu-v5p"))


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_precision_runs_where_its_products_are(name: str) -> None:
    one = precision_named(name)
    assert one.fp8 is (one.bits <= 8)
    runs = []
    for device in ("a100", "h100", "b200"):
        try:
            check_precision(accelerator(device), name)
        except ConfigError:
            continue
        runs.append(device)
    expected = {"": ["a100", "h100", "b200"], "eight": ["h100", "b200"], "blocks": ["b200"]}
    assert runs == expected[one.needs]


# refusal


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown precision 'mxfp9'; did you mean 'mxfp8'"):
        precision_named("mxfp9")
    with pytest.raises(ConfigError, match="unknown attention kernel 'cudn'; did you mean 'cudnn'"):
        kernel_named(generations()["hopper"], "cudn")
