"""Measured steps beside the answer: public reports whose cause is known, and what must hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator
from steptime.inputs.said import Said
from steptime.inputs.stack import FACT_NAMES
from steptime.planning.causes import causes_known
from steptime.planning.explain import step_of
from steptime.planning.explained import comparison
from steptime.planning.measured import Comparison, compared, measured
from steptime.readers import Reading, read_configuration

LLAMA_70B = (
    "--num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 "
    "--group-query-attention --num-query-groups 8 --seq-length 4096 --swiglu "
    "--max-position-embeddings 4096 --position-embedding-type rope --normalization RMSNorm "
    "--disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 32000 "
    "--micro-batch-size 1 --global-batch-size 512 --use-distributed-optimizer "
    "--overlap-grad-reduce --overlap-param-gather --sequence-parallel "
)
"""Llama 2 70B as Megatron-LM's arguments, our own."""

MIXTRAL = (
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
    "--group-query-attention --num-query-groups 8 --seq-length 4096 --swiglu "
    "--max-position-embeddings 4096 --position-embedding-type rope --normalization RMSNorm "
    "--disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 32000 --bf16 "
    "--num-experts 8 --moe-router-topk 2 --micro-batch-size 1 --global-batch-size 128 "
    "--use-distributed-optimizer --sequence-parallel --moe-grouped-gemm --world-size 16 "
)
"""Mixtral 8x7B as Megatron-LM's arguments, our own."""


def told(folder: Path, words: str, device: Accelerator | None = None) -> tuple[Reading, Prediction]:
    """Return what a file of arguments says, and the answer for it."""
    path = folder / "run.args"
    path.write_text(words)
    reading = read_configuration(path)
    step = step_of(reading, device or accelerator("h100"), {}, Said())
    return reading, answer(Question(step=step))


def beside(folder: Path, words: str, text: str, name: str = "h100") -> Comparison:
    """Return a measured step beside the answer for a file of arguments."""
    reading, own = told(folder, words, accelerator(name))
    return comparison(reading, own, text, None)


# --- published: reports with a known answer


def test_a_70b_without_bf16_is_told_to_run_in_32_bits(tmp_path: Path) -> None:
    """20 TFLOP/s on 16 A100 (NVIDIA/Megatron-LM, issue 1000): the arguments lack --bf16."""
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 "
    found = beside(tmp_path, words + "--world-size 16 --recompute-activations", "20", "a100")
    assert found.inside is False
    assert found.causes[0].name == "fp32"
    # The rate of 32-bit products explains more than any other cause.
    assert found.causes[0].gap_fraction > 0.5
    assert found.change == "--bf16"


