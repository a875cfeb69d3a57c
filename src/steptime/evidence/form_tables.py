"""Makes the tables of V-Half's and V-Min's forms, from the chains that the executor's steps show.

For each size the fewest chains are kept that stay within a tolerance at many ratios. A row of a
table serves as many numbers of micro-batches as it can: its forms grow by a slope with each.

Run ``python -m steptime.evidence.form_tables`` to write both tables anew.
"""

from __future__ import annotations

from base64 import b85encode
from pathlib import Path
from zlib import compress

import numpy as np

from steptime.evidence.chains import (
    Forms,
    fewest,
    idle_chains,
    lattice,
    missed_at_most,
    ratios,
    spread,
)
from steptime.formulas.schedules import v_forms
from steptime.formulas.schedules.v_forms import ZERO, settled_at

SETTLED = {"v-half": 1.5, "v-min": 1.0}
PARTS = {"small": (1, 32), "large": (33, 48), "largest": (49, 64)}
"""The files of a table, and the first and the last number of ranks in each."""
WIDTH = 100
"""Columns of a table's lines."""
WIDER = 10.0
"""The longest of F, I and W over the shortest, for settled forms."""
STEPS = 12
"""Micro-batches over which a settled form's slope is taken."""
LOOKAHEAD = 3
"""Numbers of micro-batches that a row may fail to reach before its search ends."""
STEEPEST = 4
"""F, I or W by which a form may grow with a micro-batch."""
FINE, COARSE, BETWEEN = (14, 10), (12, 8), (500, 250)
"""Steps of the ratios at which rows for few micro-batches and settled ones are compared, and how
many are drawn between them, where two that few forms serve may miss more; of the small part, and of
the others."""

Row = list[int]
"""How many numbers of micro-batches it serves, 0 for all that follow; then of each form F, I and W
of its slope, and F, I and W."""


