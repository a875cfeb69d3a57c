"""How `steptime explain --measured` prints a measured step beside the answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steptime.cli.output import console, percent, print_table, seconds

if TYPE_CHECKING:
    from steptime.planning.measured import Comparison

_MOST = 6
"""Causes that are printed; JSON has all."""


def comparison_dict(beside: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON holds it.

    Args:
        beside: The comparison.
    """
    own, found = beside.own, beside.measured
    return {
        "measured": found.text,
        "measured_step_time_s": found.step_time_s,
        "measured_over_predicted": found.step_time_s / own.step_time_s,
        "inside_interval": beside.inside,
        "causes": [asdict(one) for one in beside.causes],
        "change": beside.change,
        "change_gain_fraction": beside.gain_fraction,
        "rest": beside.rest,
    }


def print_comparison(beside: Comparison) -> None:
    """Print what was measured beside the answer, what the gap could be, and what to change.

    Args:
        beside: The comparison.
    """
    own, found, out = beside.own, beside.measured, console()
    over = found.step_time_s / own.step_time_s - 1.0
    slower = f"{percent(abs(over))} {'slower' if over >= 0.0 else 'faster'} than predicted"
    where = {True: "inside the interval", False: "outside the interval", None: "no interval"}
    out.print(
        f"measured: {found.text}: {seconds(found.step_time_s)} a step, {slower}, "
        f"{where[beside.inside]}",
        markup=False,
    )
    if beside.inside:
        out.print("the interval leaves no gap to explain")
    rows = [
        (one.title, seconds(one.step_time_s), percent(one.gap_fraction), one.flag)
        for one in beside.causes[:_MOST]
    ]
    if rows:
        heads = (("the gap could be", "left"), ("a step then", "right"))
        print_table("", (*heads, ("of the gap", "right"), ("change", "left")), rows)
    if not beside.inside:
        out.print(f"beyond the model: {beside.rest}", markup=False)
    if beside.change:
        gain = f", {percent(beside.gain_fraction)} less" if beside.gain_fraction else ""
        out.print(f"change first: {beside.change}{gain}", markup=False)
