"""`steptime explain`: what a launch file does, what it costs, and what would be faster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steptime.answer.predictor import PREDICTORS
from steptime.cli import options as opt
from steptime.cli.explain_measured import comparison_dict, print_comparison
from steptime.cli.output import console, percent, print_json, print_table, seconds, waiting
from steptime.cli.predict import as_dict as prediction_dict
from steptime.cli.predict import print_time, print_verdict
from steptime.cli.search_output import layout_text
from steptime.inputs.chance import chance_text
from steptime.inputs.errors import ConfigError
from steptime.inputs.training_step import shape_named
from steptime.readers import Reading, read_configuration
from steptime.readers.common.precision import asks_wide
from steptime.readers.completed import noted, way_of
from steptime.readers.keys.predict_line import predict_line
from steptime.readers.keys.reading import where
from steptime.readers.other_model import take_model

if TYPE_CHECKING:
    from steptime.planning.explain import Explanation
    from steptime.planning.result import Candidate

EXAMPLES = """
Examples:

- `steptime explain launch.sh --accelerator h100`

- `steptime explain launch.sh -a h100 --set NNODES=16 --set vocab_size=128256`

- `steptime explain launch.sh -a h100 -- 16 node0`

- `steptime explain launch.sh -a h100 --measured 296`

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
        "software_facts": {
            fact.name: {
                "value": fact.value,
                "line": max(fact.line, 0),
                "written": fact.written,
            }
            for fact in reading.software_facts
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
    best, own = told.best, told.own
    found = prediction_dict(own)
    del found["assumed"]
    return found | {
        **reading_dict(reading),
        "memory_bytes": own.memory.fullest.parts_bytes,
        "memory_total_bytes": own.total_bytes,
        "headroom_bytes": own.memory.limit_bytes - own.total_bytes,
        "tie_fraction": told.tie_fraction,
        "asks_32_bits": told.asks_wide,
        "step_time_32_bits_s": told.wide_time_s,
        "suggestion": None if best is None else layout_text(best),
        "suggested_step_time_s": None if best is None else best.step_time_s,
        "gain_fraction": told.gain_fraction,
    }


def _where(line: int) -> str:
    return where(line).removeprefix("the ") if line else "computed"


def _fact_where(line: int) -> str:
    return "assumed" if line < 0 else _where(line)


def no_model(reading: Reading, device: str) -> str:
    """Return why a file's model is not known, and the way out.

    Args:
        reading: Without a model; with what its user adds.
        device: Name of the accelerator that was asked of.
    """
    # What the command line gives in any case comes after the model.
    later = ("num_gpus", "global_batch_size", "micro_batch_size", "seq_length")
    gaps = [gap.partition(": ") for gap in reading.missing]
    model = next((why for name, _, why in gaps if name == "model" and why), "")
    sizes = [gap for gap in gaps if gap[0] not in (*later, "model")]
    if sizes and reading.kind != "torchtitan":
        lacks = ", ".join(name + (f" ({why})" if why else "") for name, _, why in sizes)
        return (
            f"{reading.path} does not give {lacks}: add {way_of(sizes[0][0])}, "
            "or name the model with --model, such as --model llama3-8b"
        )
    return (
        f"{reading.path}: the model is not known: {model or 'the file does not give its sizes'}; "
        f"name it with --model, such as --model llama3-8b, or ask: {predict_line(reading, device)}"
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
    rows += [
        (f"fact {fact.name}", f"{fact.value}", _fact_where(fact.line), fact.written)
        for fact in reading.software_facts
    ]
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
    share = percent(told.tie_fraction)
    bits = " in bf16" if told.asks_wide else ""
    title = f"{seconds(own.step_time_s)} a step{bits} ({PREDICTORS[own.predictor].title})"
    if told.asks_wide:
        out.print(told.wide_remark, style="bold", markup=False)
    print_time(title, own)
    print_verdict(own)
    parts = own.memory.fullest.parts_bytes
    memory = [(name, f"{size / 1e9:.2f} GB") for name, size in parts.items() if size]
    print_table("", (("memory", "left"), ("", "right")), memory)
    if told.best is None:
        out.print("no layout of these GPUs fits")
    elif told.gain_fraction is None:
        out.print(
            f"suggestion: {layout_text(told.best)}: {seconds(told.best.step_time_s)}, fits"
            + _chance(told.best)
        )
    elif told.gain_fraction <= told.tie_fraction:
        out.print(
            f"no layout is faster by more than {share}, which the model could not tell: keep it"
        )
    else:
        out.print(
            f"faster by {percent(told.gain_fraction)}: {layout_text(told.best)}: "
            f"{seconds(told.best.step_time_s)} a step, {told.best.memory_bytes / 1e9:.1f} GB"
            + _chance(told.best)
        )
    for one in told.lost_there:
        out.print(f"of that layout: {one}", markup=False)


def _chance(best: Candidate) -> str:
    if best.fit_probability is None:
        return ""
    return f"; the chance that it fits: {chance_text(best.fit_probability)}"


@opt.takes_how
def explain_command(
    path: Annotated[Path, typer.Argument(help="Launch script, arguments, YAML or TOML file.")],
    accelerator: opt.field("accelerator"),  # type: ignore[valid-type]
    how: opt.How,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="What the script is started with, after --.", metavar="[-- ARGS]..."),
    ] = None,
    model: Annotated[str | None, opt.option(opt.BY_NAME["model"])] = None,
    gpus: Annotated[int | None, opt.GPUS] = None,
    seq_length: opt.named("seq_length", int | None) = None,  # type: ignore[valid-type]
    global_batch_size: opt.named("global_batch_size", int | None) = None,  # type: ignore[valid-type]
    micro_batch_size: opt.named("micro_batch_size", int | None) = None,  # type: ignore[valid-type]
    nvlink_domain: opt.field("nvlink_domain") = None,  # type: ignore[valid-type]
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE that the launcher sets; repeat it."),
    ] = None,
    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            help="What a run of the file measured: TFLOP/s of a GPU (296), 11.2s, 950ms, "
            "3500tok/s of the whole job or 220tok/s/gpu.",
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Explain a launch file: what it says, step time, memory, and a faster layout."""
    reading = read_configuration(path, settings(set_ or []), arguments or ())
    if model is not None:
        take_model(reading, shape_named(model))
    given = {
        "num_gpus": gpus,
        "global_batch_size": global_batch_size,
        "micro_batch_size": micro_batch_size,
        "seq_length": seq_length,
    }
    stated = {name: value for name, value in given.items() if value is not None}
    if reading.model is None:
        raise ConfigError(no_model(noted(reading, stated), accelerator))
    # NumPy is needed from here on: the other commands do without.
    from steptime.planning.explain import explained, step_of

    device = how.device(accelerator, nvlink_domain)
    step = step_of(reading, device, stated, how.said)
    wide = asks_wide(reading)
    with waiting("searching for a faster layout"):
        told = explained(step, how.predictor, how.constants, asks_wide=wide)
    beside = None
    if measured is not None:
        from steptime.planning.explained import comparison

        beside = comparison(reading, told.own, measured, how.constants)
    if as_json:
        extra = {} if beside is None else {"measured": comparison_dict(beside)}
        print_json(as_dict(reading, told) | extra)
        return
    print_reading(noted(reading, stated))
    print_explanation(told)
    if beside is not None:
        print_comparison(beside)
