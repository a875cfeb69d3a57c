import pytest

from steptime.evidence.row_network import network_gbit
from steptime.evidence.row_text import (
    month_of_date,
    month_of_release,
    one_chunk,
    precision_of,
    recomputed,
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
    # MaxText's rows leave their layout in linked recipes. These sources print no batch or length,
    # or a size without its layers.
    silent = {"maxtext", "mtx", "nemo22", "primus", "colossal", "trn1", "cp", "mllama", "amd"}
    unsaid = {name for name in reasons if "is not stated" in reasons[name]}
    assert {name.rpartition("-")[0] for name in unsaid} == silent | {"mdslong"}
    assert len(unsaid) == 85
    # Two rows contradict themselves.
    assert set(reasons) - unsaid == {"bloom-012", "mlperf-003"}
    assert reasons["bloom-012"] == "tp x pp x cp x dp = 640 is not gpus = 320"
    assert "2048 does not divide into dp=6" in reasons["mlperf-003"]


def test_a_run_has_what_the_row_states() -> None:
    run = run_of(BY_ID["nar21-t1-009"])
    assert (run.layout.tp, run.layout.pp, run.layout.vpp, run.layout.dp) == (8, 35, 3, 9)
    assert run.model.num_layers == 105
    assert run.layout.recompute == "full"
    assert run.accelerator.network_bytes_per_s == 25e9
    assert run.assumed == ()


def test_what_a_row_does_not_state_is_listed() -> None:
    assumed = run_of(BY_ID["llama3-003"]).assumed
    assert {"mbs", "vpp"} <= {record.what for record in assumed}
    assert "vpp: not stated, 1 assumed" in map(str, assumed)
    assert all(record.how and record.value in str(record) for record in assumed)


def test_experts_and_latent_attention_come_along() -> None:
    run = run_of(BY_ID["mbridge-002"])
    assert run.model.experts is not None
    assert run.model.experts.num_experts == 256
    assert run.model.latent_attention is not None
    assert run_of(BY_ID["mbridge-006"]).model.head_dim == 128


# what cells say


@pytest.mark.parametrize(
    ("text", "gbit"),
    [
        ("400", 400),
        ("400 Gb/s per GPU", 400),
        ("400 Gbps", 400),
        ("50 GB/s", 400),
        ("800 Gb/s per 8-GPU node", 100),
        ("800 Gb/s per 4-GPU node", 200),
        ("1600 Gb/s RoCE per node", 200),
        ("8x HDR IB per node", 200),
        ("4x EDR", 50),
        ("8x HDR 200 Gb/s", 200),
        ("8x 400 Gb/s InfiniBand", 400),
        ("EFA 3.2 Tbps per node", 400),
        ("RoCE, 200 Gbit/s per GPU", 200),
        ("1 x NDR per GPU", 400),
    ],
)
def test_network(text: str, gbit: float) -> None:
    assert network_gbit(text) == gbit


@pytest.mark.parametrize(
    "text",
    ["", "InfiniBand", "fast", "3,200 Gb/s", "0", "..", "x", "400 400 Gb/s", "NVLink 900 GB/s"],
)
def test_a_network_in_other_words_is_not_understood(text: str) -> None:
    assert network_gbit(text) is None


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
def test_zero(text: str, stage: int) -> None:
    assert zero_stage(text) == (stage, None)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("uniform-1", "full"),
        ("full/uniform-1", "full"),
        ("block-3", "none"),
        ("block 5", "full"),
        ("block-8", "full"),
        ("mlp", "none"),
        ("core_attn", "selective"),
        ("selective modules [core_attn, mlp]", "selective"),
        ("selective modules [mla_up_proj, mlp]", "none"),
        ("True", "full"),
        ("no", "none"),
        ("not stated", "none"),
        ("selective (per-op)", "selective"),
        ("", "none"),
    ],
)
def test_recompute(text: str, mode: str) -> None:
    found = recomputed(text, 8.0)
    assert found.mode == mode
    assert found.assumed is None or not found.assumed.word


def test_modules_set_facts_of_time_and_memory() -> None:
    found = recomputed("selective modules [mla_up_proj, layernorm]").facts
    assert found == {
        "recompute_up_projection": 1.0,
        "recompute_norms": 1.0,
    }
    assert recomputed("per-op").facts == {"recompute_per_op": 1.0}


@pytest.mark.parametrize(
    ("text", "mode", "facts"),
    [
        ("BF16", "bf16", set()),
        ("bfloat16", "bf16", set()),
        ("bf16 (fp32 gradients)", "bf16", set()),
        ("half", "fp16", set()),
        ("fp16 (mixed)", "fp16", set()),
        ("FP8-CS", "fp8", set()),
        ("fp8_delayed", "fp8", set()),
        ("fp8 (current/per-tensor scaling)", "fp8", set()),
        ("fp8 rowwise", "fp8", {"scaled_products", "narrow_gathers", "gathered_weight_bytes"}),
        ("FP8 block-wise", "fp8", {"scaled_products", "block_scaled"}),
        ("FP8-MX", "mxfp8", set()),
        ("NVFP4", "nvfp4", set()),
    ],
)
def test_precision(text: str, mode: str, facts: set[str]) -> None:
    found, says, record = precision_of(text)
    assert (found, set(says), record) == (mode, facts, None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ZB-H1", "zb-h1"),
        ("Zero bubble ZBV", "zb-v"),
        ("DualPipe", "dualpipe"),
        ("interleaved 1F1B", "interleaved-1f1b"),
        ("V-Half", "v-half"),
        ("GPipe", "gpipe"),
        ("1F1B", "1f1b"),
    ],
)
def test_schedule(text: str, name: str) -> None:
    assert schedule_name(text, 4, 1) == (name, None)


def test_a_schedule_by_stages_and_chunks() -> None:
    assert schedule_name("1F1B", 4, 2) == ("interleaved-1f1b", None)
    assert schedule_name("", 1, 1) == ("1f1b", None)
    assert str(schedule_name("", 4, 2)[1]) == "schedule: not stated, interleaved-1f1b assumed"
    assert [one_chunk(text) for text in ("1F1B", "gpipe", "zb-h2", "zb-v", "")] == [
        *(True, True, True),
        *(False, False),
    ]


def test_dates() -> None:
    assert month_of_date("2025-03") == "2025-03"
    assert month_of_date("2025-03-14") == "2025-03"
    assert month_of_date("2025/3") == "2025-03"
    assert month_of_date("2025") == "2025-06"
    assert month_of_release("26.06.01") == "2026-06"
    for text in ("", "25-03", "2025-13", "March 2025", "2025-3-4-5", "\u00b2025-01"):
        assert month_of_date(text) is None
    for text in ("", "26", "v2.4", "2.4.1", "26.13"):
        assert month_of_release(text) is None


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
