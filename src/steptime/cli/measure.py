"""`steptime measure`: time a device and write an accelerator file."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from steptime.cli.options import AsJson
from steptime.cli.output import console, print_json, print_table, seconds
from steptime.evidence.measure import (
    Measured,
    Timing,
    accelerator_toml,
    measure,
    measured_accelerator,
    write_accelerator,
)
from steptime.evidence.measure_backends import backend_named
from steptime.inputs.errors import ConfigError, check_number
from steptime.inputs.presets import accelerator as accelerator_preset

EXAMPLES = """
Examples:

- `steptime measure --out my_gpu.toml --like h100`: one GPU, in about two minutes

- `torchrun --nproc-per-node 8 -m steptime measure --out my_gpu.toml --like h100`

- `steptime measure --backend numpy --out cpu.toml --seconds 10 --largest 2048`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("measure", epilog=EXAMPLES)(measure_device)


def _cells(one: Timing) -> tuple[str, ...]:
    size = " x ".join(f"{side:,}" for side in one.size)
    product = one.kind == "product"
    rate = f"{one.rate / 1e12:.2f} TFLOP/s" if product else f"{one.rate / 1e9:.1f} GB/s"
    return one.kind, one.precision, size, seconds(one.seconds), rate


def print_measured(found: Measured) -> None:
    """Print the timings as a table.

    Args:
        found: The timings.
    """
    columns = (
        ("operation", "left"),
        ("precision", "left"),
        ("size", "right"),
        ("time", "right"),
        ("rate", "right"),
    )
    title = f"{found.device.name}, {found.device.versions}"
    print_table(title, columns, (_cells(one) for one in found.timings))


def measure_device(
    out: Annotated[Path, typer.Option("--out", "-o", help="Accelerator file to write.")],
    name: Annotated[str, typer.Option("--name", help="What to call the accelerator.")] = "my-gpu",
    like: Annotated[
        str | None,
        typer.Option("--like", help="Preset whose peak, links and network are taken over."),
    ] = None,
    backend: Annotated[str, typer.Option("--backend", help="torch or numpy (CPU).")] = "torch",
    seconds_spent: Annotated[
        float, typer.Option("--seconds", help="Time to spend, roughly.")
    ] = 100.0,
    largest: Annotated[int, typer.Option("--largest", help="Largest side of a product.")] = 28672,
    as_json: AsJson = False,
) -> None:
    """Time matrix products, copies and collectives, and write an accelerator file."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        raise ConfigError(f"--name {name[:60]!r} must be letters, digits, - and _")
    check_number("--seconds", seconds_spent, most=3600.0)
    check_number("--largest", largest, above=1023.0, most=131072.0)
    preset = accelerator_preset(like) if like else None
    found = measure(backend_named(backend), seconds=seconds_spent, largest=largest)
    device = measured_accelerator(found, name, preset)
    write_accelerator(accelerator_toml(device, found), out)
    if as_json:
        print_json(asdict(found))
        return
    print_measured(found)
    console().print(f"written to {out}: give it to --accelerator", markup=False)
