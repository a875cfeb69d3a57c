"""Kinds of faults that counted draws of public files showed, in files written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.inputs.training_step import shape_named
from steptime.readers import completed
from steptime.readers.other_model import take_model


@pytest.mark.parametrize("letters", ["-c", "-lc", "-exc"])
def test_a_text_that_another_shell_runs_is_followed(letters: str, tmp_path: Path) -> None:
    text = (
        f'docker exec box bash {letters} "PORT=1 torchrun --nproc_per_node 4 pretrain_gpt.py '
        "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 1024 --bf16 "
        "--vocab-size 32000 --micro-batch-size 2 --global-batch-size 16 "
        '--max-position-embeddings 1024"\n'
    )
    layout, batch = completed(read(tmp_path, "run.sh", text), {})
    assert (layout.dp, batch.micro_batch_size, batch.seq_length) == (4, 2, 1024)


def test_a_word_that_a_program_puts_in_is_not_known(tmp_path: Path) -> None:
    text = (
        "data: !include data.yaml\ntensor_model_parallel_size: !env TP\nnum_layers: 4\n"
        "hidden_size: 512\nnum_attention_heads: 8\nseq_length: 1024\nvocab_size: 32000\n"
        "micro_batch_size: 2\nglobal_batch_size: 16\nbf16: true\n"
    )
    reading = read(tmp_path, "run.yaml", text)
    assert [one for one in reading.missing if one.startswith("tp: tensor_model_parallel_size")]
    layout, _ = completed(read(tmp_path, "run.yaml", text, tp="2"), {"num_gpus": 8})
    assert (layout.tp, layout.dp) == (2, 4)


@pytest.mark.parametrize(
    ("name", "text", "program"),
    [
        (
            "own.yaml",
            "data: !include d.yaml\ntrainer:\n  train_batch_size: 8\n  mp: x\n",
            "Levanter",
        ),
        (
            "own.sh",
            "python examples/finetuning.py --seq-length 8192 --micro-batch-size 1 --bf16 "
            "--mixed-precision --base-model $HOME/own --low-cpu-fsdp --sharding-strategy X\n",
            "llm-recipes",
        ),
    ],
)
def test_a_program_that_is_not_read_is_named(
    name: str, text: str, program: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=f"is a file of {program}, which is not read"):
        read(tmp_path, name, text)


def test_a_tokenizer_s_section_pads_the_vocabulary(tmp_path: Path) -> None:
    text = (
        "system:\n  tensor_model_parallel_size: 8\n  precision:\n    bf16: true\nmodel:\n"
        "  num_layers: 4\n  hidden_size: 1024\n  num_attention_heads: 8\n  seq_length: 1024\n"
        "  micro_batch_size: 1\n  global_batch_size: 8\ndata:\n  tokenizer:\n"
        "    vocab_size: 151851\n    make_vocab_size_divisible_by: 64\n"
    )
    reading = read(tmp_path, "run.yaml", text)
    assert reading.model is not None
    # By hand: 297 x 64 x 8 is the first above 151851.
    assert reading.model.vocab_size == 152064


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("training_objective: 'causal_lm'\nengram: 'remat'", ""),
        ("training_objective: 'block_diffusion'", "'block_diffusion' is not understood"),
        ("engram_layers: [1, 5]", "layers of n-grams"),
    ],
)
def test_maxtext_s_defaults_written_out_change_nothing(line: str, why: str, tmp_path: Path) -> None:
    text = (
        "model_name: 'llama3-8b'\nper_device_batch_size: 2\nmax_target_length: 4096\n"
        f"ici_fsdp_parallelism: 8\n{line}\n"
    )
    if why:
        with pytest.raises(ConfigError, match=why):
            read(tmp_path, "own.yml", text)
        return
    reading = read(tmp_path, "own.yml", text)
    assert reading.value("seq_length") == 4096
    assert not [note for note in reading.notes if "engram" in note or "objective" in note]


def test_who_names_the_model_is_told_what_was_not_understood(tmp_path: Path) -> None:
    text = (
        "micro_batch_size: 2\nglobal_batch_size: 16\nseq_length: 1024\nbf16: true\n"
        "tensor_model_parallel_size: 2\nown_parallel_mode: strange\nnum_own_experts: 8\n"
    )
    reading = read(tmp_path, "run.yaml", text)
    assert reading.model is None
    assert not [note for note in reading.notes if "own_parallel_mode" in note]
    take_model(reading, shape_named("llama3-8b"))
    # The count of experts is the model's, and the model is another now.
    assert reading.notes[0] == "NOT UNDERSTOOD, may change the answer: own_parallel_mode"
    take_model(reading, shape_named("llama3-70b"))
    assert sum("own_parallel_mode" in note for note in reading.notes) == 1


@pytest.mark.parametrize(
    ("vocabulary", "refused"),
    [
        ("--vocab-file: /data/vocab.txt", True),
        ("--vocab-file: ${DATA_PATH}/own/VOCAB.TXT", True),
        ("--vocab-file: /data/vocab.txt\n--tokenizer-type: OwnTokenizer", False),
        ("--vocab-file: /data/gpt2-vocab.json\n--merge-file: /data/gpt2-merges.txt", False),
    ],
)
def test_word_pieces_without_a_tokenizer_are_an_encoder_s(
    vocabulary: str, refused: bool, tmp_path: Path
) -> None:
    text = (
        "--num-layers: 4\n--hidden-size: 512\n--num-attention-heads: 8\n--seq-length: 512\n"
        "--max-position-embeddings: 512\n--micro-batch-size: 4\n--global-batch-size: 32\n"
        f"--bf16: true\n{vocabulary}\n"
    )
    if refused:
        with pytest.raises(ConfigError, match="the program that trains an encoder"):
            read(tmp_path, "model_config.yaml", text, vocab_size="32000")
        return
    reading = read(tmp_path, "model_config.yaml", text, vocab_size="32000")
    assert reading.model is not None
    # Up to a multiple of 128.
    assert reading.model.vocab_size == 32000


@pytest.mark.parametrize(
    ("gpus", "right"),
    # Four pipeline stages leave 2, 8 and 32 data-parallel ranks; no rank holds less than an expert.
    [(8, 2), (32, 8), (128, 16)],
)
def test_megablocks_shares_experts_out_over_all_data_ranks(
    gpus: int, right: int, tmp_path: Path
) -> None:
    text = (
        "torchrun --nproc_per_node 8 --nnodes $N pretrain_gpt.py --num-layers 8 --hidden-size 512 "
        "--num-attention-heads 8 --seq-length 1024 --max-position-embeddings 1024 --bf16 "
        "--vocab-size 32000 --micro-batch-size 1 --global-batch-size 256 "
        "--pipeline-model-parallel-size 4 --moe-num-experts 16 --moe-top-k 1 "
        "--moe-expert-model-parallelism\n"
    )
    reading = read(tmp_path, "run.sh", text)
    layout, _ = completed(reading, {"num_gpus": gpus})
    assert (layout.dp, layout.ep) == (gpus // 4, right)
    assert not [note for note in reading.notes if "whole on each rank" in note]


def test_an_image_model_of_nemo_is_refused_by_name(tmp_path: Path) -> None:
    text = (
        "trainer:\n  num_nodes: 4\n  devices: 8\nmodel:\n  micro_batch_size: 4\n"
        "  global_batch_size: 128\n  unet_type: base\n  unet:\n    embed_dim: 512\n"
    )
    with pytest.raises(ConfigError, match=r"model.unet_type = 'base': an image model"):
        read(tmp_path, "own.yaml", text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("base_model: NousResearch/Meta-Llama-3-8B\ngradient_checkpointing: offload\n", "the host"),
        (
            "model:\n  name_or_path: mistralai/Mixtral-8x22B-v0.1\n  fsdp_config:\n"
            "    xla_fsdp_grad_ckpt: true\ngradient_accumulation_steps: 1\n",
            "by PyTorch/XLA is not modelled",
        ),
    ],
)
def test_words_that_change_the_answer_are_refused_by_name(
    text: str, why: str, tmp_path: Path
) -> None:
    own = "micro_batch_size: 1\nsequence_len: 4096\nnum_epochs: 1\n" if "base" in text else ""
    own = own or "per_device_train_batch_size: 1\n"
    with pytest.raises(ConfigError, match=why):
        read(tmp_path, "own.yaml", text + own)
