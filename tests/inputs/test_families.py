"""Families of software, their eras, and what is taken where nobody says more."""

from __future__ import annotations

import statistics

import pytest

from steptime.evidence.schema import published_rows
from steptime.inputs.generation import ANY, generations
from steptime.inputs.presets import accelerator, listed_key, model
from steptime.inputs.said import Said, in_its_time
from steptime.inputs.software import software
from steptime.inputs.stack import families, family_stack, stack_names, stacks
from steptime.inputs.training_step import training_step

NAMED = (
    *("megatron", "megatron-deepspeed", "deepspeed", "gpt-neox", "fsdp", "torchtitan"),
    *("nanotron", "llm-foundry", "maxtext", "paxml", "mindspeed", "neuron", "nemo"),
)


def stack_of(
    family: str | None, device: str, date: str | None = None, sharded: bool = False
) -> str:
    said = Said(stack=family, date=date)
    return software(said, accelerator(device), model("llama3-8b"), "bf16", sharded).stack.name


# invariant


@pytest.mark.parametrize("family", NAMED)
def test_a_family_is_no_exact_stack(family: str) -> None:
    assert family in families()
    assert family not in stack_names()


@pytest.mark.parametrize("family", NAMED)
@pytest.mark.parametrize("date", ["2021-06", "2023-01", "2024-06", "2026-01"])
def test_a_family_never_means_one_sources_stack(family: str, date: str) -> None:
    assert family_stack(family, date).of == ""


def test_a_stack_of_one_source_keeps_what_was_read_off_its_runs_to_itself() -> None:
    """Nanotron's waits are its cluster's: another user of nanotron does not get them."""
    assert "stage_wait_s" in {fact.name for fact in stacks()["nanotron-playbook"].facts}
    assert "stage_wait_s" not in {fact.name for fact in family_stack("nanotron").facts}
    for family in NAMED:
        for stack in stacks().values():
            if stack.family == family and not stack.of:
                assert all(fact.kind != "read off runs" for fact in stack.facts), stack.name


def test_habits_pass_on_through_two_generations_of_likeness() -> None:
    assert stacks()["paxml-2024"].zero_stages == stacks()["maxtext-2023"].zero_stages


def test_every_sources_stack_names_it_in_the_bibliography() -> None:
    keys = {row.source for row in published_rows()} | {"deepseek2024"}
    assert {stack.of for stack in stacks().values()} - {""} <= keys


# published


@pytest.mark.parametrize(
    ("family", "date", "name"),
    [
        ("megatron", "2021-06", "megatron-2021"),
        ("megatron", "2023-09", "megatron-2023"),
        ("megatron", "2025-01", "megatron-core"),
        ("nemo", "2022-10", "nemo-2022"),
        ("nemo", "2023-06", "nemo-2023"),
        ("nemo", "2024-09", "nemo-2024"),
        ("nemo", "2026-02", "megatron-bridge"),
        ("fsdp", "2022-06", "fsdp-2022"),
        ("fsdp", "2023-11", "torch-fsdp"),
        ("fsdp", "2025-06", "torch-fsdp2"),
    ],
)
def test_eras(family: str, date: str, name: str) -> None:
    assert family_stack(family, date).name == name


def test_a_generations_usual_date_is_the_median_month_of_its_sources() -> None:
    """Every source weighs the same, whatever its rows."""
    months: dict[str, dict[str, list[int]]] = {}
    for row in published_rows():
        year, _, month = row.date.partition("-")
        # Sources that name a device as the presets do; a driver's names come from a few alone.
        if listed_key("accelerator", row.gpu) is None:
            continue
        generation = accelerator(row.gpu).generation
        if month:
            of_source = months.setdefault(generation, {})
            of_source.setdefault(row.source, []).append(12 * int(year) + int(month) - 1)
    # Of two generations no run is in the data; theirs is a month in which many were trained on.
    assert set(generations()) - set(months) == {"volta", "cdna2"}
    for name in months:
        generation = generations()[name]
        middle = int(statistics.median(map(statistics.median, months[name].values())))
        assert generation.usual_date == f"{middle // 12}-{middle % 12 + 1:02d}", name


# limit


def test_undated_software_is_as_old_as_its_device() -> None:
    assert stack_of("megatron", "a100") == "megatron-2023"
    assert stack_of("megatron", "h100") == "megatron-core"
    assert stack_of("megatron", "a100", "2025-01") == "megatron-core"


def test_an_exact_stack_needs_no_date() -> None:
    said = Said(stack="megatron-core")
    assert in_its_time(said, accelerator("a100")) == said


def test_software_that_nobody_names_is_a_mixture_and_said_to_be_one() -> None:
    assert stack_of(None, "h100") == "usual"
    assert stack_of(None, "h100", sharded=True) == "usual-sharded"
    told = software(Said(), accelerator("a100"), model("llama3-8b"), "bf16", False)
    assert not told.known
    assert {one.what for one in told.assumed} == {"stack", "date", "kernel"}
    assert told.lines["kernel"].value == ANY
    dated = software(Said(date="2024-06"), accelerator("a100"), model("llama3-8b"), "bf16", False)
    assert dated.lines["kernel"].value == "flash-2"


def test_recomputation_follows_family_and_era() -> None:
    step = training_step(
        **{"model": "llama3-8b", "accelerator": "a100", "seq_length": 4096},
        **{"global_batch_size": 64, "tp": 2, "dp": 4, "stack": "megatron", "date": "2021-06"},
    )
    assert step.layout.recompute == "full"
