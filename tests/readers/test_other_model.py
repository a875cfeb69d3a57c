"""A launch file asked about another model than its own: nothing of its own is left."""

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.training_step import shape_named
from steptime.planning.explained import explain
from steptime.readers import Reading, read_configuration
from steptime.readers.other_model import take_model

_BASE = (
    "--num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 "
    "--seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --vocab-size 128256 --bf16 "
    "--world-size 16 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 "
    "--max-position-embeddings 4096 "
)
_EACH = "--num-layers-per-virtual-pipeline-stage "
_BLOCK = "--recompute-granularity full --recompute-method block --recompute-num-layers 2 "


def _read(folder: Path, flags: str, model: str = "llama3-8b") -> Reading:
    path = folder / "run.args"
    path.write_text(_BASE + flags)
    reading = read_configuration(path)
    take_model(reading, shape_named(model))
    return reading


def test_nothing_of_the_file_s_own_model_is_told(tmp_path: Path) -> None:
    reading = _read(tmp_path, "")
    told = {*reading.facts, *(one.name for one in reading.assumptions)}
    assert not told & {"num_layers", "hidden_size", "vocab_size", "padded vocabulary"}
    assert reading.value("model") == "Llama 3 8B"
    assert reading.value("tp") == 2


@pytest.mark.parametrize(
    ("each", "chunks", "schedule"), [(4, 2, "interleaved-1f1b"), (2, 4, "interleaved-1f1b")]
)
def test_chunks_are_those_of_the_model_asked(
    each: int, chunks: int, schedule: str, tmp_path: Path
) -> None:
    reading = _read(tmp_path, f"{_EACH}{each} {_BLOCK}")
    # 32 layers on 4 ranks: 8 of each, in chunks of so many.
    assert reading.value("vpp") == chunks
    assert reading.value("schedule") == schedule
    facts = {one.name: one.value for one in reading.software_facts}
    assert facts["recompute_layers"] == 2 * chunks


def test_chunks_that_the_model_does_not_fill_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="do not divide the 32 layers of --model Llama 3 8B"):
        _read(tmp_path, f"{_EACH}5")


def test_stages_that_are_written_out_for_another_model_are_refused(tmp_path: Path) -> None:
    cut = '--pipeline-model-parallel-layout "Et*20|t*20|t*20|t*20L"'
    with pytest.raises(ConfigError, match="cuts 80 layers, but --model Llama 3 8B has 32"):
        _read(tmp_path, cut)


def test_answer_of_another_model_does_not_say_that_the_file_names_one(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\n'
        "seq_len = 8192\n[parallelism]\ndata_parallel_shard_degree = 8\n"
    )
    told = explain(path, accelerator="h100", model="llama2-13b")
    assert told.own.step.model.name == "Llama 2 13B"
    assert not [one for one in told.own.assumed if one.what == "model"]
