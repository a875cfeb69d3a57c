"""`steptime schedule` and `steptime schedules`: pipeline schedules, run exactly."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import print_json
from steptime.cli.schedule_files import MOST_ACTIONS, check_actions, read_order, three_files
from steptime.cli.schedule_list import EXAMPLES as LIST_EXAMPLES
from steptime.cli.schedule_list import schedules
from steptime.cli.schedule_overlay import Overlay, check_overlay, write_drawings
from steptime.cli.schedule_print import print_drawing, print_summary
from steptime.inputs.errors import ConfigError, check_count, check_number
from steptime.inputs.schedule_name import check_schedule_name, searched_name
from steptime.pipeline.own_order import orders_from_text
from steptime.pipeline.report import deadlock, deadlock_line, held_series, report
from steptime.pipeline.schedules import check_schedule, default_chunks, splits_backward
from steptime.pipeline.stage_times import stage_times_named
from steptime.pipeline.timeline import Timeline, Work, simulate, simulate_orders

EXAMPLES = """
Examples:

- `steptime schedule 1f1b --stages 4 --micro-batches 8`

- `steptime schedule interleaved-1f1b -p 4 -m 8 -v 2 --json`

- `steptime schedule zb-2p -p 8 -m 24 --times qi2023-1.5b --kept-for-weights 0.37`

- `steptime schedule --order my_order.csv`

- `steptime schedule 1f1b -p 2 -m 4 --svg both.svg --overlay my_0.json --overlay my_1.json`
"""

Name = Annotated[str | None, typer.Argument(help="A schedule; `steptime schedules` lists them.")]
Stages = Annotated[int, typer.Option("--stages", "-p", help="Pipeline ranks, p.")]
MicroBatches = Annotated[int, typer.Option("--micro-batches", "-m", help="Micro-batches, m.")]
Chunks = Annotated[
    int | None,
    typer.Option("--chunks", "-v", help="Chunks a rank holds, v; default: 2 if it may choose."),
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
    message_bytes: MessageBytes = 0.0,
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
    order_file, trace_path, svg_path = three_files(order, trace_file, svg_file)
    check_overlay(overlay, trace_path, svg_path)
    lengths = _durations(forward, backward, input_time, weight_time)
    lengths, send_latency, unit_seconds = _preset(
        times, name, chunks, lengths, send_latency, unit_seconds
    )
    work = Work(
        **lengths,
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
    timeline = _timeline(
        name, stages, micro_batches, chunks, order_file, work, kept_for_weights, most
    )
    _refuse_deadlock(timeline, as_json)
    write_drawings(timeline, trace_path, svg_path, overlay, unit_seconds, as_json)
    if as_json:
        numbers = report(timeline)
        numbers["message_bytes"] = [count * message_bytes for count in numbers["sends"]]
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


def _preset(
    times: str | None,
    name: str | None,
    chunks: int | None,
    lengths: dict[str, Any],
    send_latency: float,
    unit_seconds: float | None,
) -> tuple[dict[str, Any], float, float | None]:
    """Return the times of a chunk, of a send, and the seconds in their unit."""
    if unit_seconds is not None:
        check_number("--unit-seconds", unit_seconds)
    if times is None:
        return lengths, send_latency, unit_seconds
    preset = stage_times_named(times)
    if lengths or send_latency:
        raise ConfigError(f"--times {times} has all times; leave out --forward and the like")
    if name is None:
        raise ConfigError("--times needs the name of a schedule, whose chunks share a rank's time")
    if preset.seconds and unit_seconds is not None:
        raise ConfigError(f"--times {times} is in seconds; leave out --unit-seconds")
    named = searched_name(name) or check_schedule_name(name)
    held = chunks if chunks is not None else default_chunks(named)
    work = preset.work(check_count("chunks", held))
    fields = ("forward", "backward_input", "backward_weight")
    found = {field: getattr(work, field) for field in fields}
    return found, work.send_latency, 1.0 if preset.seconds else unit_seconds


def _durations(
    forward: str | None, backward: str | None, inputs: str | None, weights: str | None
) -> dict[str, Any]:
    given = {"forward": forward, "backward": backward}
    given |= {"backward_input": inputs, "backward_weight": weights}
    lengths = {
        key: _times("--" + key.removeprefix("backward_"), text)
        for key, text in given.items()
        if text is not None
    }
    _check_halves(lengths)
    return lengths


def _check_halves(lengths: dict[str, Any]) -> None:
    """Refuse two parts of a backward that do not make the whole that is stated beside them."""
    whole = lengths.get("backward")
    if whole is None or not ("backward_input" in lengths or "backward_weight" in lengths):
        return
    halves = [lengths.get(key) for key in ("backward_input", "backward_weight")]
    if None in halves or not _adds_up(whole, *halves):
        raise ConfigError(
            "--backward is --input and --weight together, and these do not make "
            f"{_text(whole)}; give the two, or --backward alone"
        )


def _adds_up(whole: Any, *halves: Any) -> bool:
    rows = [one if isinstance(one, tuple) else (one,) for one in (whole, *halves)]
    most = max(map(len, rows))
    wide = [row * most if len(row) == 1 else row for row in rows]
    return all(math.isclose(a, b + c) for a, b, c in zip(*wide, strict=False))


def _text(times: Any) -> str:
    return ",".join(f"{one:g}" for one in (times if isinstance(times, tuple) else (times,)))


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
