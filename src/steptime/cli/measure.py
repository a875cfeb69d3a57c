"""`steptime measure`: time a device and write an accelerator file."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from steptime.cli import options as opt
from steptime.cli.options import AsJson
from steptime.cli.output import console, print_json, print_table, seconds
from steptime.evidence.measure import Measured, Timing, measure
from steptime.evidence.measure_backends import backend_named
from steptime.evidence.measure_file import (
    accelerator_toml,
    check_writable,
    curve_share,
    measured_accelerator,
    preset_like,
    write_accelerator,
)
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_number
from steptime.inputs.training_step import device_named

# Runs that differ by more say that something else ran, or that the clock moved.
_UNSTEADY = 0.1

EXAMPLES = """
Examples:

- `steptime measure --out my_gpu.toml`: one GPU, in about two minutes

- `torchrun --nproc-per-node 8 -m steptime measure --out my_gpu.toml`: its links too

- `steptime measure --backend numpy --out cpu.toml --seconds 10`: this machine's CPU

- `steptime measure --backend numpy --processes 4 --network-gbit 25 --out node.toml`: a server
  of four, each a process, and the network that joins such servers

- `steptime predict --accelerator my_gpu.toml ...` uses the file, as every command does
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("measure", epilog=EXAMPLES)(measure_device)


def _cells(one: Timing, found: Measured, device: Accelerator) -> tuple[str, ...]:
    size = " x ".join(f"{side:,}" for side in one.size)
    product = one.kind == "product"
    rate = f"{one.rate / 1e12:.4g} TFLOP/s" if product else f"{one.rate / 1e9:.4g} GB/s"
    share = one.rate / found.best(one.kind, one.precision)
    curve = f"{curve_share(one, found, device):.0%}" if product and device.generation else ""
    unsteady = " ~" if one.spread > _UNSTEADY else ""
    best = f"{share:.0%}{unsteady}" if product else unsteady.strip()
    return one.kind, one.precision, size, seconds(one.seconds), rate, best, curve


def print_measured(found: Measured, device: Accelerator) -> None:
    """Print the timings as a table, products beside the model's curve.

    Args:
        found: The timings.
        device: What they made of the accelerator.
    """
    columns = (
        ("operation", "left"),
        ("precision", "left"),
        ("size", "right"),
        ("time", "right"),
        ("rate", "right"),
        ("of best", "right"),
        ("model", "right"),
    )
    title = f"{found.device.name}, {found.device.versions}"
    print_table(title, columns, (_cells(one, found, device) for one in found.timings))
    out = console()
    if device.generation:
        out.print("model: share of the best rate that the roofline model's curve gives the shape")
    slow = [note for note in found.notes if "too slow" in note]
    for note in found.notes:
        if note not in slow:
            out.print(note, markup=False)
    if slow:
        out.print(f"{slow[0]}; so are {len(slow) - 1} more (--json lists them)", markup=False)
    if any(one.spread > _UNSTEADY for one in found.timings):
        out.print("~ runs differ by over a tenth: is the device shared, or held back by heat?")


def _shortfalls(device: Accelerator, like: Accelerator | None) -> list[str]:
    """Return a sentence for each rate that the data sheet promises and the device lacks."""
    if like is None:
        return []
    rates = {
        "memory": (device.hbm_bytes_per_s, like.hbm_bytes_per_s),
        "links": (device.nvlink_bytes_per_s, like.nvlink_bytes_per_s),
        "network": (device.network_bytes_per_s, like.network_bytes_per_s),
    }
    return [
        f"{name}: {got / 1e9:.4g} GB/s taken, the data sheet of {like.name} says {said / 1e9:.4g}"
        for name, (got, said) in rates.items()
        if got < 0.9 * said
    ]


def measure_device(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Accelerator file to write.", writable=True)
    ],
    name: Annotated[str, typer.Option("--name", help="What to call the accelerator.")] = "my-gpu",
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            help="Preset whose peak, links and network are taken over; by the GPU's name if "
            "left out.",
        ),
    ] = None,
    backend: Annotated[str, typer.Option("--backend", help="torch or numpy (CPU).")] = "torch",
    device: Annotated[str, typer.Option("--device", help="cuda, cuda:N or cpu.")] = "cuda",
    seconds_spent: Annotated[
        float, typer.Option("--seconds", help="Time to spend, roughly.")
    ] = 100.0,
    largest: Annotated[int, typer.Option("--largest", help="Largest side of a product.")] = 28672,
    processes: Annotated[
        int,
        typer.Option("--processes", help="With numpy: how many stand for devices of a server."),
    ] = 1,
    network_gbit: opt.field("network_gbit") = None,  # type: ignore[valid-type]
    as_json: AsJson = False,
) -> None:
    """Time matrix products, copies and collectives, and write an accelerator file."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        raise ConfigError(f"--name {name[:60]!r} must be letters, digits, - and _")
    check_number("--seconds", seconds_spent, most=3600.0)
    check_number("--largest", largest, above=1023.0, most=131072.0)
    check_writable(out)
    used = backend_named(backend, device, processes)
    preset = preset_like(used.device, like, used.node_ranks)
    try:
        found = measure(used, seconds=seconds_spent, largest=largest)
        used.close()
    except RuntimeError as error:
        # Ranks that do not find each other, two on one GPU, a device that fell over.
        raise ConfigError(f"{used.device.name}: measuring failed: {error!s:.300}") from None
    if used.rank != 0:
        # One process speaks for all.
        return
    made = device_named(measured_accelerator(found, name, preset), network_gbit=network_gbit)
    write_accelerator(accelerator_toml(made, found), out)
    lacking = _shortfalls(made, preset)
    if as_json:
        print_json(asdict(found) | {"accelerator": asdict(made), "shortfalls": lacking})
        return
    print_measured(found, made)
    for line in lacking:
        console().print(line, markup=False)
    if not made.generation:
        console().print("the roofline model knows no such device: predictions use the baseline")
    taken = f"; links and network as {preset.name}" if preset else ""
    console().print(f"written to {out}{taken}: give it to --accelerator", markup=False)
