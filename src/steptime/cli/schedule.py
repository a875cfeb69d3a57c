"""`steptime schedule` and `steptime schedules`: pipeline schedules, run exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import print_json
from steptime.cli.outputs import file_read, file_written
from steptime.cli.schedule_files import MOST_ACTIONS, check_actions, read_order, three_files
from steptime.cli.schedule_list import EXAMPLES as LIST_EXAMPLES
from steptime.cli.schedule_list import schedules
from steptime.cli.schedule_overlay import Overlay, check_overlay, write_drawings
from steptime.cli.schedule_print import print_drawing, print_summary
from steptime.cli.schedule_times import (
    durations_told,
    numbers_told,
    preset_times,
    transfer_time,
)
from steptime.inputs.errors import ConfigError, check_number
from steptime.inputs.schedule_name import schedule_meant
from steptime.pipeline.own_order import orders_from_text
from steptime.pipeline.report import deadlock, deadlock_line, held_series, report
from steptime.pipeline.schedules import check_schedule, splits_backward
from steptime.pipeline.timeline import Timeline, Work, simulate, simulate_orders

EXAMPLES = """
Examples:

- `steptime schedule 1f1b --stages 4 --micro-batches 8`

- `steptime schedule interleaved-1f1b -p 4 -m 8 -v 2 --json`

- `steptime schedule zb-h1 --send-latency 0.1 --svg zb.svg`

- `steptime schedule zb-v -p 8 -m 24 --times qi2023-1.5b`

- `steptime schedule zb-2p -p 8 -m 24 --times qi2023-1.5b --kept-for-weights 0.37`

- `steptime schedule --order my_order.csv`

- `steptime schedule 1f1b -p 2 -m 4 --svg both.svg --overlay my_0.json --overlay my_1.json`
"""

Name = Annotated[str | None, typer.Argument(help="A schedule; `steptime schedules` lists them.")]
Stages = Annotated[int, typer.Option("--stages", "-p", help="Pipeline ranks, p.")]
MicroBatches = Annotated[int, typer.Option("--micro-batches", "-m", help="Micro-batches, m.")]
Chunks = Annotated[
    int | None,
    typer.Option(
        "--chunks", "--vpp", "-v", help="Chunks a rank holds, v; default: 2 if it may choose."
    ),
]
# Each of these four is one number, or one for each stage with commas between.
Forward = Annotated[
    str | None,
    typer.Option("--forward", help="Time of F in a chunk: 1; 1,1,2 gives each stage its own."),
]
Times = Annotated[
    str | None,
    typer.Option(
        "--times",
        help="A paper's F, I, W and send of a rank; `steptime schedules --times list` has them.",
    ),
]
UnitSeconds = Annotated[
    float | None, typer.Option("--unit-seconds", help="Seconds in one unit of time.")
]
Backward = Annotated[
    str | None, typer.Option("--backward", help="Time of a whole backward, B; default: I and W.")
]
Input = Annotated[
    str | None,
    typer.Option("--input", help="Time of the backward for inputs, I; default: 1, or half of B."),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", help="Time of the backward for weights, W; default: 1, or half of B."),
]
Pair = Annotated[
    float | None,
    typer.Option("--pair", help="Time of an overlapped F and B; default: one after the other."),
]
Scale = Annotated[
    str | None, typer.Option("--stage-scale", help="A factor per stage, such as 1.2,1,1,0.9.")
]
Latency = Annotated[float, typer.Option("--send-latency", help="Time of a message, bytes aside.")]
MessageBytes = Annotated[
    float | None, typer.Option("--message-bytes", help="Bytes of one message.")
]
Bandwidth = Annotated[
    float | None, typer.Option("--bandwidth", help="Bytes per unit of time that leave a rank.")
]
Blocking = Annotated[
    bool, typer.Option("--blocking-sends", help="A rank waits until its message has arrived.")
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        help="Run this order instead: CSV (PyTorch's dump) or JSON.",
        parser=file_read,
        metavar="FILE",
    ),
]
ActivationBytes = Annotated[
    float,
    typer.Option(
        "--activation-bytes",
        help="Activations of one micro-batch in one chunk; default: those of the times' model.",
    ),
]
KeptShare = Annotated[
    float, typer.Option("--kept-for-weights", help="Share of them that W needs after I.")
]
TraceFile = Annotated[
    str | None,
    typer.Option(
        "--trace", help="Write a Chrome/Perfetto trace.", parser=file_written, metavar="FILE"
    ),
]
SvgFile = Annotated[
    str | None, typer.Option("--svg", help="Write a drawing.", parser=file_written, metavar="FILE")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application.

    Args:
        app: The application.
    """
    app.command("schedule", epilog=EXAMPLES)(schedule)
    app.command("schedules", epilog=LIST_EXAMPLES)(schedules)


