"""Which rows look mis-measured or mis-described, and what would mend them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from steptime.evidence.contradictions import past_the_peak
from steptime.evidence.judge import checked_result
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import RowResult
from steptime.inputs.constants import RooflineConstants

# A row stands out if its error is this many typical errors from the file's middle...
_STANDS_OUT = 3.5
# ... and at least this large; a mend must leave at most a third of it.
_LEAST = math.log(1.15)
_FEWEST_ROWS = 3
# Other readings are tried for the worst of a large file only.
_MOST_MENDED = 200
_MENDED = 1.0 / 3.0
# ... and at most half of the error as the table has it, and less than a factor of two.
_BETTER = 0.5
_MOST_LEFT = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A row that stands out from the others of its file.

    Attributes:
        id: Of the row.
        error: ln(predicted / measured step time).
        typical: Middle error of the file.
        suspicion: mis-described, mis-measured, or unexplained.
        why: A sentence.
    """

    id: str
    error: float
    typical: float
    suspicion: str
    why: str


def _ln_error(result: RowResult) -> float:
    return math.log(result.step_time_s / result.published_step_time_s)


def _shown(error: float) -> float:
    """Return an error as the table shows it: predicted over measured throughput, less one."""
    return math.expm1(-error)


def _batches(row: PublishedRow) -> Iterator[tuple[str, PublishedRow]]:
    """Yield other ways to read the batch."""
    if row.gbs and row.seq_len and row.gbs % row.seq_len == 0:
        sequences = row.gbs // row.seq_len
        yield "gbs in tokens", row.model_copy(update={"gbs": sequences, "num_microbatches": None})
    if row.num_microbatches and row.mbs and row.dp:
        whole = row.num_microbatches * row.mbs * row.dp
        if whole != row.gbs:
            yield f"gbs {whole}, as its micro-batches add up", row.model_copy(update={"gbs": whole})


def _rates(row: PublishedRow) -> Iterator[tuple[str, PublishedRow]]:
    """Yield other ways to read what was measured."""
    if row.step_time_s is not None:
        time_s = row.step_time_s / 1000.0
        yield "step_time_s in milliseconds", row.model_copy(update={"step_time_s": time_s})
        return
    if row.tokens_per_s_per_gpu is not None:
        if row.gpus:
            total = row.tokens_per_s_per_gpu / row.gpus
            whole = row.model_copy(update={"tokens_per_s_per_gpu": total})
            yield "tokens/s of the whole job, not of one GPU", whole
        return
    for convention in ("hardware-full", "model-full", "model-causal"):
        if convention != row.flop_convention:
            changed = row.model_copy(update={"flop_convention": convention})
            yield f"FLOP counted as {convention}", changed
    if row.mfu_pct is not None and row.tflops_per_gpu is None:
        share = row.model_copy(update={"mfu_pct": 100.0 * row.mfu_pct})
        yield "mfu_pct as a fraction", share


