"""§17e: what a few own runs teach."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy")

from steptime.book.study.own_runs import NONE, OwnRunsStudy
from steptime.book.tables.own_runs import curve_table, sources_table, spreads_table
from steptime.evidence.ladder import RUNGS
from steptime.evidence.own_curve import Draw

# Two sources, two draws of each count.
STUDY = OwnRunsStudy(
    "nothing",
    ("bloom", "titan"),
    {
        1: (
            Draw("bloom", 1, 0.10, 0.08, ("factor",)),
            Draw("bloom", 1, 0.12, 0.14, ("factor",)),
            Draw("titan", 1, 0.04, 0.02, ("factor",)),
            Draw("titan", 1, 0.06, 0.04, ("factor",)),
        ),
        3: (
            Draw("bloom", 3, 0.10, 0.06, ("factor", "network")),
            Draw("bloom", 3, 0.12, 0.08, ()),
            Draw("titan", 3, 0.04, 0.02, ("factor",)),
            Draw("titan", 3, 0.06, 0.02, ("factor",)),
        ),
    },
)


def test_sources_weigh_the_same_and_the_curve_starts_without_own_runs() -> None:
    none, one, three = STUDY.points()
    assert (none.count, one.count, three.count) == (NONE, 1, 3)
    assert none.mean == pytest.approx((0.11 + 0.05) / 2)
    assert one.mean == pytest.approx((0.11 + 0.03) / 2)
    assert three.mean == pytest.approx((0.07 + 0.02) / 2)
    assert (none.worst, three.worst) == (pytest.approx(0.11), pytest.approx(0.07))


def test_shares_count_draws() -> None:
    none, one, three = STUDY.points()
    assert (none.worse, one.worse, three.worse) == (0.0, 0.25, 0.0)
    assert dict(three.learned) == {"factor": 0.75, "network": 0.25, "host": 0.0}


def test_one_run_teaches_more_where_less_is_known() -> None:
    told, _, nothing = (OwnRunsStudy(rung, (), {}).first_share for rung in RUNGS)
    assert 0.0 < told < 0.3 < nothing < 1.0


def test_tables_show_all() -> None:
    curve = str(curve_table([STUDY]))
    assert "| nothing | 1 | 7.0 % | 11.0 % | 25 % | 100 % | 0 % | 0 % |" in curve
    assert "| nothing | torchtitan | 5.0 % | 3.0 % | 2.0 % |" in str(sources_table([STUDY]))
    share = STUDY.first_share
    assert str(spreads_table([STUDY])).rstrip().endswith(f"| {100 * share:.0f} % |")
