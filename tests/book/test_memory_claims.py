"""Memory figures that papers and software print, against the formulas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.book.study.memory_claims import Stated, stated_figures
from steptime.book.tables.memory_claims import stated_table

FIGURES = stated_figures()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.what)
def test_every_stated_figure_comes_out(figure: Stated) -> None:
    assert figure.agrees, (figure.stated, figure.model)


def test_a_figure_one_unit_off_does_not_agree() -> None:
    for figure in FIGURES:
        step = 10.0**-figure.digits
        assert not replace(figure, model=figure.stated + 1.01 * step).agrees
        assert not replace(figure, model=figure.stated - 0.51 * step).agrees


def test_zero_at_64_copies_by_hand() -> None:
    """rajbhandari2020, Table 1: 7.5 (4 + 12/64), 7.5 (2 + 14/64) and 7.5 * 16/64 GB."""
    found = [f.model for f in FIGURES if f.what.startswith("7.5 billion parameters, 64 copies")]
    assert found == [7.5 * (4 + 12 / 64), 7.5 * (2 + 14 / 64), 7.5 * 16 / 64]


def test_the_table_says_which_figures_agree() -> None:
    wrong = replace(FIGURES[0], model=FIGURES[0].stated * 2)
    lines = str(stated_table([FIGURES[0], wrong])).splitlines()
    assert lines[-2].endswith("| yes |")
    assert lines[-1].endswith("| no |")
