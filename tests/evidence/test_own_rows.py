"""Users' files of runs: what can be scored is scored, the rest has a reason."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from steptime.evidence.judge import validation
from steptime.evidence.own_rows import OwnRows, own_rows
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow
from steptime.inputs.errors import ConfigError

SWEEPS = Path(__file__).parents[2] / "data" / "sweeps"
BASE = {
    "id": "r1",
    "source": "acme2026",
    "model": "mine",
    "layers": "32",
    "hidden": "4096",
    "heads": "32",
    "kv_heads": "8",
    "ffn": "14336",
    "gated_mlp": "y",
    "tied": "n",
    "vocab": "128256",
    "seq_len": "8192",
    "gpu": "H100-80GB SXM",
    "gpus": "16",
    "tp": "2",
    "pp": "1",
    "vpp": "1",
    "cp": "1",
    "dp": "8",
    "sp": "y",
    "zero": "1",
    "mbs": "1",
    "gbs": "128",
    "recompute": "none",
    "precision": "bf16",
    "step_time_s": "5.5",
    "network": "400 Gb/s per GPU",
}


def text(*rows: dict[str, str], delimiter: str = ",", newline: str = "\n") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator=newline)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read(folder: Path, content: str | bytes, name: str = "runs.csv") -> OwnRows:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return own_rows(path)


def row(**cells: str) -> PublishedRow:
    return PublishedRow.model_validate({**BASE, **cells})


def said(one: PublishedRow) -> list[str]:
    return [str(record) for record in run_of(one).assumed]


PLAIN = row()


# ---- invariant: however the table is kept, the row is the same


@pytest.mark.parametrize(
    "content",
    [
        text(BASE),
        text({name: BASE[name] for name in reversed(BASE)}),
        text(BASE, newline="\r\n"),
        text(BASE, newline="\r"),
        text(BASE, delimiter=";"),
        text({**BASE, "step_time_s": "5,5"}, delimiter=";"),
        text(BASE, delimiter="\t"),
        "sep=;\n" + text(BASE, delimiter=";"),
        text(BASE) + "\n\n,,\n",
        text({f" {name} ": f"  {cell} " for name, cell in BASE.items()}),
        text({name.upper(): cell for name, cell in BASE.items()} | {"lr": "3e-4"}),
        text({**BASE, "gpus": "16.0", "gbs": "128.00"}),
        text({**BASE, "gated_mlp": "Yes", "sp": "TRUE", "tied": "0", "seq_len": "8k"}),
        text({**BASE, "vocab": "128,256", "hidden": "4 096", "step_time_s": "~5.5 s"}),
        "\ufeff".encode() + text(BASE).encode(),
        text(BASE).encode("utf-16"),
    ],
)
def test_a_table_may_be_kept_in_many_ways(tmp_path: Path, content: str | bytes) -> None:
    found = read(tmp_path, content)
    assert found.faults == ()
    (got,) = found.rows
    assert run_of(got).job() == run_of(PLAIN).job()
    assert got.step_time_s == 5.5


def test_windows_text_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, text({**BASE, "notes": "d\u00e9j\u00e0 vu"}).encode("cp1252"))
    assert found.rows[0].notes == "d\u00e9j\u00e0 vu"


def test_parquet_is_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    numbers = {"gpus": 16.0, "tp": 2, "step_time_s": 5.5, "cp": None}
    cells = {**BASE, **numbers}
    parquet.write_table(arrow.table({k: [v] for k, v in cells.items()}), tmp_path / "r.parquet")
    (got,) = own_rows(tmp_path / "r.parquet").rows
    assert run_of(got).job() == run_of(PLAIN).job()


def test_other_names_and_units_of_columns(tmp_path: Path) -> None:
    head = "Run,Accelerator,Num GPUs,TP,Micro batch size,Global batch size (tokens),seq_length,MFU"
    found = read(tmp_path, head + ",step_time_ms\na,h100,16,2,1,1048576,8192,0.45,5500\n")
    (got,) = found.rows
    assert (got.id, got.gpu, got.gpus, got.tp, got.mbs) == ("a", "h100", 16, 2, 1)
    assert (got.gbs, got.seq_len, got.mfu_pct, got.step_time_s) == (128, 8192, 45.0, 5.5)
    assert found.notes[0].startswith("columns read under other names: 'Run' as id")


def test_rates_of_the_whole_job(tmp_path: Path) -> None:
    head = "model,gpu,gpus,seq_len,gbs,tokens_per_sec,samples_per_sec\n"
    (got,) = read(tmp_path, head + "m,h100,16,8192,128,160000,16\n").rows
    assert got.tokens_per_s_per_gpu == 10000.0
    assert got.step_time_s == 8.0


def test_a_column_of_its_own_may_name_the_software(tmp_path: Path) -> None:
    (got,) = read(
        tmp_path, text({**BASE, "Framework": "torchtitan", "zero": "3", "notes": "night"})
    ).rows
    assert (got.notes, got.software) == ("night", "torchtitan")
    (known,) = validation([got]).rows
    assert not any(record.what == "software" for record in known.assumed)


def test_a_column_left_alone_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, text({**BASE, "seq_lenn": "1", "confidence": "read"}))
    assert found.notes == ("column 'seq_lenn' is left alone; did you mean seq_len?",)


def test_no_row_is_lost(tmp_path: Path) -> None:
    rows = [
        BASE,
        {**BASE, "tp": "x"},
        {**BASE, "id": "", "step_time_s": "-3"},
        {**BASE, "id": "r5", "gbs": "4M tokens"},
        {**BASE, "sp": "maybe"},
    ]
    found = read(tmp_path, text(*rows) + "a," * 40 + "\nlast,acme2026\n")
    assert [one.id for one in found.rows] == ["r1", "last"]
    assert len(found.rows) + len(found.faults) == 7
    reasons = dict(found.faults)
    assert "line 3: column 'tp': 'x'" in reasons["r1#3"]
    assert "column 'step_time_s': '-3'" in reasons["line-4"]
    assert "'4M tokens'" in reasons["r5"]
    assert "column 'sp': 'maybe'" in reasons["r1#6"]
    assert "more cells" in reasons["line-7"]
    result = validation(found.rows)
    assert [name for name, _ in result.skipped] == ["last"]


# ---- published: the sweeps' own columns


def test_the_playbooks_sweep_is_read_as_it_is() -> None:
    found = own_rows(SWEEPS / "nanotron2025.csv")
    assert len(found.rows) == 1078
    assert {reason.split(": ")[1] for _, reason in found.faults} == {"marked as inconsistent"}
    assert {one.source for one in found.rows} == {"tazi2025"}


def test_the_papers_figures_are_read_as_they_are() -> None:
    found = own_rows(SWEEPS / "narayanan2021_figures_digitised.csv")
    assert (len(found.rows), found.faults) == (47, ())


# ---- invariant: what follows from other cells


@pytest.mark.parametrize(
    "cells",
    [
        {"dp": ""},
        {"gpus": ""},
        {"tp": ""},
        {"cp": ""},
        {"mbs": "", "num_microbatches": "16"},
        {"gbs": "", "num_microbatches": "16"},
        {"gbs": str(128 * 8192)},
        {"num_microbatches": "5"},
        {"gpu": "NVIDIA H100 80GB HBM3"},
        {"gpu": "h100 sxm5"},
        {"precision": "bfloat16"},
        {"recompute": "False"},
        {"recompute": "not stated"},
        {"zero": "distributed-optimizer"},
        {"network": "400 Gbps per GPU"},
    ],
)
def test_a_cell_that_follows_is_filled(cells: dict[str, str]) -> None:
    assert run_of(row(**cells)).job() == run_of(PLAIN).job()


def test_sizes_that_follow_are_told() -> None:
    assert "tp: not stated, 2 follows from the others" in said(row(tp=""))
    batch = said(row(gbs="1048576"))
    assert "gbs: 1048576 read as tokens, 128 sequences" in batch
    counted = said(row(num_microbatches="5"))
    assert "num_microbatches: 5 stated, gbs / (mbs x dp) = 16 used" in counted


def test_sharded_weights_take_all_devices() -> None:
    layout = run_of(row(tp="", pp="", dp="", zero="FSDP")).layout
    assert (layout.tp, layout.pp, layout.dp, layout.zero_stage) == (1, 1, 16, 3)


@pytest.mark.parametrize("name", ["Llama 3 8B", "meta-llama/Meta-Llama-3.1-8B-Instruct"])
def test_a_model_is_known_by_its_usual_names(name: str) -> None:
    blank = dict.fromkeys(
        ("layers", "hidden", "heads", "kv_heads", "ffn", "gated_mlp", "vocab"), ""
    )
    assert run_of(row(model=name, tied="", **blank)).job() == run_of(PLAIN).job()


def test_widths_that_are_not_stated_are_usual_ones() -> None:
    run = run_of(row(ffn="", vocab="", heads="", kv_heads="", gated_mlp="n"))
    assert (run.model.ffn_hidden_size, run.model.num_attention_heads) == (16384, 32)
    assert "vocab: not stated, 50304 assumed" in map(str, run.assumed)


# ---- refusal


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"gpus": "24"}, "is not gpus = 24"),
        ({"gpu": ""}, "gpu is not stated"),
        ({"gpu": "MI210"}, "unknown accelerator 'MI210'"),
        ({"gpu": "H100 NVL"}, "other links or memory"),
        ({"gpu": "none.toml"}, "cannot read none.toml"),
        ({"gpu": "a100", "precision": "fp8"}, "a100-80gb has no products in fp8"),
        ({"precision": "nvfp4"}, "h100 has no products in nvfp4"),
        ({"precision": "tf32"}, "precision 'tf32' is not modelled"),
        ({"model": "mine (MLA)"}, "latent attention of a model that is no preset"),
        ({"gbs": "1048577"}, "no count of sequences"),
        ({"tp": "", "pp": ""}, "tp is not stated"),
        ({"moe_experts": "8", "moe_topk": "2", "moe_expert_ffn": "64"}, "ep is not stated"),
    ],
)
def test_what_cannot_be_scored_says_why(cells: dict[str, str], reason: str) -> None:
    with pytest.raises(Incomplete, match=reason):
        run_of(row(**cells))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("hello\nworld\n", "no table of runs"),
        (bytes(range(256)) * 4, "no text"),
        ("model,model,gpu,gpus\na,b,h100,8\n", "column 'model' stands twice"),
        (text(BASE) + '"open,1,2\n', "line 3: a quote opens and never closes"),
        ("model,gpu,gpus\n" + "GPT,h100,8\n" * 20_001, "over 20,000 rows"),
    ],
)
def test_no_table_of_runs_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, content)


def test_no_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(ConfigError, match="no parquet table"):
        read(tmp_path, "model,gpu\n", "runs.parquet")


def test_a_small_parquet_file_that_unpacks_to_much_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "runs.parquet"
    for columns, message in (
        ({"model": ["x"] * 20_001}, "20,001 rows of 1 columns, over the 20,000 x 1000"),
        ({f"c{n}": [n] for n in range(1_001)}, "1 rows of 1,001 columns"),
        ({"model": ["x" * (64 * 2**20 + 1)]}, "too large for rows once unpacked"),
    ):
        pq.write_table(pa.table(columns), path, compression="zstd", use_dictionary=False)
        assert path.stat().st_size < 4 * 2**20
        with pytest.raises(ConfigError, match=message):
            own_rows(path)
