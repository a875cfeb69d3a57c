"""`steptime explain`: what a launch file does, what it costs, and what would be faster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steptime.cli import options as opt
from steptime.cli.output import console, percent, print_json, print_table, seconds
from steptime.cli.predict import PART_NAMES
from steptime.cli.search_output import layout_text
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.inputs.training_step import shape_named
from steptime.readers import Reading, read_configuration
from steptime.readers.reading import where

if TYPE_CHECKING:
    from steptime.planning.explain import Explanation

EXAMPLES = """
Examples:

- `steptime explain launch.sh --accelerator h100`

- `steptime explain launch.sh -a h100 --set NNODES=16 --set vocab_size=128256`

- `steptime explain train.toml -a h100 --gpus 256 --global-batch-size 512 --json`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("explain", epilog=EXAMPLES)(explain_command)


def settings(pairs: list[str]) -> dict[str, str]:
    """Return ``NAME=VALUE`` pairs as a mapping.

    Args:
        pairs: What stood behind each ``--set``.

    Raises:
        ConfigError: If one has no ``=``, or nothing behind it.
    """
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set needs NAME=VALUE, got {pair[:60]!r}")
        if not value.strip():
            raise ConfigError(f"--set {name[:60]}= is empty; give it a value, as in NNODES=16")
        found[name] = value
    return found


def reading_dict(reading: Reading) -> dict[str, Any]:
    """Return what was understood of a file as JSON holds it.

    Args:
        reading: The reading.
    """
    return {
        "path": reading.path,
        "kind": reading.kind,
        "understood": {
            fact.name: {
                "value": fact.value,
                "line": max(fact.line, 0),
                "written": fact.written,
            }
            for fact in reading.facts.values()
        },
        "assumed": {one.name: {"value": one.value, "why": one.why} for one in reading.assumptions},
        "missing": reading.missing,
        "notes": reading.notes,
    }


def as_dict(reading: Reading, told: Explanation) -> dict[str, Any]:
    """Return an explanation as JSON holds it.

    Args:
        reading: What was understood of the file.
        told: What the models say of it.
    """
    best = told.best
    return {
        **reading_dict(reading),
        "model": told.question.model.name,
        "num_gpus": told.question.num_devices,
        "predictor": told.question.predictor,
        "step_time_s": told.own.step_time_s,
        "step_time_low_s": None if told.interval_s is None else told.interval_s[0],
        "step_time_high_s": None if told.interval_s is None else told.interval_s[1],
        "breakdown_s": told.parts,
        "memory_bytes": told.memory,
        "memory_total_bytes": told.own.memory_bytes,
        "headroom_bytes": told.own.headroom_bytes,
        "tie_fraction": told.tie_fraction,
        "suggestion": None if best is None else layout_text(best),
        "suggested_step_time_s": None if best is None else best.step_time_s,
        "gain_fraction": told.gain_fraction,
    }


def _where(line: int) -> str:
    return where(line).removeprefix("the ") if line else ""


def no_model(reading: Reading) -> str:
    """Return why a file's model is not known, and the way out.

    Args:
        reading: Without a model.
    """
    # What the command line gives in any case comes after the model.
    later = ("num_gpus", "global_batch_size", "micro_batch_size", "seq_length")
    gaps = [gap.partition(": ") for gap in reading.missing]
    model = next((why for name, _, why in gaps if name == "model" and why), "")
    sizes = [gap for gap in gaps if gap[0] not in (*later, "model")]
    if sizes and reading.kind != "torchtitan":
        lacks = ", ".join(name + (f" ({why})" if why else "") for name, _, why in sizes)
        return (
            f"{reading.path} does not give {lacks}: add --set {sizes[0][0]}=VALUE, "
            "or name the model with --model, such as --model llama3-8b"
        )
    return (
        f"{reading.path}: the model is not known: {model or 'the file does not give its sizes'}; "
        "name it with --model, such as --model llama3-8b"
    )


