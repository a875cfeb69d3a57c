"""The drawings of `steptime schedule`: the predicted pipeline, and a measured one on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from steptime.cli.output import console, seconds
from steptime.cli.schedule_files import write
from steptime.inputs.errors import ConfigError
from steptime.pipeline.overlay import overlay_svg, overlay_trace, unit_s
from steptime.pipeline.svg import svg
from steptime.pipeline.timeline import Timeline
from steptime.pipeline.trace import trace

Overlay = Annotated[
    list[Path] | None,
    typer.Option("--overlay", help="A trace of your run to draw under it, one a rank; repeat it."),
]


def check_overlay(overlay: Sequence[Path] | None, *paths: Path | None) -> None:
    """Refuse traces to lay over a drawing that nobody asked for.

    Args:
        overlay: The traces.
        *paths: Where drawings go.

    Raises:
        ConfigError: If there are traces and no drawing.
    """
    if overlay and not any(paths):
        raise ConfigError("--overlay needs a drawing to lay it on: --svg FILE or --trace FILE")


def write_drawings(
    timeline: Timeline,
    trace_path: Path | None,
    svg_path: Path | None,
    overlay: Sequence[Path] | None,
    unit_seconds: float | None,
    quiet: bool,
) -> None:
    """Write the drawings that were asked for.

    Args:
        timeline: The predicted pipeline.
        trace_path: For Perfetto; None for none.
        svg_path: Likewise.
        overlay: Traces of a measured one, a rank each; None for none.
        unit_seconds: Seconds in a unit of time; as makes both steps as long if None.
        quiet: Whether to say nothing of the measured one.
    """
    if not overlay:
        if trace_path:
            write(trace_path, json.dumps(trace(timeline)))
        if svg_path:
            write(svg_path, svg(timeline))
        return
    from steptime.evidence.trace_pipeline import measured_pipeline

    found = measured_pipeline(overlay, timeline.ranks)
    unit = unit_seconds or unit_s(timeline, found.step_time_s)
    if trace_path:
        write(trace_path, json.dumps(overlay_trace(timeline, found.rows, unit)))
    if svg_path:
        write(svg_path, overlay_svg(timeline, found.rows, found.step_time_s, unit))
    if not quiet:
        how = "as stated" if unit_seconds else "so that both steps are as long"
        console().print(
            f"measured: {seconds(found.step_time_s)} ({found.name}); a unit of time is "
            f"{seconds(unit)}, {how}",
            markup=False,
        )
