"""`steptime schedule` and `steptime schedules`: pipeline schedules, run exactly."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from steptime.cli.options import AsJson
from steptime.cli.output import console, print_json, print_table
from steptime.cli.schedule_files import MOST_ACTIONS, check_actions, read_order, three_files, write
from steptime.inputs.errors import ConfigError, check_number
from steptime.pipeline.draw import drawing
from steptime.pipeline.own_order import orders_from_text
from steptime.pipeline.report import deadlock, deadlock_line, held_series, report, summary
from steptime.pipeline.schedules import SCHEDULES, check_schedule
from steptime.pipeline.svg import svg
from steptime.pipeline.timeline import Timeline, Work, simulate, simulate_orders
from steptime.pipeline.trace import trace

EXAMPLES = """
Examples:

- `steptime schedule 1f1b --stages 4 --micro-batches 8`

- `steptime schedule interleaved-1f1b -p 4 -m 8 -v 2 --json`

- `steptime schedule zb-h1 --send-latency 0.1 --svg zb.svg`

- `steptime schedule --order my_order.csv`
"""

COLOURS = {"F": "white on blue", "B": "black on dark_orange", "I": "black on dark_orange"}
COLOURS |= {"W": "black on green", ".": "dim", "": ""}

Name = Annotated[str | None, typer.Argument(help="A schedule; `steptime schedules` lists them.")]
Stages = Annotated[int, typer.Option("--stages", "-p", help="Pipeline ranks, p.")]
MicroBatches = Annotated[int, typer.Option("--micro-batches", "-m", help="Micro-batches, m.")]
Chunks = Annotated[
    int | None,
    typer.Option("--chunks", "-v", help="Chunks a rank holds, v; default: 2 if it may choose."),
]
# Each of these four is one number, or one for each stage with commas between.
Forward = Annotated[
    str, typer.Option("--forward", help="Time of F in a chunk; 1,1,2 gives each stage its own.")
]
Backward = Annotated[
    str | None, typer.Option("--backward", help="Time of a whole backward, B; default: 2.")
]
Input = Annotated[
    str | None, typer.Option("--input", help="Time of the backward for inputs, I: half of B.")
]
Weight = Annotated[
    str | None, typer.Option("--weight", help="Time of the backward for weights, W: half of B.")
]
Pair = Annotated[
    float | None,
    typer.Option("--pair", help="Time of an overlapped F and B; default: one after the other."),
]
Scale = Annotated[
    str | None, typer.Option("--stage-scale", help="A factor per stage, such as 1.2,1,1,0.9.")
]
Latency = Annotated[float, typer.Option("--send-latency", help="Time of a message, bytes aside.")]
MessageBytes = Annotated[float, typer.Option("--message-bytes", help="Bytes of one message.")]
Bandwidth = Annotated[
    float | None, typer.Option("--bandwidth", help="Bytes per unit of time that leave a rank.")
]
Blocking = Annotated[
    bool, typer.Option("--blocking-sends", help="A rank waits until its message has arrived.")
]
Order = Annotated[
    str | None,
    typer.Option("--order", help="Run this order instead: CSV (PyTorch's dump) or JSON."),
]
ActivationBytes = Annotated[
    float,
    typer.Option("--activation-bytes", help="Activations of one micro-batch in one chunk."),
]
KeptShare = Annotated[
    float, typer.Option("--kept-for-weights", help="Share of them that W needs after I.")
]
TraceFile = Annotated[str | None, typer.Option("--trace", help="Write a Chrome/Perfetto trace.")]
SvgFile = Annotated[str | None, typer.Option("--svg", help="Write a drawing.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application.

    Args:
        app: The application.
    """
    app.command("schedule", epilog=EXAMPLES)(schedule)
    app.command("schedules", epilog="Example: `steptime schedules --json`")(schedules)


def schedule(
    name: Name = None,
    stages: Stages = 4,
    micro_batches: MicroBatches = 8,
    chunks: Chunks = None,
    forward: Forward = "1",
    backward: Backward = None,
    input_time: Input = None,
    weight_time: Weight = None,
    pair: Pair = None,
    stage_scale: Scale = None,
    send_latency: Latency = 0.0,
    message_bytes: MessageBytes = 0.0,
    bandwidth: Bandwidth = None,
    blocking_sends: Blocking = False,
    activation_bytes: ActivationBytes = 0.0,
    kept_for_weights: KeptShare = 1.0,
    order: Order = None,
    trace_file: TraceFile = None,
    svg_file: SvgFile = None,
    as_json: AsJson = False,
) -> None:
    """Run a pipeline schedule action by action, and show where the idle time goes."""
    order_file, trace_path, svg_path = three_files(order, trace_file, svg_file)
    work = Work(
        **_durations(forward, backward, input_time, weight_time),
        stage_scale=() if stage_scale is None else _numbers("--stage-scale", stage_scale),
        send_latency=send_latency,
        send_transfer=_transfer(message_bytes, bandwidth),
        blocking_sends=blocking_sends,
        pair=pair,
    )
    check_number("--activation-bytes", activation_bytes, above=-1e-300)
    check_number("--kept-for-weights", kept_for_weights, above=-1e-300, most=1.0)
    forms = {"--json": as_json, "--svg": svg_path, "--trace": trace_path}
    most = min((MOST_ACTIONS[form], form) for form in MOST_ACTIONS if forms.get(form, True))
    timeline = _timeline(name, stages, micro_batches, chunks, order_file, work, most)
    cycle = deadlock(timeline)
    if cycle:
        if as_json:
            ran = [len(end) for end in timeline.result["ends"]]
            print_json({"schedule": timeline.name, "deadlock": cycle, "actions_run": ran})
        else:
            _print_drawing(timeline)
        raise ConfigError(deadlock_line(cycle))
    if trace_path:
        write(trace_path, json.dumps(trace(timeline)))
    if svg_path:
        write(svg_path, svg(timeline))
    if as_json:
        numbers = report(timeline)
        numbers["message_bytes"] = [count * message_bytes for count in numbers["sends"]]
        numbers["activation_bytes_over_time"] = [
            held_series(timeline, rank, activation_bytes, kept_for_weights)
            for rank in range(timeline.ranks)
        ]
        print_json(numbers)
    else:
        _print_drawing(timeline)
        _print_summary(summary(timeline))


