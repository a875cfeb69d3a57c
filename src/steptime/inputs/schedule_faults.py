"""The sentence of each rule that a pipeline schedule can break."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.formulas.schedule_rules import mended_sizes, schedule_rule
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES, Batch, Layout, num_microbatches

_EVEN = (
    "schedule='{schedule}' needs an even pp and an even number of micro-batches, got {pp} and "
    "{micro}; use {even_pp} and {even}, or {instead}"
)
SCHEDULE_FAULTS = (
    ("vpp", "schedule='{schedule}' has two chunks a device; use vpp=2, got vpp={vpp}"),
    (
        "vpp",
        "schedule='{schedule}' has one chunk a device; use vpp=1, or interleaved-1f1b with a "
        "multiple of {pp} micro-batches, got vpp={vpp}",
    ),
    (
        "num_microbatches",
        "schedule='{schedule}' runs equal rounds of at least pp={pp} micro-batches, and {micro} "
        "do not fall into such; use {fewer} or {more}",
    ),
    (
        "num_microbatches",
        _EVEN,
    ),
    (
        "num_microbatches",
        "schedule='{schedule}' needs 2 pp = {least} micro-batches, got {micro}; use a larger "
        "batch, a smaller dp or pp, or {instead}",
    ),
    (
        "vpp",
        "vpp={vpp} cuts a stage of a pipeline into chunks, and pp={pp} makes none; use vpp=1",
    ),
    ("num_microbatches", _EVEN),
)
"""What each rule of `steptime.formulas.schedule_rules.schedule_rule` is about, and its sentence.

The layout page prints the same sentences.
"""
INSTEAD = ("", "", "", "dualpipe-v", "zb-v", "", "zb-v")
"""Of each rule, a schedule that it does not bind and that is near; empty where sizes mend it."""


def check_schedule(layout: Layout, batch: Batch) -> None:
    """Refuse sizes that the layout's schedule cannot run at.

    Args:
        layout: Gives schedule, stages and chunks.
        batch: Gives the micro-batches.

    Raises:
        ConfigError: With what would run.
    """
    micro = num_microbatches(layout, batch)
    code = float(SCHEDULES.index(layout.schedule))
    rule = schedule_rule(code, float(layout.pp), float(micro), float(layout.vpp))
    if rule:
        sizes: Mapping[str, Any] = mended_sizes(float(layout.pp), float(micro))
        raise ConfigError(
            SCHEDULE_FAULTS[int(rule) - 1][1].format(
                schedule=layout.schedule,
                pp=layout.pp,
                vpp=layout.vpp,
                micro=micro,
                instead=INSTEAD[int(rule) - 1],
                **{name: int(size) for name, size in sizes.items()},
            )
        )