def _alternatives(row: PublishedRow) -> Iterator[tuple[str, PublishedRow]]:
    """Yield other ways to read a row, each with the words for it."""
    if row.pp and row.pp > 1 and row.layers:
        most = -(-row.layers // row.pp)
        for v in range(1, most + 1):
            even = 0 in (row.layers % (row.pp * v), (row.layers + 2) % (row.pp * v))
            if even and v != (row.vpp or 1):
                yield f"vpp {v}", row.model_copy(update={"vpp": v})
    for mode in ("none", "selective", "full"):
        if not row.recompute.lower().startswith(mode):
            yield f"recompute {mode}", row.model_copy(update={"recompute": mode})
    for size in (1, 2, 4, 8):
        if row.mbs is not None and size != row.mbs:
            changed = {"mbs": size, "num_microbatches": None}
            yield f"micro-batch size {size}", row.model_copy(update=changed)
    yield from _batches(row)
    if row.precision.lower() in ("bf16", "fp16"):
        yield "precision fp8", row.model_copy(update={"precision": "fp8"})
    elif row.precision:
        yield "precision bf16", row.model_copy(update={"precision": "bf16"})
    yield from _rates(row)


def _mends(found: float, error: float, typical: float) -> bool:
    """Return whether a reading takes an error away, beside the file's middle and as it is shown."""
    return (
        abs(found - typical) <= _MENDED * abs(error - typical)
        and abs(_shown(found)) <= _BETTER * abs(_shown(error))
        and abs(found) < _MOST_LEFT
    )


def _mend(
    row: PublishedRow, error: float, typical: float, constants: RooflineConstants
) -> tuple[str, float] | None:
    best: tuple[str, float] | None = None
    for name, changed in _alternatives(row):
        try:
            result = checked_result(run_of(changed), constants=constants)
        except (Incomplete, ArithmeticError):
            continue
        found = _ln_error(result)
        # What nobody can have measured either is no better reading.
        if result.kept_out or not _mends(found, error, typical):
            continue
        if best is None or abs(found - typical) < abs(best[1] - typical):
            best = name, found
    return best


def _twin(row: PublishedRow, rows: Sequence[PublishedRow]) -> PublishedRow | None:
    """Return another row with the same layout, or one that differs in its micro-batch only."""
    names = (
        *("model", "gpu", "gpus", "tp", "pp", "vpp", "cp", "ep", "gbs", "seq_len", "precision"),
        *("recompute", "zero", "software"),
    )
    key = [getattr(row, name) for name in names]
    for other in rows:
        if other.id != row.id and [getattr(other, name) for name in names] == key:
            return other
    return None


def _verdict(
    error: float, mend: tuple[str, float] | None, impossible: str, twin: str, passed: bool
) -> tuple[str, str]:
    """Return what a row that stands out looks like, and why.

    Args:
        error: ln(predicted / measured step time).
        mend: A better reading, and its error.
        impossible: Why nobody can have measured it.
        twin: Id of a row with its layout that fits.
        passed: Whether it is impossible as it is past its device's peak: a clock may do that.
    """
    if mend is not None:
        left = f"with {mend[0]} the error would be {100 * _shown(mend[1]):+.1f} %"
        return "mis-described", f"{impossible}; {left}" if impossible else left
    if impossible:
        return "mis-measured" if passed else "mis-described", impossible
    side = "slower" if error < 0.0 else "faster"
    change = f"its error is {100 * _shown(error):+.1f} %, {side} than predicted"
    if twin:
        return "mis-measured", f"{change}, while {twin} with its layout fits"
    return "unexplained", change


def _middle(errors: Sequence[float]) -> tuple[bool, float, float]:
    """Return whether rows are too few to compare, their middle error, and their spread.

    Args:
        errors: Of the rows that one may have measured.
    """
    alone = len(errors) < _FEWEST_ROWS
    # So few rows are compared with the model itself.
    typical = 0.0 if alone else median(errors)
    if not errors:
        return alone, typical, 1.0
    return alone, typical, max(1.4826 * median(abs(e - typical) for e in errors), 0.03)


def diagnoses(
    rows: Sequence[PublishedRow], results: Sequence[RowResult], constants: RooflineConstants
) -> tuple[Diagnosis, ...]:
    """Return the rows that stand out, each with the likeliest reason.

    A row is mis-described if one other reading of it takes most of its error away, or if it is
    off by more than any run; it is mis-measured if a row with the same layout (or another
    micro-batch) fits and it does not, or if it is past its device's peak.

    Args:
        rows: The file.
        results: The roofline model's results on it.
        constants: Of the model.
    """
    by_id = {result.id: result for result in results}
    errors = {name: _ln_error(result) for name, result in by_id.items()}
    alone, typical, spread = _middle([errors[one.id] for one in results if not one.kept_out])
    far = max(_STANDS_OUT * spread, _LEAST)
    odd = []
    for row in rows:
        if row.id not in by_id:
            continue
        impossible = by_id[row.id].kept_out
        if impossible or (not alone and abs(errors[row.id] - typical) >= far):
            odd.append((row, impossible))
    odd.sort(key=lambda pair: -abs(errors[pair[0].id] - typical))
    found = []
    for place, (row, impossible) in enumerate(odd):
        error, mend, twin = errors[row.id], None, None
        if place < _MOST_MENDED:
            mend, twin = _mend(row, error, typical, constants), _twin(row, rows)
        fits = twin is not None and abs(errors.get(twin.id, error) - typical) < 2.0 * spread
        passed = impossible and past_the_peak(run_of(row), by_id[row.id].published_step_time_s)
        suspicion, why = _verdict(
            error, mend, impossible, twin.id if twin and fits else "", bool(passed)
        )
        found.append(Diagnosis(row.id, error, typical, suspicion, why))
    return tuple(found)
