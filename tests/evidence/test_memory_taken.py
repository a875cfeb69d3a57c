"""What is taken to be kept in memory where nobody says whose software it is."""

import math

import pytest

from steptime.answer import predict
from steptime.evidence.memory_taken import (
    BUILT_ON,
    facts_taken,
    families_of,
    kept,
    lines_of,
    months_compared,
)
from steptime.formulas.records import MemoryFacts
from steptime.inputs.datafiles import data_path
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software import software
from steptime.inputs.software_taken import KEPT_BY_DEFAULT
from steptime.inputs.stack import USUAL_FAMILY, USUAL_SHARDED, family_stack, stack_named

# --- by hand


def test_families_share_weights_out_or_keep_them_whole() -> None:
    whole = ("megatron", "megatron-deepspeed", "nanotron", "nemo", "gpt-neox")
    assert families_of(False) == whole
    sharded = ("deepspeed", "torchtitan", "llm-foundry", "fsdp", "maxtext", "paxml")
    assert families_of(True) == sharded


def test_each_month_of_a_family_counts_alike_from_its_first_on() -> None:
    # FSDP around plain models: 18 bytes a logit, and 14 from 2024-09 on.
    assert kept("logit_bytes", "fsdp", ("2024-07", "2024-08", "2024-09", "2024-10")) == 16.0
    # torchtitan is of 2024-03.
    assert kept("logit_bytes", "torchtitan", ("2024-02", "2024-03")) == 14.0
    assert kept("logit_bytes", "torchtitan", ("2024-02",)) is None
    # No line of Megatron-LM says how many values a gated network keeps.
    assert kept("gated_values", "megatron", ("2024-01",)) == KEPT_BY_DEFAULT["gated_values"]


def test_each_family_counts_alike() -> None:
    # BLOOM's kind of software keeps a second copy of 4 bytes in bf16, GPT-NeoX one of 2.
    assert facts_taken(families_of(False))["extra_gradient_bytes"] == pytest.approx(
        (4.0 + 2.0) / 5.0
    )


# --- the data file


@pytest.mark.parametrize(("name", "sharded"), [(USUAL_FAMILY, False), (USUAL_SHARDED, True)])
def test_the_data_file_has_what_families_kept(name: str, sharded: bool) -> None:
    text = data_path("stacks.toml").read_text("utf-8").split(f"[{name}.facts]\n")[1]
    text = text.split("\n\n")[0]
    for fact, lines in lines_of(sharded).items():
        assert "\n".join([f"{fact} = [", *(f"    {one}," for one in lines), "]"]) in text, fact
    own = {fact.name for fact in stack_named(name).own}
    assert own & set(KEPT_BY_DEFAULT) == set(lines_of(sharded))


def test_experts_and_8_bits_are_of_what_is_built_on_megatron_core() -> None:
    def of(**asked: str) -> MemoryFacts:
        shape = model(asked.get("model", "llama3-8b"))
        precision = asked.get("precision", "bf16")
        return software(Said(), accelerator("h100"), shape, precision, False).memory

    # Megatron-LM has 4 bytes a gradient, NeMo 2; neither has a second copy.
    for found in (of(model="mixtral-8x7b"), of(precision="fp8")):
        assert found.extra_gradient_bytes == 0.0
        assert found.gradient_bytes == facts_taken(BUILT_ON)["gradient_bytes"]
    assert of().extra_gradient_bytes > 0.0


# --- limit


@pytest.mark.parametrize("sharded", [False, True])
def test_what_is_taken_lies_between_what_families_keep(sharded: bool) -> None:
    for name, value in facts_taken(families_of(sharded)).items():
        each = [kept(name, family, months_compared()) for family in families_of(sharded)]
        known = [one for one in each if one is not None]
        assert min(known) < value < max(known), name


def test_a_peak_is_what_peaks_of_the_families_are_on_the_mean() -> None:
    """Weights kept whole, one micro-batch, no pipeline: what differs is linear."""
    asked = {
        **{"model": "llama3-8b", "accelerator": "h200", "seq_length": 4096},
        **{"global_batch_size": 8, "dp": 8, "zero_stage": 0, "date": "2025-10"},
        **{"facts": {"kernel": "cudnn", "balance_by_cost": 0, "keep_in_pipeline": 0}},
    }
    peaks = []
    for family in families_of(False):
        assert family_stack(family, "2025-10").since <= "2025-10"
        memory = predict(**asked, stack=family).memory  # type: ignore[arg-type]
        peaks.append(memory.total_bytes)
    mixed = predict(**asked).memory.total_bytes  # type: ignore[arg-type]
    mean = math.fsum(peaks) / len(peaks)
    assert min(peaks) < mixed < max(peaks)
    # The mean is over all months, in some of which gradients had more bytes: 8 B of them.
    assert mean < mixed < mean + 1.1 * 8.03e9
