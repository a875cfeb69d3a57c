import pytest

from steptime.evidence.row_text import (
    network_bytes_per_s,
    precision_mode,
    recompute_mode,
    schedule_name,
    zero_stage,
)
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows

BY_ID = {row.id: row for row in published_rows()}


# published


def test_all_but_a_few_rows_become_runs() -> None:
    reasons = {}
    for row in BY_ID.values():
        try:
            run_of(row)
        except Incomplete as reason:
            reasons[row.id] = str(reason)
    # The TPU rows leave their layout in linked recipes; one row contradicts itself.
    assert {name.rpartition("-")[0] for name in reasons} == {"maxtext", "bloom"}
    assert reasons["bloom-012"] == "tp x pp x cp x dp = 640 is not gpus = 320"


def test_a_run_has_what_the_row_states() -> None:
    run = run_of(BY_ID["nar21-t1-009"])
    assert (run.layout.tp, run.layout.pp, run.layout.vpp, run.layout.dp) == (8, 35, 3, 9)
    assert run.model.num_layers == 105
    assert run.layout.recompute == "full"
    assert run.accelerator.network_bytes_per_s == 25e9
    assert run.assumed == ()


def test_what_a_row_does_not_state_is_listed() -> None:
    assumed = " ".join(run_of(BY_ID["llama3-003"]).assumed)
    assert "mbs" in assumed
    assert "vpp" in assumed
    assert "recompute" in assumed


def test_experts_and_latent_attention_come_along() -> None:
    run = run_of(BY_ID["mbridge-002"])
    assert run.model.experts is not None
    assert run.model.experts.num_experts == 256
    assert run.model.latent_attention is not None
    assert run_of(BY_ID["mbridge-006"]).model.head_dim == 128


@pytest.mark.parametrize(
    ("text", "gbyte_per_s"),
    [
        ("400 Gb/s per GPU", 50),
        ("NVLink5 900 GB/s/dir; 800 Gb/s per GPU", 100),
        ("NVLink within node; 800 Gb/s between nodes per 8-GPU node", 12.5),
        ("NVLink; 4 Omni-Path 100 Gb/s links per 8-GPU node", 6.25),
        ("1600 Gb/s RoCE per node (A100-80GB section)", 25),
        ("Selene: NVLink + 8x HDR IB per node", 25),
        ("RoCE 400 Gb/s per GPU, full bisection in 3072-GPU pods", 50),
        ("NVL72, NVLink5 900 GB/s/dir", 0),
        ("8x 400 Gb/s InfiniBand", 50),
        ("EFA 3.2 Tbps per node", 50),
        ("RoCE, 200 Gbit/s per GPU", 25),
        ("", 0),
    ],
)
def test_network_text(text: str, gbyte_per_s: float) -> None:
    assert network_bytes_per_s(text) == gbyte_per_s * 1e9


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("1", 1),
        ("ZeRO-1", 1),
        ("FSDP2 (ZeRO-3)", 3),
        ("FSDP shard group 64", 3),
        ("FSDP SHARD_GRAD_OP (ZeRO-2)", 2),
        ("distributed optimizer (ZeRO-1)", 1),
        ("FSDP, parameters not resharded after forward (ZeRO-2 like)", 2),
        ("0", 0),
    ],
)
def test_zero_text(text: str, stage: int) -> None:
    assert zero_stage(text) == (stage, "")


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("uniform-1", "full"),
        ("full/uniform-1", "full"),
        ("block-3", "none"),
        ("full (block, 7)", "full"),
        ("block-8", "full"),
        ("mlp", "none"),
        ("core_attn", "selective"),
        ("True", "full"),
        ("no", "none"),
        ("not stated", "none"),
    ],
)
def test_recompute_text(text: str, mode: str) -> None:
    assert recompute_mode(text, 8.0)[0] == mode


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("BF16", "bf16"),
        ("bfloat16", "bf16"),
        ("bf16 (fp32 gradients)", "bf16"),
        ("half", "fp16"),
        ("FP8-CS", "fp8"),
        ("fp8_delayed", "fp8"),
        ("FP8-MX", "mxfp8"),
        ("NVFP4", "nvfp4"),
    ],
)
def test_precision_text(text: str, mode: str) -> None:
    assert precision_mode(text) == (mode, "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ZB-H1", "zb-h1"),
        ("Zero bubble ZBV", "zb-v"),
        ("DualPipe", "dualpipe"),
        ("interleaved 1F1B", "interleaved-1f1b"),
        ("V-Half", "v-half"),
    ],
)
def test_schedule_text(text: str, name: str) -> None:
    assert schedule_name(text, 4, 1) == (name, "")


def test_other_texts() -> None:
    assert recompute_mode("selective (per-op)") == ("selective", "")
    assert recompute_mode("full") == ("full", "")
    assert recompute_mode("")[1] != ""
    assert precision_mode("fp8 (current/per-tensor scaling)") == ("fp8", "")
    assert precision_mode("mxfp8") == ("mxfp8", "")
    assert precision_mode("fp16 (mixed)") == ("fp16", "")
    assert schedule_name("interleaved-1F1B", 4, 2) == ("interleaved-1f1b", "")
    assert schedule_name("1F1B", 4, 1) == ("1f1b", "")


# refusal


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"gbs": None, "num_microbatches": None}, "gbs is not stated"),
        ({"hidden": None, "model": "nosuch"}, "hidden is not stated"),
        ({"layers": None, "model": "nosuch"}, "no preset is called 'nosuch'"),
        ({"gpu": "H1OO"}, "unknown accelerator"),
        ({"dp": 7}, "is not gpus"),
        ({"tp": 7}, "does not divide gpus"),
        ({"gbs": 511}, "does not divide"),
    ],
)
def test_a_row_that_lacks_something_says_what(change: dict[str, object], reason: str) -> None:
    row: PublishedRow = BY_ID["nar21-t1-001"].model_copy(update=change)
    with pytest.raises(Incomplete, match=reason):
        run_of(row)
