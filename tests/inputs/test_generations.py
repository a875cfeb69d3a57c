"""Generations of devices and precisions of products: a row each."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from steptime import ConfigError, predict
from steptime.answer.reach import reaches
from steptime.answer.width import EXPERTS
from steptime.evidence.kernels_taken import CELL
from steptime.evidence.samples import main_samples
from steptime.inputs.constants import (
    SHARED,
    RooflineConstants,
    constant_entries,
    published_constants,
    share_name,
)
from steptime.inputs.generation import ANY, STORED, generations, kernel_named, nearest_bits
from steptime.inputs.precision import (
    PRECISIONS,
    check_precision,
    precision_named,
    precision_word,
)
from steptime.inputs.presets import accelerator, accelerator_names
from steptime.inputs.software import knows, power_scale, relative_rate

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
    # Half the rate at half the power draws as much for each FLOP: nothing is held back.
    half = replace(h100, watt=350.0, matmul_flop_per_s=h100.matmul_flop_per_s / 2.0)
    assert power_scale(half) == 1.0


def test_kernels_of_a_part_run_in_proportion_to_its_products() -> None:
    """bekman2024: 252.9 TFLOP/s on A100 PCIe where the SXM part has 271.2."""
    question = {"model": "llama3-8b", "seq_length": 8192, "global_batch_size": 8}
    rates = {}
    for name in ("a100-80gb", "a100-pcie-80gb", "h100", "h200", "h20"):
        time = predict(accelerator=name, **question).software.time
        assert time is not None
        rates[name] = time.attention_flop_per_s
    assert rates["a100-pcie-80gb"] / rates["a100-80gb"] == pytest.approx(252.9 / 271.2)
    assert rates["h200"] == rates["h100"]
    # Attention faster than the products of the data sheet would be no attention of that part.
    assert rates["h20"] < accelerator("h20").peak_flop_per_s


@pytest.mark.parametrize("name", [one for one in accelerator_names() if knows(accelerator(one))])
def test_no_kernel_is_faster_than_the_data_sheet(name: str) -> None:
    device = accelerator(name)
    for rate in generations()[device.generation].kernels.values():
        assert rate.flop_per_s * relative_rate(device) <= device.peak_flop_per_s


# invariant


@pytest.mark.parametrize("name", list(generations()))
def test_a_generation_has_all_that_formulas_ask_of_it(name: str) -> None:
    one = generations()[name]
    assert {*one.kernels} - {ANY} == {*generations()["hopper"].kernels} - {ANY}
    # Where no dense run in 16 bits was compared, nothing tells which months count.
    compared = name in reaches() and CELL in reaches()[name].cells
    assert (ANY in one.kernels) == compared
    assert STORED in one.kernels
    constants = published_constants()
    assert one.efficiency
    for bits, share in one.efficiency.items():
        assert 0.0 < share.low <= share.value <= share.high <= 1.0
        assert constants.of(name, bits).efficiency == share.value
        own = share_name(name, bits)
        slower = constants.changed({own: 0.5})
        assert slower.of(name, bits).efficiency == 0.5
        assert slower.values() | {own: share.value} == constants.values()
        assert own in {entry.name for entry in constant_entries()}


def test_a_share_is_fitted_where_three_dense_runs_pin_it() -> None:
    dense = Counter(
        sample.cell for sample in main_samples() if sample.fitted_to and sample.kind != EXPERTS
    )
    for name, one in generations().items():
        fitted = {bits for bits, share in one.efficiency.items() if share.fitted}
        assert fitted == {bits for generation, bits in dense if generation == name}
        assert all(dense[name, bits] >= 3 for bits in fitted)


@pytest.mark.parametrize(
    ("known", "bits", "taken"),
    [((16, 8), 8, 8), ((16, 8), 4, 8), ((16,), 8, 16), ((8,), 16, 8), ((16, 4), 8, 16)],
)
def test_bits_without_a_share_take_the_nearest(
    known: tuple[int, ...], bits: int, taken: int
) -> None:
    assert nearest_bits(known, bits) == taken
    own = RooflineConstants(
        efficiency={("hopper", one): one / 100.0 for one in known},
        **{name: getattr(published_constants(), name) for name in SHARED},
    )
    assert own.of("hopper", bits).efficiency == taken / 100.0
    each = own.of_each([("hopper", bits), ("hopper", known[0])]).efficiency
    assert list(np.asarray(each)) == [taken / 100.0, known[0] / 100.0]


@pytest.mark.parametrize(
    ("accelerator_name", "precision", "word"),
    [
        ("h100", "bf16", ""),
        ("h100", "fp8", ""),
        ("b200", "nvfp4", ""),
        ("mi300x", "bf16", "no run in 16 bits on cdna3 was compared"),
        ("mi300x", "fp8", "no run in 8 bits on cdna3 was compared, the share in 16 bits"),
        ("mi355x", "bf16", "no run in 16 bits on cdna4 was compared, the share in 8 bits"),
    ],
)
def test_an_answer_says_which_share_no_run_stands_behind(
    accelerator_name: str, precision: str, word: str
) -> None:
    told = predict(
        model="llama-3.1-8b",
        accelerator=accelerator_name,
        seq_length=4096,
        global_batch_size=64,
        precision=precision,
    )
    said = [str(one) for one in told.assumed if one.what == "efficiency"]
    assert len(said) == bool(word)
    assert all(word in one for one in said)


def test_every_device_of_a_known_generation_may_be_asked() -> None:
    known = [name for name in accelerator_names() if knows(accelerator(name))]
    assert {accelerator(name).generation for name in known} == set(generations())
    assert not knows(accelerator("l40s"))


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
    with pytest.raises(ConfigError, match="'fp32': it is not modelled; one of: fp16, bf16"):
        precision_word("fp32")
    with pytest.raises(ConfigError, match="unknown precision 'mxfp9'; did you mean 'mxfp8'"):
        precision_named("mxfp9")
    with pytest.raises(ConfigError, match="unknown attention kernel 'cudn'; did you mean 'cudnn'"):
        kernel_named(generations()["hopper"], "cudn")


def test_a_device_without_eight_bits_is_told_the_16_bits_that_it_multiplies() -> None:
    for name, near in (("v100-32gb", "fp16"), ("a100", "bf16"), ("tpu-v4", "bf16")):
        device = accelerator(name)
        for precision in ("fp8", "nvfp4"):
            with pytest.raises(ConfigError, match=f"no 8-bit matrix products; use {near}$"):
                check_precision(device, precision)
        check_precision(device, near)
