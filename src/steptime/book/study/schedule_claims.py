"""§12b: what papers print of their schedules, beside what the simulator finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steptime.pipeline.measure import bubble
from steptime.pipeline.report import report
from steptime.pipeline.schedules import default_chunks
from steptime.pipeline.timeline import Timeline, Work, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One cell of a paper's table, and what the simulator finds.

    Attributes:
        source: Key in ``references.bib`` and place in it.
        schedule: Its name.
        quantity: What is claimed.
        formula: As the source writes it, in the letters of this book.
        claimed: Its value at the size shown.
        simulated: The simulator's.
    """

    source: str
    schedule: str
    quantity: str
    formula: str
    claimed: float
    simulated: float


_IDLE = "idle slots a rank"
_SPAN = "idle slots in the longest span"
_HELD = "micro-batches held"

# With p ranks, and F, I and W slots of a whole rank; two chunks where there are chunks.
_FORMS: dict[str, Callable[[float, float, float, float], float]] = {
    "(p-1)(F+B)": lambda p, f, i, w: (p - 1) * (f + i + w),
    "(p-1)(F+B)/v": lambda p, f, i, w: (p - 1) * (f + i + w) / 2,
    "(p-1)(F+I-W)": lambda p, f, i, w: (p - 1) * (f + i - w),
    "(p-1)(F+I-2W)": lambda p, f, i, w: (p - 1) * (f + i - 2 * w),
    "(p-1)(F+B-2W)": lambda p, f, i, w: (p - 1) * (f + i - w),
    "(p/2-1)(F&B+B-3W)": lambda p, f, i, w: (p / 2 - 1) * (f + 2 * i - w),
    "0 if F=I=W": lambda p, f, i, w: 0.0,
    "about half of 1F1B's": lambda p, f, i, w: (p - 1) * (f + i + w) / 2,
    "about 2/3 of 1F1B's": lambda p, f, i, w: (p - 1) * (f + i + w) * 2 / 3,
    "p": lambda p, f, i, w: p,
    "p+1": lambda p, f, i, w: p + 1,
    "2p-1": lambda p, f, i, w: 2 * p - 1,
    "floor((p+2)/2)": lambda p, f, i, w: (p + 2) // 2,
    "floor((p+4)/3)": lambda p, f, i, w: (p + 4) // 3,
}
_CLAIMS = (
    ("narayanan2021, Sec. 2.2.1", "gpipe", _IDLE, "(p-1)(F+B)"),
    ("narayanan2021, Sec. 2.2.1", "1f1b", _IDLE, "(p-1)(F+B)"),
    ("narayanan2021, Sec. 2.2.1", "1f1b", _HELD, "p"),
    ("narayanan2021, Sec. 2.2.2", "interleaved-1f1b", _IDLE, "(p-1)(F+B)/v"),
    ("lamypoirier2023, its breadth-first schedule", "looped-bfs", _IDLE, "(p-1)(F+B)/v"),
    ("qi2023, Table 2", "zb-h1", _SPAN, "(p-1)(F+I-W)"),
    ("qi2023, Table 2", "zb-h1", _HELD, "p"),
    ("qi2023, Table 2", "zb-h2", _SPAN, "(p-1)(F+I-2W)"),
    ("qi2023, Table 2", "zb-h2", _HELD, "2p-1"),
    ("qi2023, Sec. 6", "zb-v", _SPAN, "0 if F=I=W"),
    ("qi2023, Sec. 6", "zb-v", _HELD, "p"),
    ("zbpp2025, its playground, description1.md", "v-half", _HELD, "floor((p+2)/2)"),
    ("zbpp2025, README", "v-half", _IDLE, "about half of 1F1B's"),
    ("zbpp2025, its playground, description1.md", "v-min", _HELD, "floor((p+4)/3)"),
    ("zbpp2025, README", "v-min", _IDLE, "about 2/3 of 1F1B's"),
    ("deepseek2024, Table 2", "zb-h1", _SPAN, "(p-1)(F+B-2W)"),
    ("deepseek2024, Table 2", "dualpipe", _IDLE, "(p/2-1)(F&B+B-3W)"),
    ("deepseek2024, Table 2", "dualpipe", _HELD, "p+1"),
)


def claims(stages: int, micro_batches: int, lengths: Sequence[float]) -> list[Claim]:
    """Return what papers say of their schedules beside what the simulator finds.

    Pairs save nothing: F&B = F + B.

    Args:
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        lengths: F, I and W of a whole rank; claims for F = I = W are checked at that.
    """
    found = []
    for source, name, quantity, formula in _CLAIMS:
        equal = name in ("zb-v", "v-half", "v-min")
        f, i, w = (1.0, 1.0, 1.0) if equal else lengths
        step = _whole_rank(name, stages, micro_batches, (f, i, w))
        found.append(
            Claim(
                source=source,
                schedule=name,
                quantity=quantity + (", F=I=W" if equal and quantity != _HELD else ""),
                formula=formula,
                claimed=_FORMS[formula](stages, f, i, w),
                simulated=_measured(step, quantity, micro_batches * (f + i + w)),
            )
        )
    return found


def _whole_rank(
    name: str, stages: int, micro_batches: int, lengths: tuple[float, float, float]
) -> Timeline:
    """Return a timeline where F, I and W are those of a rank, shared out over its chunks."""
    chunks = default_chunks(name, stages)
    f, i, w = (length / chunks for length in lengths)
    work = Work(forward=f, backward=i + w, backward_input=i, backward_weight=w)
    return simulate(name, stages, micro_batches, chunks, work)


def _measured(step: Timeline, quantity: str, useful: float) -> float:
    totals = bubble(step.orders, step.result)
    if quantity == _HELD:
        return float(max(report(step)["peak_micro_batches"]))
    time = totals["span"] if quantity == _SPAN else totals["makespan"]
    return float(step.in_units(time)) - useful
