"""One file of each format that is read: our own, with the keys that the framework's have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from formats_read import READ

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.inputs.presets import model as preset
from steptime.inputs.stack import families, stack_names
from steptime.readers import completed, read_configuration
from steptime.readers.keys.formats import format_named, formats

FILES = Path(__file__).parents[1] / "formats"
GIVEN = {"primus-megatron.yaml": {"PRIMUS_TEAM": "x"}}


# --- published: what the files write down


@pytest.mark.parametrize("row", READ, ids=[row[0] for row in READ])
def test_each_format_is_read_as_its_software_runs_it(row: tuple[Any, ...]) -> None:
    name, asked, kind, software, model, layout, batch = row
    reading = read_configuration(FILES / name, GIVEN.get(name))
    assert (reading.kind, reading.software) == (kind, software)
    if not model and reading.model is None:
        reading.model = preset("llama3-8b")
    found, total = completed(reading, asked)
    assert found == Layout(**layout)
    assert (total.global_batch_size, total.micro_batch_size, total.seq_length) == batch
    if model:
        assert reading.model is not None
        assert reading.model.name == model
    # The files hold nothing that their format does not know.
    assert [note for note in reading.notes if note.startswith("not used")] == []


def test_every_format_has_a_file_that_is_read() -> None:
    here = {row[2] for row in READ} | {"megatron", "nemo", "nanotron", "gpt-neox", "deepspeed"}
    assert {one.kind for one in formats()} - here == set()


@pytest.mark.parametrize("kind", [one.kind for one in formats()])
def test_the_software_of_each_format_is_one_whose_facts_are_known(kind: str) -> None:
    software = format_named(kind).software
    # Primus starts the software of others, which its files name.
    assert software in (*families(), *stack_names()) or (kind, software) == ("primus", "")


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()))
def test_the_software_of_each_file_is_one_whose_facts_are_known(name: str) -> None:
    reading = read_configuration(FILES / name, GIVEN.get(name))
    assert reading.software in (*families(), *stack_names())


# --- refusal


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("llama-factory.yaml", "type: full", "type: lora", "finetuning_type = lora: only a part"),
        ("llama-factory.yaml", "stage: sft", "stage: dpo", "stage = dpo: post-training"),
        ("axolotl-full.yaml", "load_in_8bit: false", "load_in_8bit: true", "8bit = True: weights"),
        ("accelerate-deepspeed.yaml", "device: none", "device: cpu", "kept on the host"),
        ("accelerate-deepspeed.yaml", "type: DEEPSPEED", "type: TPU", "'TPU' is not understood"),
        ("maxtext.yml", "remat_policy: full", "remat_policy: odd", "'odd' is not understood"),
        ("maxtext.yml", "ici_tensor", "ici_fsdp_transpose", "transpose_parallelism = 4: this"),
        ("nemo2.yaml", "bf16-mixed", "e5m2", "precision 'e5m2' is not understood"),
        ("primus-megatron.yaml", "framework: megatron", "framework: other", "'other' of a Primus"),
        ("bridge.yaml", "gated_linear_unit", "linear_attention_freq", "linear attention is not"),
        ("mindspeed.sh", "dualpipev", "other", "schedules_method 'other' is not modelled"),
        ("moe-deepspeed.sh", "standard", "residual", "'residual' is not understood"),
    ],
)
def test_what_changes_the_answer_is_refused_by_its_name(
    name: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    text = (FILES / name).read_text()
    assert old in text
    path = tmp_path / name
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        completed(read_configuration(path), {"num_gpus": 64, "micro_batch_size": 1})


def test_a_key_that_is_told_comes_before_one_that_nobody_knows(tmp_path: Path) -> None:
    text = (FILES / "bridge.yaml").read_text()
    path = tmp_path / "a.yaml"
    path.write_text(text.replace("train:", "  mtp_num_layers: 1\n  flux: 3\ntrain:"))
    notes = read_configuration(path).notes
    assert notes[0] == "model.mtp_num_layers: multi-token-prediction layers are not counted"
    assert notes[-1] == "not used: model.flux"


def test_a_deepspeed_file_that_is_not_here_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text((FILES / "trainer.sh").read_text())
    with pytest.raises(ConfigError, match=r"zero_stage: .*zero2.json' is not beside this file"):
        completed(read_configuration(path), {})


def test_a_misspelt_degree_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\n'
        "seq_len = 8192\n[parallelism]\ntensor_paralel_degree = 8\n"
    )
    notes = read_configuration(path).notes
    assert notes[0] == (
        "NOT UNDERSTOOD, may change the answer: parallelism.tensor_paralel_degree "
        "(did you mean parallelism.tensor_parallel_degree?)"
    )
