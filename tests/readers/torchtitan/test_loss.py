"""What torchtitan's loss moves and keeps for each logit, by how a file has it computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.stack import stack_named
from steptime.readers import Reading, read_configuration

TOML = """
[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 1
seq_len = 8192
{training}
[parallelism]
data_parallel_shard_degree = 8
tensor_parallel_degree = {tp}
{parallelism}
[compile]
{compile}
"""
RECIPE = """
def own_8b() -> Trainer.Config:
    return Trainer.Config(
        loss={loss},
        model_spec=model_registry("8B"),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=8192, max_context_length=8192, steps=10
        ),
        compile=CompileConfig({compile}),
    )
"""
EAGER, COMPILED = (32.0, 14.0), (8.0, 4.0)


def told(reading: Reading) -> tuple[object, object]:
    facts = {one.name: one.value for one in reading.software_facts}
    return facts.get("loss_bytes"), facts.get("logit_bytes")


def toml(
    folder: Path, compile: str = "", training: str = "", parallelism: str = "", tp: int = 1
) -> Reading:
    path = folder / "run.toml"
    parts = {"compile": compile, "training": training, "parallelism": parallelism}
    path.write_text(TOML.format(tp=tp, **parts))
    return read_configuration(path)


@pytest.mark.parametrize(
    ("compile", "bytes_of"),
    [
        ("", EAGER),
        ("enable = false", EAGER),
        ("enable = true", COMPILED),
        ('enable = true\ncomponents = ["model", "loss"]', COMPILED),
        ('enable = true\ncomponents = ["loss"]', COMPILED),
        ('enable = true\ncomponents = ["model"]', EAGER),
        ("enable = true\ncomponents = []", EAGER),
    ],
)
def test_a_compiled_loss_keeps_its_logits_in_16_bits_alone(
    compile: str, bytes_of: tuple[float, float], tmp_path: Path
) -> None:
    assert told(toml(tmp_path, compile)) == bytes_of


def test_the_older_key_does_not_tell_of_the_loss(tmp_path: Path) -> None:
    assert told(toml(tmp_path, training="compile = true")) == (None, None)
    assert told(toml(tmp_path, training="compile = false")) == EAGER


@pytest.mark.parametrize(
    ("where", "line", "parts"),
    [
        ("parallelism", "disable_loss_parallel = true", 4),
        ("parallelism", "disable_loss_parallel = false", 1),
        ("training", "disable_loss_parallel = true", 4),
        ("training", "enable_loss_parallel = false", 4),
        ("training", "enable_loss_parallel = true", 1),
    ],
)
def test_a_rank_has_the_logits_of_all_where_the_loss_is_not_cut(
    where: str, line: str, parts: int, tmp_path: Path
) -> None:
    found = told(toml(tmp_path, "enable = true", tp=4, **{where: line}))
    assert found == (8.0 * parts, 4.0 * parts)
    # One rank has them all in any case.
    assert told(toml(tmp_path, "enable = true", tp=1, **{where: line})) == COMPILED


@pytest.mark.parametrize(
    ("loss", "compile", "bytes_of"),
    [
        ("CrossEntropyLoss.Config()", "enable=True", COMPILED),
        ("CrossEntropyLoss.Config()", "", EAGER),
        ("ChunkedLossWrapper.Config(loss_fn=CrossEntropyLoss.Config())", "", (32.0, 14.0 / 8)),
        ("ChunkedCELoss.Config()", "enable=True", (8.0, 4.0 / 8)),
        ("ChunkedCELoss.Config(num_chunks=4)", 'enable=True, components=["model"]', (32.0, 3.5)),
    ],
)
def test_a_loss_over_chunks_of_tokens_keeps_the_logits_of_one(
    loss: str, compile: str, bytes_of: tuple[float, float], tmp_path: Path
) -> None:
    folder = tmp_path / "torchtitan" / "models" / "llama3"
    folder.mkdir(parents=True)
    path = folder / "config_registry.py"
    path.write_text(RECIPE.format(loss=loss, compile=compile))
    assert told(read_configuration(path)) == bytes_of


def test_chunks_that_are_no_count_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "torchtitan" / "models" / "llama3"
    folder.mkdir(parents=True)
    path = folder / "config_registry.py"
    path.write_text(RECIPE.format(loss="ChunkedCELoss.Config(num_chunks=0)", compile=""))
    with pytest.raises(ConfigError, match=r"num_chunks must be .*got 0"):
        read_configuration(path)


def test_software_that_nobody_says_compiles_is_half_of_what_files_tell() -> None:
    table = data_table("formats/torchtitan.toml")["loss"]
    eager, compiled = table["eager"], table["compiled"]
    assert ((eager["loss_bytes"], eager["logit_bytes"]), tuple(compiled.values())) == (
        EAGER,
        COMPILED,
    )
    facts = stack_named("torchtitan-2024").facts
    for name in ("loss_bytes", "logit_bytes"):
        values = {(one.when, one.before): one.value for one in facts if one.name == name}
        narrow = ("8 bits and below",)
        assert values == {
            ((), ""): (eager[name] + compiled[name]) / 2.0,
            ((), "2025-04"): eager[name],
            (narrow, ""): compiled[name],
            (narrow, "2025-04"): eager[name],
        }
    own = {one.name: one.value for one in stack_named("torchtitan-2025").facts}
    assert (own["loss_bytes"], own["logit_bytes"]) == COMPILED