def _timeline(
    name: str | None,
    stages: int,
    micro_batches: int,
    chunks: int | None,
    order: Path | None,
    work: Work,
    most: tuple[int, str],
) -> Timeline:
    if order is None:
        if name is None:
            raise ConfigError("name a schedule (see 'steptime schedules') or give --order FILE")
        held = check_schedule(name, stages, micro_batches, chunks)
        each = 3 if SCHEDULES[name].splits_backward else 2
        check_actions(each * stages * micro_batches * held, most)
        return simulate(name, stages, micro_batches, held, work)
    if name is not None:
        raise ConfigError(f"give a schedule or --order, not both; got {name!r} and {str(order)!r}")
    orders, num_stages, count = orders_from_text(
        read_order(order), is_json=order.suffix.lower() == ".json"
    )
    check_actions(sum(map(len, orders)), most)
    return simulate_orders(order.name, orders, num_stages, count, work)


def _durations(
    forward: str, backward: str | None, inputs: str | None, weights: str | None
) -> dict[str, Any]:
    given = {"forward": forward, "backward": backward}
    given |= {"backward_input": inputs, "backward_weight": weights}
    return {
        key: _times("--" + key.removeprefix("backward_"), text)
        for key, text in given.items()
        if text is not None
    }


def _times(option: str, text: str) -> float | tuple[float, ...]:
    parts = _numbers(option, text)
    return parts if len(parts) > 1 else parts[0]


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(
            f"{option} must be a number, or numbers with commas between, got {text[:60]!r}"
        ) from None


def _transfer(message_bytes: float, bandwidth: float | None) -> float:
    if bandwidth is None:
        if message_bytes:
            raise ConfigError("--message-bytes needs --bandwidth, in bytes per unit of time")
        return 0.0
    if not bandwidth > 0:
        raise ConfigError(f"--bandwidth must be > 0, got {bandwidth:g}")
    return message_bytes / bandwidth


def _print_drawing(timeline: Timeline) -> None:
    out = console()
    columns = out.width if out.is_terminal else 80
    for line in drawing(timeline, columns):
        out.print(Text.assemble(*((text, COLOURS[kind]) for text, kind in line)), soft_wrap=True)


def _print_summary(numbers: dict[str, Any]) -> None:
    out = console()
    out.print(
        f"\nmakespan {numbers['makespan']:g}   idle {numbers['bubble_fraction']:.1%} of the step "
        f"= {numbers['bubble_overhead']:.1%} of useful work",
        soft_wrap=True,
    )
    columns = ["rank", "held", "idle", "fill", "drain", "send", "imbalance", "sends"]
    rows = []
    for rank, cause in enumerate(numbers["idle_by_cause"]):
        cells = [math.fsum(cause.values()), *(cause[key] for key in columns[3:7])]
        shown = [f"{value:.4g}" for value in cells]
        peak, sent = numbers["peak_in_flight"][rank], numbers["sends"][rank]
        rows.append([str(rank), str(peak), *shown, str(sent)])
    print_table("idle time by cause, per rank", [(head, "right") for head in columns], rows)


def schedules(as_json: AsJson = False) -> None:
    """List the schedules, what each asks of p, m and v, and where it comes from."""
    known = [
        {
            "name": entry.name,
            "title": entry.title,
            "inventor": entry.inventor,
            "constraints": entry.constraints,
            "bubble": entry.bubble,
            "activations": entry.activations,
            "splits_backward": entry.splits_backward,
            "source": entry.source,
            "idea": entry.idea,
        }
        for entry in SCHEDULES.values()
    ]
    if as_json:
        print_json(known)
        return
    columns = ("name", "constraints", "bubble", "activations", "source")
    rows = [[str(entry[column]) for column in columns] for entry in known]
    print_table("pipeline schedules", [(column, "left") for column in columns], rows)
