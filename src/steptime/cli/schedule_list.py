"""`steptime schedules`: what schedules there are, and how they compare."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import console, print_json, print_table
from steptime.inputs.errors import ConfigError, check_count, check_number
from steptime.pipeline.schedules import SCHEDULES
from steptime.pipeline.stage_times import compared, presets, stage_times_named

EXAMPLES = """
Examples:

- `steptime schedules --json`

- `steptime schedules --times list`

- `steptime schedules --times qi2023-1.5b -p 8 -m 24 --activation-bytes 2e9`
"""

Times = Annotated[
    str | None,
    typer.Option("--times", help="Compare at these stage times; `list` says which there are."),
]
Stages = Annotated[
    int | None, typer.Option("--stages", "-p", help="Pipeline ranks, p; default: 8.")
]
MicroBatches = Annotated[
    int | None, typer.Option("--micro-batches", "-m", help="Micro-batches, m; default: 32.")
]
RankBytes = Annotated[
    float | None,
    typer.Option(
        "--activation-bytes",
        help="Activations of one micro-batch on one rank; default: those of the times' model.",
    ),
]


def schedules(
    times: Times = None,
    stages: Stages = None,
    micro_batches: MicroBatches = None,
    activation_bytes: RankBytes = None,
    as_json: AsJson = False,
) -> None:
    """List the schedules, or compare them at the same parameters on every device."""
    told = {"-p": stages, "-m": micro_batches, "--activation-bytes": activation_bytes}
    alone = [flag for flag, value in told.items() if value is not None]
    if alone and times in (None, "list"):
        raise ConfigError(f"{', '.join(alone)}: a comparison needs --times NAME too")
    if times == "list":
        _list_times(as_json)
    elif times is not None:
        ranks = check_count("stages", 8 if stages is None else stages, most=64)
        count = check_count(
            "micro_batches", 32 if micro_batches is None else micro_batches, most=512
        )
        each = 0.0 if activation_bytes is None else activation_bytes
        check_number("--activation-bytes", each, above=-1e-300)
        _compare(times, ranks, count, each, as_json)
    else:
        _list_schedules(as_json)


def _list_times(as_json: bool) -> None:
    known = [
        {"name": name, **{key: getattr(one, key) for key in one.__slots__}}
        for name, one in presets().items()
    ]
    if as_json:
        print_json(known)
        return
    columns = ("name", "title", "forward", "input", "weight", "send", "source")
    rows = [[str(entry[column]) for column in columns] for entry in known]
    print_table("stage times", [(column, "left") for column in columns], rows)


def _compare(
    times: str, stages: int, micro_batches: int, activation_bytes: float, as_json: bool
) -> None:
    preset = stage_times_named(times)
    activation_bytes = activation_bytes or preset.activation_bytes
    found = compared(stages, micro_batches, preset)
    if as_json:
        rows: list[dict[str, Any]] = [
            {key: getattr(one, key) for key in one.__slots__} for one in found
        ]
        for entry in rows:
            entry["activation_bytes"] = entry["held"] * activation_bytes
        print_json({"times": times, "source": preset.source, "schedules": rows})
        return
    unit = "s" if preset.seconds else "F"
    heads = ["schedule", "ranks", "m", "v", f"step, {unit}", "idle", "held"]
    heads += ["GB"] if activation_bytes else []
    cells = []
    for one in found:
        row = [one.name, str(one.ranks), str(one.micro_batches), str(one.chunks)]
        row += [f"{one.step:.4g}", f"{one.idle:.1%}", f"{one.held:.4g}"]
        cells.append(
            [*row, f"{one.held * activation_bytes / 1e9:.4g}"] if activation_bytes else row
        )
    print_table(
        "schedules at the same parameters on every device",
        [(head, "left" if head == "schedule" else "right") for head in heads],
        cells,
    )
    console().print(f"times: {preset.title} ({preset.source})", soft_wrap=True)


def _list_schedules(as_json: bool) -> None:
    known: list[dict[str, Any]] = [
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
