"""The schema of a published run, and reading files that follow it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from steptime.inputs.bounded import file_text
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError

MOST_BYTES = 4 * 2**20
MOST_ROWS = 20_000
_BLANK = {"", "n/a", "na", "-"}


class Incomplete(ConfigError):
    """A row that lacks something a model needs: it is skipped, with this reason."""


def _blank_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in _BLANK else value


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value.strip())]
Count = Annotated[Annotated[int, Field(ge=1, le=10**12)] | None, BeforeValidator(_blank_is_none)]
Whole = Annotated[Annotated[int, Field(ge=0, le=10**12)] | None, BeforeValidator(_blank_is_none)]
Layers = Annotated[Annotated[int, Field(ge=1, le=100_000)] | None, BeforeValidator(_blank_is_none)]
Positive = Annotated[
    Annotated[float, Field(gt=0, ge=1e-12, le=1e18, allow_inf_nan=False)] | None,
    BeforeValidator(_blank_is_none),
]
YesNo = Annotated[Annotated[str, Field(pattern="^[yn]$")] | None, BeforeValidator(_blank_is_none)]


class PublishedRow(BaseModel):
    """One published run, as text became numbers; None where the cell is blank.

    Columns are explained in ``data/README.md``. Columns that are not listed here may stand in
    a file and are left alone.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Text = ""
    tier: Text = ""
    source: Text = ""
    location: Text = ""
    url_or_path: Text = ""
    layout_status: Text = ""
    model: Text = ""
    params_b: Positive = None
    layers: Layers = None
    hidden: Count = None
    heads: Count = None
    kv_heads: Count = None
    head_dim: Count = None
    ffn: Count = None
    gated_mlp: YesNo = None
    tied: YesNo = None
    vocab: Count = None
    seq_len: Count = None
    moe_experts: Count = None
    moe_topk: Count = None
    moe_shared: Whole = None
    moe_expert_ffn: Count = None
    moe_dense_layers: Whole = None
    gpu: Text = ""
    gpus: Count = None
    tp: Count = None
    pp: Count = None
    vpp: Count = None
    cp: Count = None
    ep: Count = None
    etp: Count = None
    dp: Count = None
    sp: YesNo = None
    zero: Text = ""
    mbs: Count = None
    gbs: Count = None
    num_microbatches: Count = None
    recompute: Text = ""
    precision: Text = ""
    tflops_per_gpu: Positive = None
    mfu_pct: Positive = None
    hfu_pct: Positive = None
    step_time_s: Positive = None
    tokens_per_s_per_gpu: Positive = None
    mem_gb: Positive = None
    flop_convention: Text = ""
    network: Text = ""
    overlap: Text = ""
    schedule: Text = ""
    notes: Text = ""
    derived_step_time_s: Positive = None
    check: Text = ""


NEEDED_COLUMNS = ("model", "gpu", "gpus")


def read_text(path: Path) -> str:
    """Return the text of a file of rows.

    Args:
        path: The file.

    Raises:
        ConfigError: If it is missing, too large, or not UTF-8 text.
    """
    return file_text(path, most=MOST_BYTES, kind="rows")


def text_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file as text, each with the line it ends on.

    Args:
        path: The file.

    Raises:
        ConfigError: If it is no CSV with a head line, or a row is longer than the head.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        head = reader.fieldnames or []
        if not head:
            raise ConfigError(f"{path.name}: empty; the first line must name the columns")
        twice = sorted({name for name in head if head.count(name) > 1})
        if twice:
            raise ConfigError(f"{path.name}: line 1: column {twice[0]!r} stands twice")
        rows: list[tuple[int, dict[str, str]]] = []
        for row in reader:
            if len(rows) == MOST_ROWS:
                raise ConfigError(f"{path.name}: over {MOST_ROWS:,} rows; give them in parts")
            if None in row:
                raise ConfigError(
                    f"{path.name}: line {reader.line_num}: more cells than the {len(head)} columns"
                )
            rows.append((reader.line_num, {key: value or "" for key, value in row.items()}))
    except csv.Error as error:
        raise ConfigError(f"{path.name}: line {reader.line_num}: {error}") from None
    return rows


def read_rows(path: Path) -> list[PublishedRow]:
    """Return the rows of a file, every cell checked.

    Args:
        path: A CSV file in the schema of ``data/published_runs.csv``.

    Raises:
        ConfigError: With file, line, column and value of the first cell that is wrong.
    """
    texts = text_rows(path)
    if texts:
        missing = [name for name in NEEDED_COLUMNS if name not in texts[0][1]]
        if missing:
            raise ConfigError(f"{path.name}: line 1: column {missing[0]!r} is missing")
    rows, seen = [], set()
    for line, cells in texts:
        cells = {**cells, "id": cells.get("id", "").strip() or f"line-{line}"}
        if cells["id"] in seen:
            raise ConfigError(
                f"{path.name}: line {line}: column 'id': {cells['id']!r} stands twice"
            )
        seen.add(cells["id"])
        try:
            rows.append(PublishedRow.model_validate({**cells, **expanded(cells)}))
        except ValidationError as error:
            first = error.errors()[0]
            column = str(first["loc"][0])
            raise ConfigError(
                f"{path.name}: line {line}: column {column!r}: "
                f"{cells.get(column, '')[:60]!r}: {first['msg']}"
            ) from None
    return rows


def expanded(cells: dict[str, str]) -> dict[str, str]:
    """Return the cells that hold a key of a phrase table, as the phrase.

    Args:
        cells: Of one row.
    """
    return {
        column: _phrases(name).get(cells.get(column, ""), cells.get(column, ""))
        for column, name in (("network", "networks.csv"), ("overlap", "overlaps.csv"))
    }


_TABLES: dict[str, dict[str, str]] = {}


def _phrases(name: str) -> dict[str, str]:
    if name not in _TABLES:
        _TABLES[name] = {row["key"]: row["text"] for _, row in text_rows(data_path(name))}
    return _TABLES[name]


def published_rows() -> list[PublishedRow]:
    """Return the rows of ``data/published_runs.csv``, with ``data/corrections.csv`` applied."""
    changes: dict[str, dict[str, int]] = {}
    for _, cells in text_rows(data_path("corrections.csv")):
        changes.setdefault(cells["id"], {})[cells["column"]] = int(cells["used"])
    return [
        row.model_copy(update=changes[row.id]) if row.id in changes else row
        for row in read_rows(data_path("published_runs.csv"))
    ]
