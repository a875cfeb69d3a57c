"""Scripts of OLMo-core, read without being run; our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import completed, read_configuration

WHOLE = """
DEFAULT_LENGTH = 8192
BATCH = 4 * 1024 * 1024


def build_config(opts, overrides):
    length = opts.sequence_length or DEFAULT_LENGTH
    tokens = TokenizerConfig.dolma2()
    model = TransformerConfig.olmo3_7B(vocab_size=tokens.padded_vocab_size())
    loader = NumpyDataLoaderConfig(global_batch_size=BATCH, seed=1)
    train = TransformerTrainModuleConfig(
        rank_microbatch_size=2 * length,
        max_sequence_length=length,
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.fsdp, param_dtype=DType.bfloat16
        ),
        ac_config=TransformerActivationCheckpointingConfig(
            mode=TransformerActivationCheckpointingMode.full
        ),
    )
    return ExperimentConfig(model=model, data_loader=loader, train_module=train).merge(overrides)
"""

PARTS = """
LENGTH = 4096


def build_model_config(common):
    return TransformerConfig.olmo2_13B(vocab_size=common.tokenizer.padded_vocab_size())


def build_train_module_config(common):
    return TransformerTrainModuleConfig(
        rank_microbatch_size=2 * common.max_sequence_length,
        max_sequence_length=common.max_sequence_length,
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.ddp, param_dtype=DType.bfloat16
        ),
    )


if __name__ == "__main__":
    builder = partial(
        build_config,
        global_batch_size=512 * LENGTH,
        max_sequence_length=LENGTH,
        model_config_builder=build_model_config,
        train_module_config_builder=build_train_module_config,
    )
    main(config_builder=builder)
"""


def test_a_script_of_olmo_core_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(WHOLE)
    reading = read_configuration(path)
    layout, batch = completed(reading, {"num_gpus": 32})
    assert reading.model is not None
    assert reading.model.name == "Olmo 3 7B"
    assert (layout.dp, layout.zero_stage, layout.recompute) == (32, 3, "full")
    assert (batch.global_batch_size, batch.micro_batch_size, batch.seq_length) == (512, 2, 8192)


def test_a_script_of_olmo_core_in_parts_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(PARTS)
    reading = read_configuration(path)
    layout, batch = completed(reading, {"num_gpus": 64})
    assert reading.model is not None
    assert reading.model.name == "OLMo 2 13B"
    assert (layout.dp, layout.zero_stage) == (64, 0)
    assert (batch.global_batch_size, batch.micro_batch_size) == (512, 2)


def test_the_low_precision_of_a_script_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    low = PARTS.replace(
        "        dp_config=", "        float8_config=Float8Config(ao=X()),\n        dp_config="
    )
    path.write_text(low)
    assert completed(read_configuration(path), {"num_gpus": 64})[0].precision == "fp8"
    path.write_text(low.replace("ao=X()", "enabled=False"))
    assert completed(read_configuration(path), {"num_gpus": 64})[0].precision == "bf16"


def test_ranks_of_experts_that_the_launcher_gives_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    ranks = "        ep_config=TransformerExpertParallelConfig(degree=-1),\n        dp_config="
    path.write_text(PARTS.replace("        dp_config=", ranks))
    missing = read_configuration(path).missing
    assert any(gap.startswith("ep: train_module.ep_config.degree = -1") for gap in missing)


# --- refusal


def test_another_size_of_the_same_name_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(PARTS.replace("olmo2_13B", "olmo2_1B"))
    assert any(
        gap.startswith("model: no shape is known") for gap in read_configuration(path).missing
    )


def test_recomputation_to_a_budget_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(WHOLE.replace("Mode.full", "Mode.budget"))
    with pytest.raises(ConfigError, match="up to a budget of memory"):
        read_configuration(path)


def test_heads_that_change_take_their_groups_along_and_the_compiler_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    text = PARTS.replace(
        "    return TransformerConfig.olmo2_13B(",
        "    made = TransformerConfig.olmo2_7B(",
    ).replace(
        "padded_vocab_size())\n",
        "padded_vocab_size())\n    made.block.attention.n_heads = 16\n    return made\n",
    )
    path.write_text(
        text.replace(
            "max_sequence_length=common.max_sequence_length,",
            "max_sequence_length=common.dataset.effective_sequence_length, compile_model=True,",
        )
    )
    reading = read_configuration(path)
    shape = reading.model
    assert shape is not None
    assert (shape.num_attention_heads, shape.num_query_groups, shape.head_dim) == (16, 16, 256)
    assert reading.value("seq_length") == 4096
    assert {one.name: one.value for one in reading.software_facts} == {"eager": 0.0}
    path.write_text(PARTS)
    assert {one.value for one in read_configuration(path).software_facts} == {1.0}


CHOSEN = WHOLE.replace("mode=TransformerActivationCheckpointingMode.full", "mode={}")


def test_the_modules_that_it_computes_again_are_facts(tmp_path: Path) -> None:
    mode = 'TransformerActivationCheckpointingMode.selected_modules, modules=["blocks.*.{}"]'
    path = tmp_path / "own.py"
    path.write_text(CHOSEN.format(mode.format("feed_forward")))
    reading = read_configuration(path)
    assert completed(reading, {"num_gpus": 64})[0].recompute == "none"
    assert {one.name: one.value for one in reading.software_facts}["recompute_mlp"] == 1.0
    path.write_text(CHOSEN.format(mode.format("attention")))
    with pytest.raises(ConfigError, match=r"blocks\.\*\.attention.* is not understood; known: b"):
        read_configuration(path)
    path.write_text(CHOSEN.format(mode.partition("[")[0] + "names()"))
    asked = read_configuration(path)
    assert any(gap.startswith("recompute: the modules of") for gap in asked.missing)
    asked = read_configuration(path, {"recompute": "none"})
    assert not any(gap.startswith("recompute") for gap in asked.missing)


def test_its_operations_are_chosen_as_torchtitan_s(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(CHOSEN.format("TransformerActivationCheckpointingMode.selected_ops"))
    reading = read_configuration(path)
    assert completed(reading, {"num_gpus": 64})[0].recompute == "selective"
    assert {one.name: one.value for one in reading.software_facts}["recompute_per_op"] == 1.0


def test_a_batch_that_is_a_power_of_two_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(WHOLE.replace("4 * 1024 * 1024", "2**21"))
    assert read_configuration(path).value("global_batch_size") == 2**21 // 8192
