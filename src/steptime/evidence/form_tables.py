"""Makes the tables of V-Half's and V-Min's forms, from the chains that the executor's steps show.

For each size the fewest chains are kept that stay within a tolerance at many ratios. A row of a
table serves as many numbers of micro-batches as it can: its forms grow by a slope with each.

Run ``python -m steptime.evidence.form_tables`` to write both tables anew.
"""

from __future__ import annotations

from base64 import b85encode
from pathlib import Path

import numpy as np

from steptime.evidence.chains import (
    Form,
    Forms,
    fewest,
    idle_chains,
    lattice,
    missed_at_most,
    spread,
)
from steptime.formulas.schedules import v_forms
from steptime.formulas.schedules.v_forms import MOST_RANKS, ZERO, settled_at

SETTLED = {"v-half": 1.5, "v-min": 1.0}
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
FINE, COARSE = 14, 9
"""Steps of the ratios at which rows for few micro-batches and settled ones are compared."""

Row = list[int]
"""How many numbers of micro-batches it serves, 0 for all that follow; then slope, F, I and W of
each form."""


class Slopes:
    """The slopes that a table's forms have, in the order in which they were met."""

    def __init__(self) -> None:
        self.met: list[Form] = [(0, 0, 0)]

    def place(self, slope: Forms) -> int:
        """Return the place of a slope; a new one is added.

        Args:
            slope: F, I and W.
        """
        f, i, w = (int(one) for one in slope)
        if (f, i, w) not in self.met:
            self.met.append((f, i, w))
        return self.met.index((f, i, w))


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


def few_rows(name: str, p: int, slopes: Slopes) -> list[Row]:
    """Return the rows of a table for numbers of micro-batches that are too few to settle.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
        slopes: Those met so far; new ones are added.
    """
    lengths = lattice(FINE)
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
        rows.append([end - start + 1, *_spelt(found, slopes)])
        start = end + 1
    return rows


def _spelt(forms: Forms, slopes: Slopes) -> list[int]:
    return [int(n) for form in forms for n in (slopes.place(form[3:]), *form[:3])]


def settled_row(name: str, p: int, slopes: Slopes) -> Row:
    """Return the row of a table for all larger numbers of micro-batches.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
        slopes: Those met so far; new ones are added.
    """
    lengths = np.concatenate([lattice(COARSE), lattice(COARSE, WIDER)])
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
    return [0, *_spelt(every[list(kept)], slopes)]


def rows_of(name: str, p: int, slopes: Slopes) -> list[Row]:
    """Return the rows of a table for one number of ranks.

    Args:
        name: V-Half or V-Min.
        p: Pipeline ranks.
        slopes: Those met so far; new ones are added.
    """
    return [*few_rows(name, p, slopes), settled_row(name, p, slopes)]


def table_text(name: str) -> str:
    """Return the module that holds the table of V-Half or of V-Min.

    Args:
        name: Its name.
    """
    slopes = Slopes()
    rows = [row for p in range(1, int(MOST_RANKS) + 1) for row in rows_of(name, p, slopes)]
    title = name.upper().replace("-", "_")
    steps = bytes(number + ZERO for slope in slopes.met for number in slope)
    text = b85encode(bytes([len(slopes.met)]) + steps + b"".join(map(spelt, rows))).decode()
    lines = [
        f'"""Forms of {title}: `v_forms` says how to read them; `form_tables` made them."""',
        "",
        "from steptime.formulas.schedules.v_forms import FormTable",
        "",
        '_FORMS = """',
        *(text[at : at + WIDTH] for at in range(0, len(text), WIDTH)),
        '"""',
        f"{title}_FORMS = FormTable(_FORMS)",
    ]
    return "\n".join([*lines, ""])


def spelt(row: Row) -> bytes:
    """Return a row as bytes: what it serves, its forms, and the numbers of each.

    Args:
        row: Of a table.

    Raises:
        ValueError: If a number is too large for a byte.
    """
    return bytes([row[0], len(row) // 4, *(number + ZERO for number in row[1:])])


def main() -> None:
    """Write both tables."""
    folder = Path(v_forms.__file__).parent
    for name in SETTLED:
        path = folder / f"{name.replace('-', '_')}_table.py"
        path.write_text(table_text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
