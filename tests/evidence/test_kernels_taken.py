"""Which attention kernels are taken together where nobody says whose software it is."""

import math
from types import SimpleNamespace

import pytest

from steptime.answer.reach import dates_seen, reaches
from steptime.evidence.kernels_taken import (
    CELL,
    families_meant,
    kernel_shares,
    line_of,
    months_between,
    taken_on,
    together,
)
from steptime.evidence.row_question import roofline_question
from steptime.evidence.runs import run_of
from steptime.evidence.schema import Contradiction, Incomplete, Unknown, published_rows
from steptime.formulas.records import TimeFacts
from steptime.formulas.roofline.attention import STORED_TOKENS, flash_share
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError
from steptime.inputs.generation import ANY, STORED, generations
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software import Software, software
from steptime.inputs.stack import stacks

COMPARED = tuple(name for name, one in reaches().items() if CELL in one.cells)


def of(
    device: str, *, model_name: str = "llama3-8b", precision: str = "bf16", **said: str
) -> Software:
    return software(Said(**said), accelerator(device), model(model_name), precision, False)  # type: ignore[arg-type]


# --- by hand


def test_a_family_counts_from_its_first_month_on_and_each_month_of_it_alike() -> None:
    """Megatron-LM had flash kernels from 2023-01 on, GPT-NeoX was there all along."""
    months = ("2022-11", "2022-12", "2023-01", "2023-02")
    assert kernel_shares("ampere", months, ("megatron",)) == {"stored": 0.5, "flash-2": 0.5}
    # nanotron is of 2023-09: it counts in the last month alone, as much as the other in all.
    late = ("2023-07", "2023-08", "2023-09")
    shares = kernel_shares("hopper", late, ("megatron", "nanotron"))
    assert shares == {"flash-2": pytest.approx(1.0)}
    assert kernel_shares("hopper", ("2023-07",), ("nanotron",)) == {}


def test_the_rate_of_several_kernels_is_that_of_their_mean_time() -> None:
    rates = {name: one.flop_per_s for name, one in generations()["hopper"].kernels.items()}
    flash, rate = together("hopper", {"stored": 0.2, "flash-2": 0.4, "cudnn": 0.4})
    assert flash == pytest.approx(0.8)
    assert 1.0 / rate == pytest.approx(0.5 / rates["flash-2"] + 0.5 / rates["cudnn"])


def test_months_go_on_over_the_end_of_a_year() -> None:
    assert months_between("2023-11", "2024-02") == ("2023-11", "2023-12", "2024-01", "2024-02")


# --- the data file


@pytest.mark.parametrize("generation", COMPARED)
def test_the_data_file_has_what_families_had(generation: str) -> None:
    assert line_of(generation) in data_path("generations.toml").read_text().split("\n")
    kept = generations()[generation].kernels[ANY]
    flash, rate = taken_on(generation)
    assert kept.flash == pytest.approx(flash, abs=5e-4)
    assert kept.flop_per_s == pytest.approx(rate, abs=5e10)


def test_families_for_devices_of_their_own_are_not_meant() -> None:
    assert {one.family for one in stacks().values() if not one.of} - {*families_meant()} == {
        "usual",
        "usual-sharded",
        "mindspeed",
        "neuron",
    }


# --- limit


@pytest.mark.parametrize("device", ["a100-80gb", "h100", "b200"])
def test_what_is_taken_lies_between_the_kernels(device: str) -> None:
    generation = accelerator(device).generation
    rates = [one.flop_per_s for one in generations()[generation].kernels.values()]
    taken = generations()[generation].kernels[ANY]
    assert min(rates) < taken.flop_per_s < max(rates)
    months = months_between(*dates_seen(generation))
    shares = kernel_shares(generation, months, families_meant())
    assert math.fsum(shares.values()) == pytest.approx(1.0)
    assert taken.flash == pytest.approx(1.0 - shares.get(STORED, 0.0), abs=5e-4)


def test_it_is_taken_only_where_no_month_is_said_of_a_dense_model_in_16_bits() -> None:
    def kernel(one: Software) -> object:
        return one.lines["kernel"].value

    assert kernel(of("h100")) == ANY
    assert kernel(of("h100", date="2025-09")) == "cudnn"
    assert kernel(of("h100", stack="megatron")) == "cudnn"
    assert kernel(of("h100", precision="fp8")) == "cudnn"
    assert kernel(of("h100", model_name="mixtral-8x7b")) == "cudnn"
    assert kernel(of("mi300x")) == "cudnn"


def test_the_answer_lists_that_all_are_taken_until_one_is_stated() -> None:
    def listed(one: Software) -> list[str]:
        return [found.how for found in one.assumed if found.what == "kernel"]

    assert listed(of("h100")) == ["--fact kernel=NAME or --date YYYY-MM"]
    assert listed(of("h100", date="2025-09")) == []
    said = Said(facts=(("kernel", ANY),))
    assert not listed(software(said, accelerator("h100"), model("llama3-8b"), "bf16", False))


def test_no_scores_are_taken_to_be_stored_in_memory() -> None:
    """A share of them would be true of nobody; on Ampere most software stored none."""
    one = of("a100-80gb")
    assert one.time is not None
    assert 0.0 < one.time.flash < 1.0
    assert one.memory.flash == 1.0


# --- long sequences


def test_no_compared_run_stores_the_scores_of_a_longer_sequence() -> None:
    lengths = set()
    for row in published_rows():
        try:
            asked = roofline_question(run_of(row))
        except (ConfigError, Incomplete, Unknown, Contradiction):
            continue
        if asked.software.lines["kernel"].value == STORED:
            lengths.add(asked.step.batch.seq_length)
    assert max(lengths) <= STORED_TOKENS


def test_where_scores_cannot_be_stored_all_software_stores_none() -> None:
    def share(flash: float, tokens: float) -> float:
        return float(flash_share(SimpleNamespace(seq_length=tokens), TimeFacts(flash=flash)))  # type: ignore[arg-type]

    assert [share(0.7, tokens) for tokens in (2048.0, 16384.0, 32768.0)] == [0.7, 0.7, 1.0]
    # A kernel that is stated is as stated at any length.
    assert [share(flash, 131072.0) for flash in (0.0, 1.0)] == [0.0, 1.0]