def print_reading(reading: Reading) -> None:
    """Print what was understood of a file, line by line.

    Args:
        reading: The reading.
    """
    rows = [
        (fact.name, str(fact.value), _where(fact.line), fact.written)
        for fact in reading.facts.values()
    ]
    rows += [(one.name, str(one.value), "assumed", one.why) for one in reading.assumptions]
    heads = (("", "left"), ("value", "right"), ("where", "left"), ("as", "left"))
    print_table(f"{reading.path} ({reading.kind})", heads, rows)
    for text in reading.notes:
        console().print(f"note: {text}", markup=False)


def print_explanation(told: Explanation) -> None:
    """Print time, memory and the suggestion.

    Args:
        told: What the models say.
    """
    own, out = told.own, console()
    total = own.step_time_s
    rows = [
        (PART_NAMES.get(name, name), seconds(part), percent(part / total))
        for name, part in told.parts.items()
        if part
    ]
    share = percent(told.tie_fraction)
    title = f"{seconds(total)} a step ({told.question.predictor} model)"
    print_table(title, (("where it goes", "left"), ("time", "right"), ("share", "right")), rows)
    if told.interval_s is not None:
        low, high = told.interval_s
        out.print(f"90 % interval: {seconds(low)} to {seconds(high)}")
    memory = [(name, f"{size / 1e9:.2f} GB") for name, size in told.memory.items() if size]
    limit = told.question.memory_limit_bytes
    verdict = "fits" if own.headroom_bytes >= 0 else "DOES NOT FIT"
    out.print(f"{verdict}: {own.memory_bytes / 1e9:.1f} of {limit / 1e9:.0f} GB on the fullest GPU")
    print_table("", (("memory", "left"), ("", "right")), memory)
    if told.best is None:
        out.print("no layout of these GPUs fits")
    elif told.gain_fraction is None:
        out.print(f"suggestion: {layout_text(told.best)}: {seconds(told.best.step_time_s)}, fits")
    elif told.gain_fraction <= told.tie_fraction:
        out.print(
            f"no layout is faster by more than {share}, which the model could not tell: keep it"
        )
    else:
        out.print(
            f"faster by {percent(told.gain_fraction)}: {layout_text(told.best)}: "
            f"{seconds(told.best.step_time_s)} a step, {told.best.memory_bytes / 1e9:.1f} GB"
        )


def explain_command(
    path: Annotated[Path, typer.Argument(help="Launch script, arguments, YAML or TOML file.")],
    accelerator: opt.AcceleratorName,
    model: Annotated[str | None, opt.MODEL] = None,
    gpus: Annotated[int | None, opt.GPUS] = None,
    seq_length: Annotated[int | None, opt.SEQ_LENGTH] = None,
    global_batch_size: Annotated[int | None, opt.GLOBAL_BATCH_SIZE] = None,
    micro_batch_size: Annotated[int | None, opt.MICRO_BATCH_SIZE] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE that the launcher sets; repeat it."),
    ] = None,
    predictor: opt.Predictor = None,
    as_json: opt.AsJson = False,
) -> None:
    """Explain a launch file: what it says, step time, memory, and a faster layout."""
    reading = read_configuration(path, settings(set_ or []))
    if model is not None:
        reading.model = shape_named(model)
    if reading.model is None:
        raise ConfigError(no_model(reading))
    given = {
        "num_gpus": gpus,
        "global_batch_size": global_batch_size,
        "micro_batch_size": micro_batch_size,
        "seq_length": seq_length,
    }
    # NumPy is needed from here on: the other commands do without.
    from steptime.planning.explain import explained

    told = explained(
        reading,
        accelerator_preset(accelerator),
        {name: value for name, value in given.items() if value is not None},
        predictor,
    )
    if as_json:
        print_json(as_dict(reading, told))
        return
    print_reading(reading)
    print_explanation(told)
