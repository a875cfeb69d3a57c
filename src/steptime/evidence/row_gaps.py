"""What follows from the other cells of a row where one is blank: sizes and batch."""

from __future__ import annotations

import math
from collections.abc import Callable

from steptime.evidence.row_text import zero_stage
from steptime.evidence.schema import Contradiction, PublishedRow
from steptime.inputs.assumed import Assumed, not_stated

# No run trains on that many sequences a step: such a number counts tokens.
_TOKENS_FROM = 100_000
_SIZES = ("tp", "pp", "cp", "dp")

Step = Callable[[PublishedRow, list[Assumed]], dict[str, int]]


def _counted(column: str, product: int, how_counted: str) -> Assumed:
    why = f"{how_counted} {product}"
    return Assumed(what=column, value=str(product), why=why, how=f"column {column}")


def _product(row: PublishedRow, *but: str) -> int | None:
    """Return the product of the sizes that are stated, cp counting 1 if blank; else None."""
    sizes = {name: getattr(row, name) for name in _SIZES if name not in but}
    if "cp" in sizes:
        sizes["cp"] = sizes["cp"] or 1
    return None if None in sizes.values() else math.prod(size for size in sizes.values() if size)


def _devices(row: PublishedRow, assumed: list[Assumed]) -> dict[str, int]:
    """A blank device count is the product of the sizes."""
    product = _product(row)
    if row.gpus is not None or product is None:
        return {}
    assumed.append(_counted("gpus", product, "not stated, tp x pp x cp x dp ="))
    return {"gpus": product}


def _one_size(row: PublishedRow, assumed: list[Assumed]) -> dict[str, int]:
    """A single blank size is what the others leave of the devices."""
    blank = [name for name in _SIZES if getattr(row, name) is None]
    if "cp" in blank and len(blank) > 1:
        blank.remove("cp")
    if row.gpus is None or len(blank) != 1 or blank == ["dp"]:
        return {}
    rest = _product(row, blank[0]) or 1
    if row.gpus % rest:
        return {}
    if row.gpus != rest:
        assumed.append(not_stated(blank[0], row.gpus // rest, whose="follows from the others"))
    return {blank[0]: row.gpus // rest}


def _unsplit(row: PublishedRow, assumed: list[Assumed]) -> dict[str, int]:
    """Blank tp and pp are 1 where data parallelism takes all devices or shards the weights."""
    blank = {name: 1 for name in ("tp", "pp") if getattr(row, name) is None}
    if not blank or row.gpus is None:
        return {}
    if row.gpus == 1 or row.gpus == (row.dp or 0) * (row.cp or 1):
        return blank
    if zero_stage(row.zero)[0] == 3 and row.dp is None:
        whose = "assumed with sharded weights"
        assumed.extend(not_stated(name, 1, whose=whose) for name in blank)
        return blank
    return {}


def _batch(row: PublishedRow, assumed: list[Assumed]) -> dict[str, int]:
    """A blank batch is what the micro-batches add up to; one over 100,000 counts tokens."""
    counted = (row.num_microbatches, row.mbs, row.dp)
    product = None if None in counted else math.prod(size for size in counted if size)
    if row.gbs is None and product is not None:
        assumed.append(_counted("gbs", product, "not stated, micro-batches x mbs x dp ="))
        return {"gbs": product}
    if row.gbs is None or row.gbs < _TOKENS_FROM or row.seq_len is None:
        return {}
    if row.gbs % row.seq_len:
        raise Contradiction(
            f"gbs = {row.gbs} is no count of sequences, and not tokens of seq_len = {row.seq_len}"
        )
    sequences = row.gbs // row.seq_len
    why = f"{row.gbs} read as tokens, {sequences} sequences"
    assumed.append(
        Assumed(what="gbs", value=f"{sequences}", why=why, how="sequences in column gbs")
    )
    return {"gbs": sequences}


def _micro_batch(row: PublishedRow, assumed: list[Assumed]) -> dict[str, int]:
    """A blank micro-batch is what the count of them leaves, or 1 with one sequence a rank."""
    if row.mbs is not None or row.gbs is None or row.dp is None:
        return {}
    ranks = row.dp * (row.num_microbatches or 1)
    if row.gbs % ranks or (row.num_microbatches is None and row.gbs != row.dp):
        return {}
    size = row.gbs // ranks
    assumed.append(not_stated("mbs", size, whose="follows from the batch"))
    return {"mbs": size}


def _data_parallel(row: PublishedRow, assumed: list[Assumed]) -> dict[str, int]:
    """Blank data parallelism is what the other sizes leave."""
    del assumed
    rest = _product(row, "dp")
    if row.dp is not None or row.gpus is None or rest is None or row.gpus % rest:
        return {}
    return {"dp": row.gpus // rest}


_STEPS: tuple[Step, ...] = (
    _devices,
    _one_size,
    _unsplit,
    _data_parallel,
    _batch,
    _micro_batch,
)


def filled(row: PublishedRow, assumed: list[Assumed]) -> PublishedRow:
    """Return a row with the blank cells that follow from its others.

    Args:
        row: A checked row.
        assumed: Gets a record of each cell that is no mere division.

    Raises:
        Contradiction: If the batch counts neither sequences nor whole sequences' tokens.
    """
    for step in _STEPS:
        found = step(row, assumed)
        if found:
            row = row.model_copy(update=found)
    ranks = (row.mbs or 1) * (row.dp or 1)
    stated = row.num_microbatches
    if stated and row.mbs and row.dp and row.gbs and stated * ranks != row.gbs:
        used = f"{row.gbs / ranks:g}"
        why = f"{stated} stated, gbs / (mbs x dp) = {used} used"
        how = "gbs, mbs and dp that agree with it"
        assumed.append(Assumed(what="num_microbatches", value=used, why=why, how=how))
    return row
