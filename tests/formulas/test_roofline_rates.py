"""Rates of products in 16, 8 and 4 bits: measured where somebody measured, else as printed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.formulas.records import TimeFacts
from steptime.formulas.roofline.rates import (
    WIDE_SHARE,
    ceiling_flop_per_s,
    eight_bit_gain,
    four_bit_gain,
    product_flop_per_s,
)
from steptime.inputs.constants import published_constants
from steptime.inputs.job import Job
from steptime.inputs.training_step import training_step

CONSTANTS = published_constants().of("blackwell")
FACTS = TimeFacts()


def one(accelerator: str, precision: str = "bf16") -> Job:
    return training_step(
        model="llama3-8b",
        accelerator=accelerator,
        seq_length=4096,
        global_batch_size=8,
        precision=precision,
    ).job()


# Published


@pytest.mark.parametrize(
    ("accelerator", "printed"),
    # bekman2024, both Maximum Achievable Matmul FLOPS tables, FP8 over BF16.
    [
        ("h100", 1402.6 / 794.5),
        ("h200", 1453.4 / 794.5),
        ("b200", 3432.5 / 1745.0),
        ("b300", 3353.3 / 1769.0),
        ("gb200", 3615.6 / 1822.0),
    ],
)
def test_eight_bits_gain_what_was_measured(accelerator: str, printed: float) -> None:
    assert eight_bit_gain(one(accelerator)) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("accelerator", "printed"),
    # bekman2024, TFLOPS comparison table, PFLOP/s without sparsity: 9 over 4.5, 12.6 over 4.5,
    # 10 over 5, 15 over 5.
    [("b200", 2.0), ("b300", 2.8), ("gb200", 2.0), ("gb300", 3.0)],
)
def test_four_bits_gain_what_the_data_sheet_says(accelerator: str, printed: float) -> None:
    assert four_bit_gain(one(accelerator)) == pytest.approx(printed, rel=1e-12)


# Limits


def test_what_nobody_measured_gains_what_the_data_sheet_says() -> None:
    record = replace(one("h100"), matmul_fp8_flop_per_s=0.0)
    assert eight_bit_gain(record) == 1979.0 / 989.0


def test_without_a_printed_rate_fewer_bits_gain_nothing() -> None:
    record = replace(one("a100"), fp8=1.0)
    assert eight_bit_gain(record) == 1.0
    facts = replace(FACTS, fp4=1.0)
    wide = ceiling_flop_per_s(record, facts, CONSTANTS)
    assert product_flop_per_s(record, facts, CONSTANTS) == pytest.approx(wide, rel=1e-12)


def test_a_measured_rate_in_four_bits_comes_before_the_printed_one() -> None:
    record = one("b200")
    measured = replace(record, matmul_fp4_flop_per_s=1.5 * record.matmul_fp8_flop_per_s)
    assert four_bit_gain(measured) == 1.5


# Invariants


def test_layers_that_stay_in_sixteen_bits_bound_the_gain_of_four() -> None:
    record = replace(one("gb300"), fp8=1.0, matmul_fp4_flop_per_s=1e30)
    facts = replace(FACTS, fp4=1.0)
    most = product_flop_per_s(record, facts, CONSTANTS) / ceiling_flop_per_s(
        record, facts, CONSTANTS
    )
    assert most == pytest.approx(1.0 / WIDE_SHARE, rel=1e-9)


@pytest.mark.parametrize("accelerator", ["tpu-v5p", "tpu-v6e"])
def test_an_answer_for_a_tpu_says_that_it_is_not_to_be_trusted(accelerator: str) -> None:
    from steptime.answer import predict

    found = predict(
        model="llama3-8b", accelerator=accelerator, seq_length=4096, global_batch_size=8
    )
    said = [str(line) for line in found.assumed if line.what == "accelerator"]
    assert len(said) == 1
    assert "not to be trusted" in said[0]
    assert "torus" in said[0]


def test_tpu_v5p_has_the_network_and_the_memory_of_its_page() -> None:
    # google2024v5p: 50 Gb/s a chip to the data-centre network, 95 GiB.
    record = one("tpu-v5p")
    assert record.network_bytes_per_s * 8.0 == 50e9
    assert record.hbm_bytes == 95.0 * 2.0**30
