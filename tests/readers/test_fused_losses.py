"""Losses that keep few logits, by the word of each trainer for them; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.readers import read_configuration

FUSED = {"logit_bytes": 0.25, "loss_bytes": 6.0}
TRAINER = (
    "model_name_or_path: Qwen/Qwen2.5-7B\nbf16: true\nper_device_train_batch_size: 2\n"
    "gradient_accumulation_steps: 4\nmax_length: 2048\nfsdp: full_shard\n"
)
FACTORY = (
    "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\ncutoff_len: 2048\n"
    "per_device_train_batch_size: 1\nbf16: true\ntemplate: qwen\n"
)
AXOLOTL = (
    "base_model: Qwen/Qwen2.5-7B\nsequence_len: 2048\nmicro_batch_size: 1\nbf16: true\n"
    "gradient_accumulation_steps: 4\n"
)
OLMO = """
def build_config(opts, overrides):
    model = TransformerConfig.olmo3_7B(vocab_size=100352)
    model.lm_head.loss_implementation = LMLossImplementation.{}
    train = TransformerTrainModuleConfig(
        rank_microbatch_size=16384,
        max_sequence_length=8192,
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.fsdp, param_dtype=DType.bfloat16
        ),
    )
    loader = NumpyDataLoaderConfig(global_batch_size=4194304, seed=1)
    return ExperimentConfig(model=model, data_loader=loader, train_module=train).merge(overrides)
"""


def facts(folder: Path, text: str, name: str = "run.yaml") -> dict[str, object]:
    path = folder / name
    path.write_text(text)
    return {one.name: one.value for one in read_configuration(path).software_facts}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (TRAINER, "use_liger_kernel: true", FUSED | {"gated_values": 3.0}),
        (TRAINER, "use_liger: true", FUSED | {"gated_values": 3.0}),
        (TRAINER, "use_liger_kernel: false", {}),
        (FACTORY, "enable_liger_kernel: true", FUSED | {"gated_values": 3.0}),
        (FACTORY, "enable_liger_kernel: false", {}),
        (AXOLOTL, "liger_fused_linear_cross_entropy: true", FUSED),
        (AXOLOTL, "liger_glu_activation: true", {"gated_values": 3.0}),
        (AXOLOTL, "chunked_cross_entropy: true", {"logit_bytes": 7.0}),
    ],
)
def test_a_fused_loss_says_what_it_keeps_of_the_logits(
    text: str, line: str, said: dict[str, float], tmp_path: Path
) -> None:
    plain = facts(tmp_path, text)
    assert not {"logit_bytes", "loss_bytes", "gated_values"} & {*plain}
    assert facts(tmp_path, text + line + "\n") == plain | said


def test_what_is_not_counted_of_a_loss_is_told(tmp_path: Path) -> None:
    for line in ("cut_cross_entropy: true", "liger_cross_entropy: true"):
        path = tmp_path / "run.yaml"
        path.write_text(AXOLOTL + line + "\n")
        assert line.partition(":")[0] in " ".join(read_configuration(path).notes)


def test_a_script_s_own_loss_is_read(tmp_path: Path) -> None:
    plain = facts(tmp_path, OLMO.format("default"), "run.py")
    assert "logit_bytes" not in plain
    assert facts(tmp_path, OLMO.format("fused_linear"), "run.py") == plain | FUSED
