"""What a launch file rules out is no cause of a gap, and a change does what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.answer.answer import answer
from steptime.answer.question import Question
from steptime.inputs.presets import accelerator
from steptime.inputs.said import Said
from steptime.planning.cause_flags import causes_known, flag_of
from steptime.planning.causes import Asker
from steptime.planning.explain import step_of
from steptime.planning.explained import comparison
from steptime.readers import read_configuration
from steptime.readers.common.precision import ruled_out

from .test_measured import LLAMA_70B, MIXTRAL, beside

TP_8_PP_4 = (
    "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --bf16 --world-size 128 "
)
DENSE = LLAMA_70B.replace("--overlap-grad-reduce --overlap-param-gather ", "") + TP_8_PP_4
EXPERTS = MIXTRAL + (
    "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --overlap-grad-reduce "
    "--expert-model-parallel-size 8 --moe-token-dispatcher-type alltoall "
    "--recompute-granularity selective "
)
TITAN = """
[model]
name = "llama3"
flavor = "70B"
[training]
local_batch_size = 8
seq_len = 8192
[parallelism]
tensor_parallel_degree = 8
[activation_checkpoint]
mode = "full"
[compile]
enable = {compiled}
"""


def asker(path: Path, date: str | None = None, gpus: int | None = None) -> Asker:
    """Return who asks about a launch file."""
    reading = read_configuration(path)
    given = {} if gpus is None else {"num_gpus": gpus}
    own = answer(Question(step=step_of(reading, accelerator("h100"), given, Said(date=date))))
    return Asker(own=own, software=reading.software, ruled_out=ruled_out(reading))


def words(folder: Path, text: str, date: str | None = None) -> Asker:
    """Return who asks about arguments of Megatron-LM."""
    path = folder / "run.args"
    path.write_text(text)
    return asker(path, date)


def titan(folder: Path, compiled: str) -> Asker:
    """Return who asks about a file of torchtitan."""
    path = folder / "run.toml"
    path.write_text(TITAN.format(compiled=compiled))
    return asker(path, gpus=256)


def left(one: Asker) -> set[str]:
    """Return the causes that nothing rules out."""
    return {name for name, entry in causes_known().items() if not one.rules_out(name, entry)}


# --- published


def test_what_megatron_does_by_default_is_ruled_out(tmp_path: Path) -> None:
    """megatronlm2026, transformer_config.py: Transformer Engine, no recomputation, sends overlap.

    Overlap of tensor parallelism and of gradients is off by default, so that it is in the answer.
    """
    assert left(words(tmp_path, DENSE)) == {"attention", "exchange", "experts", "network"}
    assert "attention" not in left(words(tmp_path, f"{DENSE} --use-flash-attn"))
    assert "eager" in left(words(tmp_path, f"{DENSE} --transformer-impl local"))
    assert "sends" not in left(words(tmp_path, f"{DENSE} --no-overlap-p2p-communication"))


def test_torchtitan_never_stores_scores(tmp_path: Path) -> None:
    """torchtitan2025, models/common/attention.py: fused kernels of PyTorch come first."""
    for compiled in ("true", "false"):
        assert not left(titan(tmp_path, compiled)) & {"attention", "eager", "recompute"}


def test_flags_come_with_what_their_software_asks_for(tmp_path: Path) -> None:
    """megatronlm2026, arguments.py, and torchtitan2025, config/configs.py: what they refuse."""
    plain = words(tmp_path, DENSE)
    assert plain.flag("tensor") == "--tp-comm-overlap"
    assert plain.flag("gradients") == "--overlap-grad-reduce --overlap-param-gather"
    loose = DENSE.replace("--sequence-parallel ", "").replace("--use-distributed-optimizer ", "")
    bare = words(tmp_path, loose)
    assert bare.flag("tensor") == ""
    assert bare.flag("gradients") == "--overlap-grad-reduce"
    assert titan(tmp_path, "true").flag("tensor") == "enable_async_tensor_parallel = true"
    assert titan(tmp_path, "false").flag("tensor") == ""


def test_deepspeed_that_overlaps_is_not_told_to(tmp_path: Path) -> None:
    path = tmp_path / "ds_config.json"
    config = {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "seq_length": 4096}
    config |= {"bf16": {"enabled": True}, "model": "meta-llama/Meta-Llama-3-8B"}
    found = []
    for zero in ({"stage": 2}, {"stage": 2, "overlap_comm": True}):
        path.write_text(json.dumps(config | {"num_gpus": 64, "zero_optimization": zero}))
        found.append("gradients" in ruled_out(read_configuration(path)))
    assert found == [False, True]


# --- invariant


FLAGGED = sorted(name for name in causes_known() if flag_of(name, "megatron").startswith("--"))


@pytest.mark.parametrize("name", FLAGGED)
@pytest.mark.parametrize("base", [DENSE, EXPERTS])
def test_a_file_with_the_flag_of_a_cause_rules_it_out(name: str, base: str, tmp_path: Path) -> None:
    flag = flag_of(name, "megatron")
    without = " ".join(base.split())
    for word in flag.split():
        if word.startswith("--"):
            # The flag itself comes once.
            without = without.replace(f"{word} alltoall", "").replace(f"{word} selective", "")
    assert name not in left(words(tmp_path, f"{without} {flag}"))


@pytest.mark.parametrize(
    "base",
    [DENSE, EXPERTS, DENSE + "--recompute-granularity full --recompute-method uniform "],
)
def test_the_change_saves_what_is_said_of_it(base: str, tmp_path: Path) -> None:
    one = words(tmp_path, base)
    flag, gain = one.best_change()
    assert flag.startswith("--")
    kept = base
    for word in flag.split():
        for old in ("alltoall", "full --recompute-method uniform"):
            kept = kept.replace(f"{word} {old} ", "")
    after = words(tmp_path, f"{kept} {flag}").own
    assert 1.0 - after.step_time_s / one.own.step_time_s == pytest.approx(gain, rel=1e-9)


def test_old_experts_are_a_cause_until_a_date_is_said(tmp_path: Path) -> None:
    """megatronbridge2026: 26.06 is the first release in which experts do not wait for the host."""
    assert "experts" in left(words(tmp_path, EXPERTS))
    assert "experts" not in left(words(tmp_path, EXPERTS, date="2024-08"))


# --- refusal


def test_a_gap_is_not_put_down_to_what_the_file_rules_out(tmp_path: Path) -> None:
    base = LLAMA_70B + TP_8_PP_4
    slow = beside(tmp_path, f"{base} --use-flash-attn", "150")
    names = {one.name for one in slow.causes}
    assert names
    assert not names & {"recompute", "attention", "eager", "fp32"}
    assert "recompute" not in slow.change
    # Nor is what the file states said not to be so where a run is faster.
    path = tmp_path / "run.args"
    path.write_text(f"{base} --recompute-granularity full --recompute-method uniform")
    reading = read_configuration(path)
    own = answer(Question(step=step_of(reading, accelerator("h100"), {}, Said())))
    fast = comparison(reading, own, f"{0.8 * own.step_time_s}s", None)
    assert fast.inside is False
    assert not {one.name for one in fast.causes} & {"recompute", "tensor", "gradients"}
