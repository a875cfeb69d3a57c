"""Flags of other tools, written out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import model
from steptime.planning.emit import emitted
from steptime.planning.emit.environment import environment_lines
from steptime.readers import read_configuration

BATCH = Batch(global_batch_size=64, seq_length=8192)


@pytest.mark.parametrize(
    ("layout", "there", "not_there"),
    [
        (Layout(), (), ("--num-virtual", "--account-for", "--sequence-parallel", "--use-meg")),
        # 32 layers over 4 stages of 2 chunks: 4 each.
        (
            Layout(pp=4, vpp=2, schedule="interleaved-1f1b"),
            ("--num-virtual-stages-per-pipeline-rank 2",),
            ("--account-for",),
        ),
        (Layout(pp=4), (), ("--num-virtual", "--account-for")),
        (Layout(tp=2, sequence_parallel=True), ("--sequence-parallel",), ()),
        (Layout(dp=2, zero_stage=1), ("--use-distributed-optimizer",), ("--use-megatron-fsdp",)),
        (Layout(dp=2, zero_stage=0), (), ("--use-distributed-optimizer", "--use-megatron-fsdp")),
        (
            Layout(dp=2, zero_stage=3),
            ("--use-megatron-fsdp", "--data-parallel-sharding-strategy optim_grads_params"),
            (),
        ),
        (Layout(recompute="full"), ("--recompute-granularity full",), ()),
        (Layout(recompute="none"), (), ("--recompute",)),
    ],
)
def test_megatron_flags_by_hand(
    layout: Layout, there: tuple[str, ...], not_there: tuple[str, ...]
) -> None:
    lines = emitted("megatron", model("llama3-8b"), layout, BATCH).splitlines()
    lines = [line.strip(" \\") for line in lines]
    for flag in there:
        assert flag in lines
    for flag in not_there:
        assert not [line for line in lines if line.startswith(flag)]


def test_stages_that_layers_do_not_fill_count_embedding_and_loss() -> None:
    # 126 layers and 2 more, over 16 stages: 8 each.
    lines = emitted("megatron", model("llama3-405b"), Layout(pp=16), BATCH).splitlines()
    lines = [line.strip(" \\") for line in lines]
    assert "--account-for-embedding-in-pipeline-split" in lines
    assert "--account-for-loss-in-pipeline-split" in lines


def test_torchtitan_chunks_by_hand() -> None:
    interleaved = Layout(pp=4, vpp=2, schedule="interleaved-1f1b", zero_stage=0)
    text = emitted("torchtitan", model("llama3-8b"), interleaved, BATCH)
    # 32 layers over 8 chunks.
    assert "pipeline_parallel_layers_per_stage = 4\n" in text
    plain = emitted("torchtitan", model("llama3-8b"), Layout(pp=4, zero_stage=0), BATCH)
    assert "layers_per_stage" not in plain
    assert "pipeline_parallel_schedule" in plain
    alone = emitted("torchtitan", model("llama3-8b"), Layout(zero_stage=0), BATCH)
    assert "pipeline_parallel_schedule" not in alone


def test_a_trainer_is_told_to_build_the_model_from_its_configuration() -> None:
    """A folder that holds a config.json alone has no weights to load."""
    text = emitted("deepspeed", model("llama3-8b"), Layout(dp=8, zero_stage=3), BATCH)
    assert "--config_name model " in text
    assert "--model_name_or_path" not in text
    assert "--do_train" in text
    assert "# YOUR_TOKENIZER and YOUR_DATASET are placeholders" in text


def test_the_tokenizer_counts_one_entry_beside_the_flag(tmp_path: Path) -> None:
    text = emitted("megatron", model("llama3-8b"), Layout(tp=2), BATCH)
    # 128,255 and the end of a document are 128,256, in Megatron-LM from 2023-04 to 2026-04; later
    # 128,255 are padded to the same 501 x 128 x 2.
    assert "--vocab-size 128255 " in text
    assert "--tokenizer-type NullTokenizer " in text
    assert "--make-vocab-size-divisible-by 128 " in text
    path = tmp_path / "emitted.sh"
    path.write_text(text)
    found = read_configuration(path)
    assert found.model is not None
    assert found.model.vocab_size == 128256
    path.write_text(text.replace("NullTokenizer", "TikTokenizer"))
    other = read_configuration(path)
    assert other.model is not None
    assert other.model.vocab_size == 128256
    path.write_text(text.replace("128255", "128256"))
    more = read_configuration(path)
    assert more.model is not None
    assert more.model.vocab_size == 128256 + 256


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        (Layout(tp=2, dp=4), "export CUDA_DEVICE_MAX_CONNECTIONS=1"),
        (Layout(cp=2, dp=4), "export CUDA_DEVICE_MAX_CONNECTIONS=1"),
        (Layout(dp=8, zero_stage=3), "unset CUDA_DEVICE_MAX_CONNECTIONS"),
        (Layout(tp=2, dp=4, zero_stage=2), "unset CUDA_DEVICE_MAX_CONNECTIONS"),
        (Layout(dp=8), ""),
        (Layout(pp=8, zero_stage=0), ""),
    ],
)
def test_megatron_has_the_queues_of_work_that_it_asks_for(layout: Layout, line: str) -> None:
    """megatronlm2026, arguments.py: one beside tensor or context ranks, more with its FSDP."""
    text = emitted("megatron", model("llama3-8b"), layout, BATCH)
    assert line in text
    assert text.count("CUDA_DEVICE_MAX_CONNECTIONS") == bool(line)
    assert ("--ckpt-format fsdp_dtensor" in text) == (layout.zero_stage > 1)
    assert environment_lines(layout, 10)[1:] == ([line] if layout.zero_stage > 1 else [])


@pytest.mark.parametrize(
    ("name", "family", "wide"),
    [
        # gemma2024two: layers take turns, the first with a window.
        ("gemma2-9b", "gemma2", "10" * 21),
        ("gemma2-2b", "gemma2", "10" * 13),
        # gemma2025, Sec. 2.1: five in six; of 26 layers the last two have one as well.
        ("gemma3-1b", "qwen3", None),
        ("llama3-8b", "llama", ""),
    ],
)
def test_a_trainer_builds_the_windows(name: str, family: str, wide: str | None) -> None:
    """transformers2026, configuration_qwen3.py: use_sliding_window; a Llama has no windows."""
    text = emitted("deepspeed", model(name), Layout(dp=8, zero_stage=3), BATCH)
    keys = json.loads(text.partition("config.json <<'EOF'\n")[2].partition("\nEOF")[0])
    assert keys["model_type"] == family
    told = ["01"[one == "sliding_attention"] for one in keys.get("layer_types", [])]
    assert wide is None or "".join(told) == wide
    assert told.count("1") == model(name).windowed_layers
    assert keys.get("use_sliding_window", False) == (family == "qwen3")
    assert ("hidden_activation" in keys, "hidden_act" in keys)[family != "gemma2"]


def test_windows_that_no_trainer_builds_are_refused() -> None:
    plain = model("llama3-8b")
    layout = Layout(dp=8, zero_stage=3)
    some = replace(plain, window_size=512, windowed_layers=16)
    with pytest.raises(ConfigError, match="has windows in 16 of 32 layers"):
        emitted("deepspeed", some, layout, BATCH)
    every = replace(some, windowed_layers=32)
    assert '"model_type": "mistral"' in emitted("deepspeed", every, layout, BATCH)
    mixture = replace(model("qwen3-30b-a3b"), window_size=512, windowed_layers=16)
    with pytest.raises(ConfigError, match="a mixture has a window in every layer or in none"):
        emitted("deepspeed", mixture, layout, BATCH)


def test_no_overlap_is_asked_for_without_sequence_parallelism() -> None:
    """megatronlm2026, arguments.py: --tp-comm-overlap is refused without --sequence-parallel."""
    for layout, asks in (
        (Layout(tp=2, sequence_parallel=True), True),
        (Layout(tp=2, sequence_parallel=False), False),
        (Layout(), False),
    ):
        text = emitted("megatron", model("llama3-8b"), layout, BATCH, {"overlap_tp": 1.0})
        assert ("--tp-comm-overlap" in text) == asks


def test_torchtitan_cuts_messages_only_where_it_compiles() -> None:
    """torchtitan2025, config/configs.py: async tensor parallelism asks for compile."""
    layout = Layout(tp=2, sequence_parallel=True, zero_stage=3)
    facts = {"overlap_tp": 1.0, "eager": 1.0}
    with pytest.raises(ConfigError, match="leave out --fact eager=1 or --fact overlap_tp=1"):
        emitted("torchtitan", model("llama3-8b"), layout, BATCH, facts)
    plain = replace(layout, tp=1, sequence_parallel=False)
    assert "tensor_parallel = false" in emitted(
        "torchtitan", model("llama3-8b"), plain, BATCH, facts
    )
