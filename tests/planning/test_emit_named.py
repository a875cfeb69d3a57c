"""What a search under named software offers, that software's file says, and reads back the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.ability import ability_of, asked_values
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator, model, model_names
from steptime.inputs.said import Said
from steptime.planning.asked import search
from steptime.planning.emit import FORMATS, emitted
from steptime.planning.emit.best import emission
from steptime.planning.emit.words import form_of
from steptime.planning.result import SearchResult, answered
from steptime.readers import read_configuration
from steptime.readers.completed import completed

SEARCHES, EACH = 8, 5
DEVICES = ("h100", "a100", "b200", "mi300x")
NO_WORD = {"torchtitan": {"eager", "loss_bytes", "logit_bytes"}}
"""Facts for which a file has a word of either end alone, and its software is taken for between."""
OF_FILES = (
    "DeepSpeed's bf16 optimizer shares its states at stage 0 too",
    "this layout: NeMo 1 refuses",
)
"""What software runs and its file cannot say: DeepSpeed has had stage 0 in bf16 since 2025-08, and
the size of a round of micro-batches is a key of NeMo 2 alone."""


def never(kind: str, shape: ModelShape) -> str:
    """Return why a framework trains no layout of a model; empty where it trains some."""
    plain = Layout(zero_stage=0, dp=1)
    try:
        emitted(kind, shape, plain, Batch(global_batch_size=8, seq_length=4096))
    except ConfigError as error:
        return str(error)
    return ""


def searched(draw: random.Random, kind: str) -> SearchResult | None:
    """Return a random search under a framework's software; None where it refuses the question."""
    asked: dict[str, Any] = {
        "model": draw.choice([one for one in model_names() if not never(kind, model(one))]),
        "accelerator": draw.choice(DEVICES),
        "num_gpus": draw.choice((8, 16, 48, 64, 256)),
        "global_batch_size": draw.choice((64, 96, 512)),
        "seq_length": draw.choice((4096, 8192)),
        "schedule": draw.choice(("all", None)),
        "fits_with": draw.choice((0.0, 0.9)),
        "micro_batch_size": (1, 2),
    }
    try:
        # As old as the last of its software that reads such a file.
        return search(**asked, stack=kind, date=form_of(kind).until or None)
    except ConfigError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_offered_under_its_name_is_written_and_read_back(kind: str) -> None:
    draw = random.Random(FORMATS.index(kind))
    written, refused = 0, list[str]()
    for _ in range(SEARCHES):
        result = searched(draw, kind)
        if result is None or not result.best:
            continue
        shape, last = result.question.model, len(result.best)
        for place in sorted({draw.randint(1, last) for _ in range(EACH)}):
            try:
                found = emission(kind, result, place)
            except ConfigError as error:
                refused.append(str(error))
                continue
            written += 1
            unsaid = [note for note in found.notes if note.startswith("no key of the file says")]
            names = {one.partition("=")[0] for note in unsaid for one in _facts(note)}
            assert names <= NO_WORD.get(kind, set()), (shape.name, found.candidate.layout)
            own = answered(result.question, found.candidate)
            assert "not run" not in [one.what for one in own.assumed]
    assert written >= 8
    assert [one for one in refused if not one.startswith(OF_FILES)] == []


def _facts(note: str) -> list[str]:
    return note.partition(": ")[2].split(", ")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_is_refused_with_the_words_of_the_answer(kind: str) -> None:
    """The sentence of an answer and of a written file is one."""
    said = Said(stack=kind)
    batch = Batch(global_batch_size=64, seq_length=4096)
    tried = (
        Layout(pp=4, schedule="zb-h2"),
        Layout(pp=4, vpp=2, schedule="v-half"),
        Layout(dp=8, pp=2, zero_stage=3, schedule="v-min", vpp=2),
    )
    for layout in tried:
        limits = ability_of(said).lacking(layout, batch)
        assert limits
        first = next(iter(limits.values()))
        with pytest.raises(ConfigError) as refusal:
            emitted(kind, model("llama3-8b"), layout, batch)
        assert str(refusal.value).startswith(first.sentence(kind, asked_values(layout, batch)))


@pytest.mark.parametrize(
    ("device", "kinds"),
    [
        ("tpu-v5p", set()),
        ("trainium2", set()),
        ("gaudi2", {"deepspeed"}),
        ("ascend-910b", {"megatron", "deepspeed"}),
        ("h100", set(FORMATS)),
        ("mi300x", set(FORMATS)),
    ],
)
def test_files_are_written_for_devices_on_which_they_start(device: str, kinds: set[str]) -> None:
    asked: dict[str, Any] = {"num_gpus": 8, "global_batch_size": 8, "seq_length": 4096}
    asked |= {"tp": 1, "cp": 1, "pp": 1, "fits_with": 0.0, "recompute": "full", "zero_stage": 3}
    result = search(model="llama3-8b", accelerator=device, **asked)
    assert result.question.accelerator == accelerator(device)
    for kind in FORMATS:
        if kind in kinds - {"nanotron", "nemo"}:
            assert emission(kind, result).text
        elif kind not in kinds:
            with pytest.raises(ConfigError, match=f"{kind} does not run on "):
                emission(kind, result)


@pytest.mark.parametrize(
    ("schedule", "vpp", "ends", "written_out"),
    [
        ("1f1b", 1, (8, 7), False),
        ("1f1b", 1, (2, 12), True),
        ("interleaved-1f1b", 2, (9, 7), True),
        ("interleaved-1f1b", 4, (5, 3), True),
        ("looped-bfs", 4, (0, 0), False),
        ("looped-bfs", 5, (0, 0), True),
        ("zb-v", 2, (5, 9), False),
        ("zb-v", 2, (0, 0), False),
        ("dualpipe-v", 2, (12, 4), True),
    ],
)
def test_torchtitan_is_told_any_cut_of_layers(
    schedule: str, vpp: int, ends: tuple[int, int], written_out: bool, tmp_path: Path
) -> None:
    layout = Layout(
        pp=4,
        vpp=vpp,
        schedule=schedule,
        first_stage_layers=ends[0],
        last_stage_layers=ends[1],
        dp=2,
        zero_stage=2,
    )
    path = tmp_path / "train.toml"
    batch = Batch(global_batch_size=64, seq_length=4096)
    path.write_text(emitted("torchtitan", model("llama3-8b"), layout, batch))
    assert ("module_fqns_per_model_part" in path.read_text()) is written_out
    assert completed(read_configuration(path), {"num_gpus": 8}) == (layout, batch)


@pytest.mark.parametrize("schedule", ["zb-v", "dualpipe-v", "interleaved-1f1b", "looped-bfs"])
@pytest.mark.parametrize("name", ["deepseek-v3", "llama3-405b", "gpt-oss-120b"])
def test_layers_that_do_not_divide_are_cut_as_the_answer_cuts_them(
    name: str, schedule: str, tmp_path: Path
) -> None:
    path = tmp_path / "train.toml"
    batch = Batch(global_batch_size=512, seq_length=4096)
    for pp, vpp in ((4, 2), (8, 2), (16, 2), (5, 2), (12, 2)):
        layout = Layout(pp=pp, vpp=vpp, schedule=schedule, dp=2, zero_stage=2)
        path.write_text(emitted("torchtitan", model(name), layout, batch))
        reading = read_configuration(path)
        reading.model = model(name)
        assert completed(reading, {"num_gpus": 2 * pp})[0] == layout