def test_a_file_that_names_its_16_bits_is_not_told_to_name_them(tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 "
    words += "--world-size 16 --recompute-activations "
    for bits in ("--bf16", "--fp16"):
        slow = beside(tmp_path, words + bits, "20", "a100")
        assert slow.causes
        assert "fp32" not in {one.name for one in slow.causes}
        assert slow.change != "--bf16"
    assert "fp32" in {one.name for one in beside(tmp_path, words, "20", "a100").causes}


def test_a_70b_that_recomputes_every_layer_is_where_the_model_expects_it(tmp_path: Path) -> None:
    """296.5 TFLOP/s on 128 H100 with full recomputation (NVIDIA/Megatron-LM, issue 1031)."""
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --bf16 "
    words += "--world-size 128 --recompute-granularity full --recompute-method uniform "
    found = beside(tmp_path, words + "--recompute-num-layers 5", "296.5")
    assert found.inside is True
    assert found.causes == ()
    # Recomputing all layers is what costs most there.
    assert found.change == "--recompute-granularity selective"
    assert found.gain_fraction > 0.1


def test_experts_of_unequal_size_are_named_where_experts_are_slow(tmp_path: Path) -> None:
    """130, then 230 TFLOP/s on 16 H100 (NVIDIA/Megatron-LM, issue 756)."""
    first = MIXTRAL + "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 1 "
    found = beside(tmp_path, first + "--expert-model-parallel-size 4", "130")
    assert found.inside is False
    assert "capacity factor" in found.rest
    later = MIXTRAL + "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 "
    later += "--moe-token-dispatcher-type alltoall --expert-model-parallel-size 8"
    after = beside(tmp_path, later, "230")
    gaps = [abs(1.0 - one.measured.step_time_s / one.own.step_time_s) for one in (found, after)]
    assert gaps[1] < gaps[0]


def test_a_7b_on_40_gb_does_not_fit_whatever_the_sequence(tmp_path: Path) -> None:
    """States alone are over the device: 16 bytes a parameter, not sharded."""
    words = LLAMA_70B.replace("--num-layers 80", "--num-layers 32").replace("8192", "4096")
    words = words.replace("28672", "11008").replace("heads 64", "heads 32")
    words = words.replace("--seq-length 4096", "--seq-length 64").replace("groups 8", "groups 32")
    words = words.replace("--use-distributed-optimizer ", "").replace("--overlap-param-gather ", "")
    words += "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --bf16 --world-size 8"
    _, own = told(tmp_path, words, accelerator("a100-40gb"))
    assert not own.fits
    parts = own.memory.fullest.parts_bytes
    assert parts["activations"] < 0.05 * own.total_bytes
    assert max(parts, key=lambda name: parts[name]) == "optimizer"


def test_five_chunks_and_ten_cannot_be_told_apart_by_one_step(tmp_path: Path) -> None:
    """80 layers on 8 stages: ten chunks of one layer are the most that Megatron-LM takes."""
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --bf16 "
    words += "--world-size 128 --recompute-activations --num-virtual-stages-per-pipeline-rank "
    _, five = told(tmp_path, words + "5")
    _, ten = told(tmp_path, words + "10")
    # Idle time goes by the chunks (narayanan2021, Sec. 2.2): half of it, of what it was.
    idle = [one.breakdown_s["bubble"] for one in (five, ten)]
    assert idle[1] == pytest.approx(idle[0] / 2, rel=1e-9)
    sent = [one.breakdown_s["pipeline_sends"] for one in (five, ten)]
    assert sent[1] >= sent[0]
    # What one of them measured lies in the other's interval.
    assert compared(measured(f"{five.step_time_s}s", ten), ten).inside is True
    with pytest.raises(ConfigError, match="80 layers on pp=8 stages x 20 chunks"):
        told(tmp_path, words + "20")


# --- invariant


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("{rate}", "rate"),
        ("{s}s", "seconds"),
        ("{ms} ms", "milliseconds"),
        ("{tok}tok/s", "tokens"),
    ],
)
def test_the_answer_itself_lies_inside_in_every_unit(text: str, unit: str, tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --bf16 "
    _, own = told(tmp_path, words + "--world-size 128")
    numbers = {"rate": own.tflops_per_gpu, "s": own.step_time_s, "ms": own.step_time_s * 1e3}
    found = measured(text.format(**numbers, tok=own.tokens_per_s), own)
    assert found.unit == unit
    assert found.step_time_s == pytest.approx(own.step_time_s, rel=1e-12)
    assert compared(found, own).inside is True


def test_a_cause_that_is_what_happened_leaves_no_gap(tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --bf16 "
    words += "--world-size 128 "
    words = words.replace("length 4096", "length 32768")
    _, slow = told(tmp_path, words + "--attention-backend unfused")
    _, own = told(tmp_path, words)
    found = compared(measured(f"{slow.step_time_s}s", own), own, software="megatron")
    assert found.inside is False
    assert found.causes[0].name == "attention"
    assert found.causes[0].gap_fraction == pytest.approx(1.0)
    assert found.change == "--attention-backend flash"


def test_a_rate_counted_with_recomputation_is_told(tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --bf16 "
    words += "--world-size 128 --recompute-granularity full --recompute-method uniform "
    _, own = told(tmp_path, words)
    # A third more FLOP in the same time, and a step at the near end of the interval.
    near = own.step_time_s / own.step_time_low_s if own.step_time_low_s else 0.0
    found = compared(measured(f"{own.tflops_per_gpu * 4 / 3 * near}", own), own)
    assert found.inside is False
    count = next(one for one in found.causes if one.name == "hardware")
    # Counted as the model needs it, the step is the one that was put in; the head counts once.
    assert count.step_time_s == pytest.approx(own.step_time_s / near, rel=0.02)
    assert not count.flag


def test_causes_name_facts_that_exist() -> None:
    for entry in causes_known().values():
        for name in (*entry.get("facts", {}), *entry.get("better", {})):
            assert name in FACT_NAMES
        assert entry["flags"]["default"]
        assert entry["source"]


# --- refusal


@pytest.mark.parametrize(
    "text", ["", "fast", "12 parsecs", "-3s", "0", "nan", "1e999s", "3,5s", "1,5", "1,23,456"]
)
def test_what_is_no_measurement_is_refused(text: str, tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --bf16 "
    _, own = told(tmp_path, words + "--world-size 128")
    with pytest.raises(ConfigError, match=r"--measured .* is not understood; give TFLOP/s"):
        measured(text, own)


@pytest.mark.parametrize("text", ["99999", "1ms", "9999999999tok/s"])
def test_what_no_device_can_do_was_not_measured(text: str, tmp_path: Path) -> None:
    """nvidia2023h100: 989 TFLOP/s in 16 bits."""
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --bf16 --world-size 8"
    with pytest.raises(ConfigError, match="over the device's peak of 989") as refused:
        beside(tmp_path, words, text)
    assert f"--measured {text!r} cannot have been measured" in str(refused.value)


def test_a_run_faster_than_predicted_is_not_put_down_to_stragglers(tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --bf16 --world-size 8 "
    words += "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
    fast, slow = (beside(tmp_path, words, text) for text in ("950", "50"))
    assert fast.measured.step_time_s < fast.own.step_time_s
    assert "straggler" not in fast.rest
    assert "does less than what was asked" in fast.rest
    assert "straggler" in slow.rest


def test_what_the_file_sets_already_and_what_overshoots_is_no_cause(tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 "
    words += "--world-size 128 "
    _, own = told(tmp_path, words)
    # Products in 32 bits take many times this gap.
    near = f"{own.step_time_s * 1.3}s"
    open_names = {one.name for one in beside(tmp_path, words + "--bf16", near).causes}
    assert "attention" in open_names
    # A silent file recomputes nothing, and Transformer Engine is what it runs on.
    assert not open_names & {"recompute", "eager"}
    assert "fp32" not in {one.name for one in compared(measured(near, own), own).causes}
    words += "--bf16 --tp-comm-overlap --recompute-granularity selective"
    names = {one.name for one in beside(tmp_path, words, near).causes}
    assert names
    assert not names & {"tensor", "recompute", "gradients"}


def test_a_step_that_does_not_fit_is_not_told_to_hold_more(tmp_path: Path) -> None:
    words = LLAMA_70B + "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 1 --bf16 "
    words += "--world-size 8 --recompute-granularity full --recompute-method uniform"
    _, own = told(tmp_path, words + " --recompute-num-layers 1")
    assert not own.fits
    found = compared(measured(f"{own.step_time_s}s", own), own, software="megatron")
    assert found.change
    assert "selective" not in found.change
