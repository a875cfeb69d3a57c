"""Finds the chains of actions that can be the longest, and from them V-Half's and V-Min's forms.

The executor's makespan is the highest of linear forms in F, I and W, each a chain of actions.
With durations whose lower digits count actions, the makespan spells out its own chain. For
each size the fewest chains are kept that stay within a tolerance at many ratios.

Run ``python -m steptime.pipeline.chains`` to write both tables anew.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from steptime.formulas.schedules import v_forms
from steptime.formulas.schedules.registry import order_of, place_of
from steptime.formulas.schedules.v_forms import FULL_RANKS, MOST_RANKS, settled_at
from steptime.pipeline.durations import stage_times
from steptime.pipeline.execute import execute

Form = tuple[int, int, int]
SETTLED = {"v-half": 1.5, "v-min": 1.0}
TOLERANCE = 0.003
WIDE_TOLERANCE = 0.0045
"""Of the makespan: what a table may miss, and what it may miss beyond `WIDEST` once settled."""
DIGITS = 10**6
WIDTH = 96
"""Columns of a table's lines."""
WIDEST = 4.0
"""The longest of F, I and W over the shortest."""
WIDER = 10.0
STEPS = 12
"""Micro-batches over which a form's slope is taken."""
EXACT: list[Form] = [(1000, 1000, 1000), (1000, 1200, 900), (1000, 2000, 1000)]
"""Ratios at which a table misses nothing: those that papers and tests use."""


def ratios(count: int, seed: int = 1, widest: float = WIDEST) -> list[Form]:
    """Return lengths of F, I and W with no two further apart than ``widest``.

    Args:
        count: How many.
        seed: Of the draw.
        widest: The longest over the shortest.
    """
    draw = random.Random(seed)
    found = list(EXACT)
    while len(found) < count:
        f, i, w = (int(1000 * widest ** draw.uniform(-0.5, 0.5)) for _ in range(3))
        if max(f, i, w) <= widest * min(f, i, w):
            found.append((f, i, w))
    return found


def chain(orders: list[list[int]], stages: int, micro_batches: int, lengths: Form) -> Form:
    """Return how many F, I and W the longest chain of a step holds.

    Args:
        orders: Action codes of each rank.
        stages: Stages in all, S.
        micro_batches: Micro-batches, m.
        lengths: Of F, I and W, whole numbers.
    """
    forward, inputs, weights = (
        length * DIGITS**3 + DIGITS**power for length, power in zip(lengths, (2, 1, 0), strict=True)
    )
    parts = {
        "forward": [forward] * stages,
        "backward": [inputs + weights] * stages,
        "backward_input": [inputs] * stages,
        "backward_weight": [weights] * stages,
    }
    send = {"latency": 0, "transfer": 0, "blocking": False}
    pair = {"paired": True, "hidden": 0}
    times = stage_times(orders, stages, micro_batches, parts, send, pair)
    ends = execute(orders, stages, micro_batches, times)["ends"]
    makespan = max(end[-1] for end in ends)
    return (
        makespan // DIGITS**2 % DIGITS,
        makespan // DIGITS % DIGITS,
        makespan % DIGITS,
    )


def idle_chains(name: str, p: int, m: int, v: int, lengths: Sequence[Form]) -> list[Form]:
    """Return, for each ratio, the longest chain less the work of a rank.

    Args:
        name: A schedule.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.
        lengths: Of F, I and W.
    """
    orders = order_of(place_of(name), p, m, v)
    work = m * v
    found = []
    for each in lengths:
        f, i, w = chain(orders, p * v, m, each)
        found.append((f - work, i - work, w - work))
    return found


def _worth(form: Form, lengths: Form) -> int:
    return sum(a * b for a, b in zip(form, lengths, strict=True))


