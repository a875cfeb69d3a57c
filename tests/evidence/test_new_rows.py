"""Published runs stand in data/ with their printed digits, each read or skipped with cause."""

from __future__ import annotations

import collections
import csv
from collections.abc import Iterator

import pytest

from steptime.evidence.judge import validation
from steptime.evidence.row_device import accelerator_of, device_of
from steptime.evidence.row_network import network_gbit
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import run_of
from steptime.evidence.schema import Contradiction, Incomplete, Unknown, published_rows
from steptime.evidence.sweeps import hagemann_rows
from steptime.inputs.datafiles import data_path
from steptime.inputs.presets import accelerator
from steptime.inputs.run_words import list_of, word_of

COUNTS = {
    **{"simumax": 43, "hagemann": 69, "zb": 48, "dgxc": 113, "mlperf": 32, "ascend": 53},
    **{"mtx": 34, "pax": 21, "trn1": 18, "cp": 16, "amd": 13, "primus": 13, "titan24": 11},
    **{"nemo22": 11, "atorch": 10, "mdslong": 10, "mllama": 6, "colossal": 2},
    **{"nar21-t1": 10, "nar21-t2": 12, "llama3": 3, "kor22": 10, "mtnlg": 3, "mbridge": 122},
    **{"bloom": 61, "vtrain": 76, "nanotron": 40, "titan": 22, "mpt": 81, "maxtext": 8},
}
FAULTS = {kind.fault for kind in (Incomplete, Contradiction, Unknown)}


def printed() -> Iterator[dict[str, str]]:
    with data_path("published_runs.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


# published


def test_each_source_has_all_its_rows() -> None:
    """The counts are those of the background table's README."""
    found = collections.Counter(row["id"].rpartition("-")[0] for row in printed())
    assert dict(found) == COUNTS
    assert sum(found.values()) == 971


def test_digits_stand_as_printed() -> None:
    rows = {row["id"]: row for row in printed()}
    assert rows["hagemann-001"]["step_time_s"] == "53.8062"
    assert rows["trn1-116"]["tokens_per_s_per_gpu"] == "63.520"
    assert rows["cp-030"]["step_time_s"] == "8.90"
    assert rows["atorch-087"]["mem_gb"] == "23.80"


def test_every_row_is_read_or_skipped_with_a_reason_and_whose_fault_it_is() -> None:
    told = validation(published_rows())
    assert len(told.rows) + len(told.skipped) == 971
    for name, reason in told.skipped:
        assert reason.partition(" (")[0], name
        assert any(reason.endswith(f"({fault})") for fault in FAULTS), (name, reason)


def test_no_row_is_skipped_for_a_device_that_the_model_does_not_know() -> None:
    told = validation(published_rows())
    unknown = {name for name, why in told.skipped if why.endswith(f"({Unknown.fault})")}
    assert unknown == set()
    predicted = {row.id.rpartition("-")[0] for row in told.rows}
    assert {"ascend", "mtx", "trn1"} <= predicted


def test_what_a_read_row_says_is_understood() -> None:
    """No cell of a row that is scored is left unread."""
    told = validation(published_rows())
    unread = {str(note) for row in told.rows for note in row.assumed if note.word}
    assert unread == set()


def test_hagemann_sweep_is_whole_and_agrees_with_its_reported_rows() -> None:
    sweep = hagemann_rows()
    assert len(sweep) == 401
    by_trial = {row.location: row for row in sweep}
    for row in published_rows():
        if row.source == "hagemann2023":
            one = by_trial[row.location]
            for column in ("gpus", "tp", "pp", "dp", "mbs", "gbs", "seq_len", "sp", "recompute"):
                assert getattr(one, column) == getattr(row, column), (row.id, column)
            assert one.step_time_s == pytest.approx(row.step_time_s, abs=5e-5)


def test_a_kernel_that_stores_scores_is_read_off_the_sweep() -> None:
    kernels = {row.attention_kernel for row in hagemann_rows()}
    assert {word_of("attention_kernel", name).value for name in kernels} == {"flash-2", "stored"}  # type: ignore[union-attr]


# words


@pytest.mark.parametrize(
    ("text", "gpus", "gbit"),
    [
        ("8x ConnectX-7 IB NDR 400Gb/s", 8, 400.0),
        ("8x NVIDIA ConnectX-7 IB NDR 400Gb/s", 8, 400.0),
        ("8x NDR400", 8, 400.0),
        ("1600 Gb/s per node", 4, 400.0),
        ("1600 Gb/s per node", 8, 200.0),
        ("400 Gb/s ConnectX-7 per GPU", 8, 400.0),
        ("400 Gb/s, per node or per GPU not stated", 8, None),
        ("400 Gb/s per node or per GPU", 8, None),
    ],
)
def test_networks(text: str, gpus: int, gbit: float | None) -> None:
    assert network_gbit(text, gpus) == gbit


def test_a_node_of_a_rack_has_four_devices() -> None:
    row = published_rows()[0].model_copy(update={"gpu": "gb200", "network": "1600 Gb/s per node"})
    assert device_of(row, []).network_bytes_per_s == 400e9 / 8
    assert accelerator("gb200").node_size == 4


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        ("schedule", "zbb", "zb-h1"),
        ("schedule", "ZBV", "zb-v"),
        ("schedule", "zb2p", "zb-2p"),
        ("precision", "pure bf16", "bf16"),
        ("recompute", "selective (every second layer)", "selective"),
        ("software", "NeMo 24.09 container", "nemo"),
        ("software", "MCore", "megatron"),
    ],
)
def test_words(column: str, text: str, value: str) -> None:
    found = word_of(column, text)
    assert found is not None
    assert found.value == value


def test_fused_matmul_messages_are_overlap() -> None:
    known, unknown = list_of("overlap", "overlap-grad-reduce, use-mc2")
    assert unknown == ()
    assert [word.key for word in known] == ["dp", "tp"]


def test_autocast_keeps_weights_and_gradients_in_32_bits() -> None:
    row = next(row for row in published_rows() if row.id == "atorch-078")
    facts = question_of_run(run_of(row)).software.memory
    assert (facts.weight_bytes, facts.master_bytes, facts.gradient_bytes) == (4.0, 0.0, 4.0)


@pytest.mark.parametrize(
    ("text", "key"),
    [("AMD Instinct MI355X", "mi355x"), ("Habana Gaudi2", "gaudi2"), ("NVIDIA A800", "a800-80gb")],
)
def test_devices_by_their_printed_names(text: str, key: str) -> None:
    assert accelerator_of(text, []).name == key


def test_a_stated_group_shards_and_its_copies_are_counted() -> None:
    rows = {row.id: row for row in published_rows()}
    layout = run_of(rows["dgxc-159"]).layout
    assert (layout.zero_stage, layout.dp, layout.dp_replicate) == (3, 32, 4)
    assert run_of(rows["dgxc-131"]).layout.dp_replicate == 1
    uneven = rows["dgxc-159"].model_copy(update={"zero": "FSDP shard group 64"})
    with pytest.raises(Contradiction, match="does not divide dp x cp = 32"):
        run_of(uneven)