def schedule(
    name: Name = None,
    stages: Stages = 4,
    micro_batches: MicroBatches = 8,
    chunks: Chunks = None,
    times: Times = None,
    unit_seconds: UnitSeconds = None,
    forward: Forward = None,
    backward: Backward = None,
    input_time: Input = None,
    weight_time: Weight = None,
    pair: Pair = None,
    stage_scale: Scale = None,
    send_latency: Latency = 0.0,
    message_bytes: MessageBytes = None,
    bandwidth: Bandwidth = None,
    blocking_sends: Blocking = False,
    activation_bytes: ActivationBytes = 0.0,
    kept_for_weights: KeptShare = 1.0,
    order: Order = None,
    trace_file: TraceFile = None,
    svg_file: SvgFile = None,
    overlay: Overlay = None,
    as_json: AsJson = False,
) -> None:
    """Run a pipeline schedule action by action, and show where the idle time goes."""
    name = schedule_meant(name)
    order_file, trace_path, svg_path = three_files(order, trace_file, svg_file)
    check_overlay(overlay, trace_path, svg_path)
    lengths = durations_told(forward, backward, input_time, weight_time)
    lengths, send_latency, unit_seconds, usual_bytes = preset_times(
        times, name, (stages, chunks), lengths, send_latency, unit_seconds
    )
    activation_bytes = activation_bytes or usual_bytes
    work = Work(
        **lengths,
        stage_scale=() if stage_scale is None else numbers_told("--stage-scale", stage_scale),
        send_latency=send_latency,
        send_transfer=transfer_time(message_bytes, bandwidth),
        blocking_sends=blocking_sends,
        pair=pair,
    )
    check_number("--activation-bytes", activation_bytes, above=-1e-300)
    check_number("--kept-for-weights", kept_for_weights, above=-1e-300, most=1.0)
    forms = {"--json": as_json, "--svg": svg_path, "--trace": trace_path}
    most = min((MOST_ACTIONS[form], form) for form in MOST_ACTIONS if forms.get(form, True))
    timeline = _timeline(
        name, stages, micro_batches, chunks, order_file, work, kept_for_weights, most
    )
    _refuse_deadlock(timeline, as_json)
    write_drawings(timeline, trace_path, svg_path, overlay, unit_seconds, as_json)
    if as_json:
        numbers = report(timeline)
        numbers["message_bytes"] = [count * (message_bytes or 0.0) for count in numbers["sends"]]
        numbers["activation_bytes_over_time"] = [
            held_series(timeline, rank, activation_bytes, kept_for_weights)
            for rank in range(timeline.ranks)
        ]
        if unit_seconds is not None:
            numbers["makespan_s"] = numbers["makespan"] * unit_seconds
        print_json(numbers)
    else:
        print_drawing(timeline)
        print_summary(timeline, unit_seconds, activation_bytes, kept_for_weights)


def _refuse_deadlock(timeline: Timeline, as_json: bool) -> None:
    cycle = deadlock(timeline)
    if not cycle:
        return
    if as_json:
        ran = [len(end) for end in timeline.result["ends"]]
        print_json({"schedule": timeline.name, "deadlock": cycle, "actions_run": ran})
    else:
        print_drawing(timeline)
    raise ConfigError(deadlock_line(cycle))


def _timeline(
    name: str | None,
    stages: int,
    micro_batches: int,
    chunks: int | None,
    order: Path | None,
    work: Work,
    kept: float,
    most: tuple[int, str],
) -> Timeline:
    if order is None:
        if name is None:
            raise ConfigError("name a schedule (see 'steptime schedules') or give --order FILE")
        held = check_schedule(name, stages, micro_batches, chunks)
        each = 3 if splits_backward(name) else 2
        check_actions(each * stages * micro_batches * held, most)
        return simulate(name, stages, micro_batches, held, work, kept)
    if name is not None:
        raise ConfigError(f"give a schedule or --order, not both; got {name!r} and {str(order)!r}")
    orders, num_stages, count = orders_from_text(
        read_order(order), is_json=order.suffix.lower() == ".json"
    )
    check_actions(sum(map(len, orders)), most)
    return simulate_orders(order.name, orders, num_stages, count, work)