def reaching(truth: dict[int, Forms], start: int, end: int, lengths: Forms) -> Forms | None:
    """Return few forms that serve all micro-batches from one number to another, None without.

    Args:
        truth: The longest chain at each ratio, by micro-batches.
        start: The first number of micro-batches.
        end: The last.
        lengths: The ratios.

    Returns:
        Rows of a form at ``start`` and its slope, six numbers each.
    """
    far = max(end - start, 1)
    grown = truth[end] - truth[start]
    usual = (grown % far == 0).all(axis=1) & (abs(grown) <= far * STEEPEST).all(axis=1)
    if not usual.any():
        return None
    forms = np.unique(np.concatenate([truth[start], grown // far], axis=1)[usual], axis=0)
    low = np.ones(len(forms), dtype=bool)
    enough = []
    for m in range(start, end + 1):
        at = (forms[:, :3] + (m - start) * forms[:, 3:]) @ lengths.T
        best = (truth[m] * lengths).sum(axis=1)
        low &= (at <= best).all(axis=1)
        enough.append(at >= best - missed_at_most(truth[m], m, lengths))
    chosen = fewest(np.concatenate(enough, axis=1)[low]) if low.any() else None
    return None if chosen is None else forms[low][chosen]


def few_rows(name: str, p: int) -> list[Row]:
    """Return the rows of a table for numbers of micro-batches that are too few to settle.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
    """
    part = _part(p)
    lengths = np.concatenate([lattice(FINE[part]), ratios(BETWEEN[part])])
    last = int(settled_at(float(p), SETTLED[name])) - 1
    truth = {m: idle_chains(name, p, m, 2, lengths) for m in range(1, last + 1)}
    rows: list[Row] = []
    start = 1
    while start <= last:
        end, found = start, reaching(truth, start, start, lengths)
        for further in range(start + 1, last + 1):
            if further > end + LOOKAHEAD:
                break
            more = reaching(truth, start, further, lengths)
            if more is not None:
                end, found = further, more
        assert found is not None  # the chains of one size serve that size
        rows.append([end - start + 1, *_spelt(found)])
        start = end + 1
    return rows


def _part(p: int) -> int:
    return int(p > PARTS["small"][1])


def _spelt(forms: Forms) -> list[int]:
    spelt = sorted((*map(int, form[3:]), *map(int, form[:3])) for form in forms)
    return [number for form in spelt for number in form]


def settled_row(name: str, p: int) -> Row:
    """Return the row of a table for all larger numbers of micro-batches.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
    """
    part = _part(p)
    even = [lattice(COARSE[part]), lattice(COARSE[part], WIDER)]
    lengths = np.concatenate([*even, ratios(BETWEEN[part])])
    settled = int(settled_at(float(p), SETTLED[name]))
    grown: list[Forms] = []
    known: Forms | None = None
    for m in (4 * p, 2 * p, settled):
        near = idle_chains(name, p, m, 2, lengths)
        slope = (idle_chains(name, p, m + STEPS, 2, lengths) - near) // STEPS
        forms = np.unique(np.concatenate([near - m * slope, slope], axis=1), axis=0)
        # Nearer to the start two chains may differ by more than a slope.
        known = np.unique(slope, axis=0) if known is None else known
        grown.append(forms[(forms[:, None, 3:] == known).all(axis=2).any(axis=1)])
    every = spread(grown)
    kept: dict[int, None] = {}
    for m in (settled, 2 * p, 4 * p, 12 * p):
        at = (every[:, :3] + m * every[:, 3:]) @ lengths.T
        truth = (every[:, :3] + m * every[:, 3:])[at.argmax(axis=0)]
        enough = at >= at.max(axis=0) - missed_at_most(truth, m, lengths)
        kept.update(dict.fromkeys(fewest(enough) or []))
    return [0, *_spelt(every[list(kept)])]


def rows_of(name: str, p: int) -> list[Row]:
    """Return the rows of a table for one number of ranks.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
    """
    return [*few_rows(name, p), settled_row(name, p)]


def table_text(name: str, part: str, rows: list[Row]) -> str:
    """Return the module that holds some rows of the table of V-Half or of V-Min.

    Args:
        name: Its name.
        part: A key of `PARTS`.
        rows: In the order of ranks and micro-batches.
    """
    title = f"{name}-{part}".upper().replace("-", "_")
    text = b85encode(compress(packed(rows), level=9)).decode()
    lines = [
        f'"""Forms of {title}: `v_forms` says how to read them; `form_tables` made them."""',
        "",
        f'{title} = """',
        *(text[at : at + WIDTH] for at in range(0, len(text), WIDTH)),
        '"""',
    ]
    return "\n".join([*lines, ""])


def packed(rows: list[Row]) -> bytes:
    """Return rows as the bytes that `steptime.formulas.schedules.v_forms.FormTable` reads.

    Args:
        rows: In the order of ranks and micro-batches.
    """
    forms = [tuple(row[at : at + 6]) for row in rows for at in range(1, len(row), 6)]
    slopes = list(dict.fromkeys(form[:3] for form in forms))
    numbers = [len(slopes), len(rows)]
    numbers += [slope[k] for k in range(3) for slope in slopes]
    numbers += [row[0] for row in rows]
    numbers += [len(row) // 6 for row in rows]
    numbers += [slopes.index(form[:3]) for form in forms]
    numbers += [form[k] for k in (3, 4) for form in forms]
    numbers += [sum(form[3:]) for form in forms]
    over = [number + ZERO for number in numbers]
    return bytes(number // 256 for number in over) + bytes(number % 256 for number in over)


def main() -> None:
    """Write both tables, a file for each of `PARTS`."""
    folder = Path(v_forms.__file__).parent
    for name in SETTLED:
        for part, (first, last) in PARTS.items():
            rows = [row for p in range(first, last + 1) for row in rows_of(name, p)]
            path = folder / f"{name.replace('-', '_')}_{part}.py"
            path.write_text(table_text(name, part, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