def fewest(forms: list[Form], truth: Sequence[Form], m: int, lengths: Sequence[Form]) -> list[int]:
    """Return the places of few forms that are within the tolerance at every ratio.

    Args:
        forms: To choose from.
        truth: The longest chain at each ratio.
        m: Micro-batches; a rank's work is twice as many actions of each kind.
        lengths: The ratios.
    """
    enough: list[set[int]] = []
    for form in forms:
        good = set()
        for at, (best, each) in enumerate(zip(truth, lengths, strict=True)):
            most = _worth(best, each)
            makespan = most + 2 * m * sum(each)
            missed = WIDE_TOLERANCE if max(each) > WIDEST * min(each) else TOLERANCE
            missed *= each not in EXACT
            if _worth(form, each) >= most - missed * makespan:
                good.add(at)
        enough.append(good)
    missing = set(range(len(lengths)))
    chosen = []
    while missing:
        best_form = max(range(len(forms)), key=lambda k: len(enough[k] & missing))
        missing -= enough[best_form]
        chosen.append(best_form)
    return chosen


def few_rows(name: str, p: int) -> list[list[int]]:
    """Return the rows of a table for numbers of micro-batches that are too few to settle.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.

    Returns:
        A row for each number: slope, F, I and W of each form.
    """
    lengths = ratios(700)
    rows = []
    for m in range(1, int(settled_at(float(p), SETTLED[name]))):
        truth = idle_chains(name, p, m, 2, lengths)
        forms = sorted(set(truth))
        rows.append([n for k in fewest(forms, truth, m, lengths) for n in (0, *forms[k])])
    return rows


def settled_row(name: str, p: int, slopes: list[Form]) -> list[int]:
    """Return the row of a table for all larger numbers of micro-batches.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
        slopes: Those met so far; new ones are added.
    """
    lengths = ratios(400) + ratios(200, 2, WIDER)
    settled = int(settled_at(float(p), SETTLED[name]))
    grown: list[tuple[Form, Form]] = []
    for m in (4 * p, 2 * p, settled):
        near = idle_chains(name, p, m, 2, lengths)
        later = idle_chains(name, p, m + STEPS, 2, lengths)
        pairs = {(_minus(y, x, STEPS), x) for x, y in zip(near, later, strict=True)}
        # Nearer to the start two chains may differ by more than a slope.
        known = {slope for slope, _ in grown} or {slope for slope, _ in pairs}
        grown += [(slope, _plus(x, slope, -m)) for slope, x in sorted(pairs) if slope in known]
    grown = sorted(set(grown))
    kept: dict[int, None] = {}
    for m in (settled, 2 * p, 4 * p, 12 * p):
        forms = [_plus(x, slope, m) for slope, x in grown]
        truth = [_highest(forms, each) for each in lengths]
        kept.update(dict.fromkeys(fewest(forms, truth, m, lengths)))
    row: list[int] = []
    for k in kept:
        slope, x = grown[k]
        if slope not in slopes:
            slopes.append(slope)
        row += [slopes.index(slope), *x]
    return row


def _minus(later: Form, near: Form, steps: int) -> Form:
    f, i, w = ((b - a) // steps for a, b in zip(near, later, strict=True))
    return f, i, w


def _plus(form: Form, slope: Form, steps: int) -> Form:
    f, i, w = (a + steps * s for a, s in zip(form, slope, strict=True))
    return f, i, w


def _highest(forms: list[Form], lengths: Form) -> Form:
    return max(forms, key=lambda form: _worth(form, lengths))


def table_text(name: str) -> str:
    """Return the module that holds the table of V-Half or of V-Min.

    Args:
        name: Its name.
    """
    slopes: list[Form] = [(0, 0, 0)]
    rows: list[list[int]] = []
    for p in range(1, int(MOST_RANKS) + 1):
        rows += few_rows(name, p) if p <= FULL_RANKS else []
        rows.append(settled_row(name, p, slopes))
    title = name.upper().replace("-", "_")
    text = "".join("".join(f"{number + 128:02x}" for number in row) + "." for row in rows)
    lines = [
        f'"""Forms of {title}: `v_forms` says how to read them; `pipeline.chains` made them."""',
        "",
        "from steptime.formulas.schedules.v_forms import _columns",
        "",
        f"_SLOPES = {[list(slope) for slope in slopes]}",
        '_FORMS = """',
        *(text[at : at + WIDTH] for at in range(0, len(text), WIDTH)),
        '"""',
        f"{title}_FORMS = _columns(_FORMS, _SLOPES)",
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    """Write both tables."""
    folder = Path(v_forms.__file__).parent
    for name in SETTLED:
        path = folder / f"{name.replace('-', '_')}_table.py"
        path.write_text(table_text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
