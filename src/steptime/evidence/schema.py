"""The schema of a published run, and reading files that follow it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
)

from steptime.evidence.run_facts import RunFact, with_run_facts
from steptime.evidence.text_table import MOST_BYTES, MOST_ROWS, by_phrase, text_rows
from steptime.inputs.datafiles import data_path
from steptime.inputs.errors import ConfigError

__all__ = [
    "MOST_BYTES",
    "MOST_ROWS",
    "Contradiction",
    "Incomplete",
    "PublishedRow",
    "Unknown",
    "read_rows",
    "text_rows",
]
_BLANK = {"", "n/a", "na", "-"}


class Incomplete(ConfigError):
    """A row that lacks something a model needs: it is skipped, with this reason.

    Attributes:
        fault: Whose it is.
    """

    fault = "the source does not say it"


class Contradiction(Incomplete):
    """A row whose cells do not fit together."""

    fault = "the source contradicts itself"


class Unknown(Incomplete):
    """A row of something that no model here knows."""

    fault = "the model does not know it"


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
    dp_replicate: Count = None
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
    nvlink_domain: Count = None
    overlap: Text = ""
    schedule: Text = ""
    order: Text = ""
    first_stage_layers: Whole = None
    last_stage_layers: Whole = None
    software: Text = ""
    date: Text = ""
    release: Text = ""
    attention_kernel: Text = ""
    compiled: YesNo = None
    dispatcher: Text = ""
    mem_unit: Text = ""
    mem_rank: Text = ""
    mem_reading: Text = ""
    tokens_rounded: YesNo = None
    facts: Text = ""
    notes: Text = ""
    derived_step_time_s: Positive = None
    check: Text = ""
    _taken: tuple[RunFact, ...] = PrivateAttr(default=())

    @property
    def taken(self) -> tuple[RunFact, ...]:
        """Return what `data/run_facts.csv` says of the run."""
        return self._taken


NEEDED_COLUMNS = ("model", "gpu", "gpus")


def published_row(cells: Mapping[str, Any]) -> PublishedRow:
    """Return a run of a published table, with what `data/run_facts.csv` says of it.

    Args:
        cells: By column; the id is ours.

    Raises:
        ValidationError: If a cell is wrong.
    """
    known, taken = with_run_facts(cells)
    row = PublishedRow.model_validate(known | expanded(known))
    row._taken = taken
    return row


def read_rows(
    path: Path, row_of: Callable[[Mapping[str, Any]], PublishedRow] | None = None
) -> list[PublishedRow]:
    """Return the rows of a file, every cell checked.

    Args:
        path: A CSV file in the schema of ``data/published_runs.csv``.
        row_of: Makes a row of its cells; by the cells alone if None.

    Raises:
        ConfigError: With file, line, column and value of the first cell that is wrong.
    """
    made = row_of or (lambda cells: PublishedRow.model_validate({**cells, **expanded(cells)}))
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
            rows.append(made(cells))
        except ValidationError as error:
            raise ConfigError(f"{path.name}: line {line}: {cell_fault(error, cells)}") from None
    return rows


_WAYS_OUT = {
    "YesNo": "y or n",
    "Count": "a whole number from 1",
    "Whole": "a whole number from 0",
    "Layers": "a whole number from 1 to 100,000",
    "Positive": "a number above 0",
}
"""What the cells of a column may hold, by the type that its field states."""


def cell_fault(error: ValidationError, cells: Mapping[str, Any]) -> str:
    """Return what is wrong with the first cell that is, and what would do.

    Args:
        error: Of the row.
        cells: By column, as they came in.
    """
    column = str(error.errors()[0]["loc"][0])
    wanted = _WAYS_OUT.get(str(PublishedRow.__annotations__[column]), "a text")
    shown = str(cells.get(column, ""))[:60]
    return f"column {column!r}: {shown!r} is not {wanted}; write that, or leave the cell blank"


def expanded(cells: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells that hold a phrase of a table, or its key, in words of their column.

    Args:
        cells: Of one row.
    """
    found = {}
    for column, name in (("network", "networks.csv"), ("overlap", "overlaps.csv")):
        cell = str(cells.get(column, ""))
        found[column] = by_phrase(name, "means").get(cell, cell)
    return found


def published_rows() -> list[PublishedRow]:
    """Return the rows of ``data/published_runs.csv``, with what other tables say of them.

    These are ``data/corrections.csv`` and ``data/run_facts.csv``.
    """
    return list(_published_rows())


@functools.cache
def _published_rows() -> tuple[PublishedRow, ...]:
    """Return them, read once: rows are frozen."""
    changes: dict[str, dict[str, int]] = {}
    for _, cells in text_rows(data_path("corrections.csv")):
        changes.setdefault(cells["id"], {})[cells["column"]] = int(cells["used"])
    return tuple(
        row.model_copy(update=changes[row.id]) if row.id in changes else row
        for row in read_rows(data_path("published_runs.csv"), published_row)
    )
