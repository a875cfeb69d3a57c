"""`steptime models` and `steptime accelerators`: what can be named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from steptime.cli.options import AsJson, before_the_name, option
from steptime.cli.output import console, print_json, print_table
from steptime.formulas.records import MemoryFacts, TimeFacts
from steptime.inputs.context_kind import CONTEXT_KIND
from steptime.inputs.errors import ConfigError
from steptime.inputs.fact import Fact
from steptime.inputs.fields import BY_NAME
from steptime.inputs.habits import chosen_stack
from steptime.inputs.presets import accelerator, accelerator_names, model, model_names
from steptime.inputs.said import Said
from steptime.inputs.stack import FACT_NAMES, KERNEL, Stack, check_date, stacks

SHOWN = "megatron-core"
Date = Annotated[str | None, option(BY_NAME["date"])]


def register(app: typer.Typer) -> None:
    """Add the commands to the application.

    Args:
        app: The application.
    """
    app.command("models", epilog="Example: `steptime models --json`")(models)
    app.command("accelerators", epilog="Example: `steptime accelerators`")(accelerators)
    app.command("stacks", epilog="Example: `steptime stacks megatron --date 2023-06`")(
        stacks_command
    )
    app.command("facts", epilog="Example: `steptime facts torchtitan`")(facts_command)


def models(as_json: AsJson = False) -> None:
    """List the model shapes that can be named."""
    shapes = {name: model(name) for name in model_names()}
    if as_json:
        print_json({name: asdict(shape) for name, shape in shapes.items()})
        return
    columns = (
        ("name", "left"),
        ("layers", "right"),
        ("hidden", "right"),
        ("feed-forward", "right"),
        ("heads / groups", "right"),
        ("vocabulary", "right"),
        ("experts", "right"),
        ("source", "left"),
    )
    rows = (
        (
            name,
            str(shape.num_layers),
            str(shape.hidden_size),
            str(shape.ffn_hidden_size),
            f"{shape.num_attention_heads} / {shape.num_query_groups}",
            f"{shape.vocab_size:,}",
            f"{shape.experts.top_k} of {shape.experts.num_experts}" if shape.experts else "",
            shape.source,
        )
        for name, shape in shapes.items()
    )
    print_table("models", columns, rows)


def accelerators(as_json: AsJson = False) -> None:
    """List the accelerators that can be named."""
    devices = [accelerator(name) for name in accelerator_names()]
    if as_json:
        print_json({device.name: asdict(device) for device in devices})
        return
    columns = (
        ("name", "left"),
        ("bf16 TFLOP/s", "right"),
        ("fp8 TFLOP/s", "right"),
        ("memory GB", "right"),
        ("TB/s", "right"),
        ("NVLink GB/s one way", "right"),
        ("domain", "right"),
        ("network GB/s", "right"),
    )
    rows = (
        (
            device.name,
            f"{device.peak_flop_per_s / 1e12:,.0f}",
            f"{device.peak_fp8_flop_per_s / 1e12:,.0f}" if device.peak_fp8_flop_per_s else "",
            f"{device.hbm_bytes / 1e9:.1f}",
            f"{device.hbm_bytes_per_s / 1e12:.2f}",
            f"{device.nvlink_bytes_per_s / 1e9:.0f}",
            str(device.nvlink_domain),
            f"{device.network_bytes_per_s / 1e9:g}",
        )
        for device in devices
    )
    print_table("accelerators", columns, rows)
    console().print("memory: what a device reports, where that is known; GB is 1e9 bytes")


def stacks_command(
    context: typer.Context,
    stack: Annotated[str | None, typer.Argument(help="An exact stack or a family.")] = None,
    date: Date = None,
    as_json: AsJson = False,
) -> None:
    """List the software that can be named: exact stacks, their families and dates."""
    listed = _listed(**before_the_name({"stack": stack, "date": date}, context))
    if as_json:
        print_json({one.name: asdict(one) for one in listed})
        return
    columns = (("stack", "left"), ("family", "left"), ("since", "left"), ("what it is", "left"))
    rows = ((one.name, one.family, one.since, one.title) for one in listed)
    print_table("software", columns, rows)


def _listed(stack: str | None, date: str | None) -> list[Stack]:
    """Return the stacks of a family, or with a date the one that was current; all if none."""
    every = list(stacks().values())
    if stack is None:
        return [one for one in every if date is None or one.since <= check_date(date)]
    current = chosen_stack(Said(stack=stack, date=date), sharded=False)
    if date is not None:
        return [current]
    return [one for one in every if stack in (one.name, one.family)]


def facts_command(
    context: typer.Context,
    stack: Annotated[
        str | None, typer.Argument(help="An exact stack or a family; megatron-core if none.")
    ] = None,
    option: Annotated[
        str | None, typer.Option("--stack", help="The same, as other commands take it.")
    ] = None,
    date: Date = None,
    as_json: AsJson = False,
) -> None:
    """List every fact of the software that --fact can state, and what a stack has for it.

    Of a family the stack is taken that was current at --date, the newest without.
    """
    if stack and option and stack != option:
        raise ConfigError(f"{stack} and --stack {option} are two stacks; give one")
    said = before_the_name({"stack": stack or option, "date": date}, context)
    named = Said(stack=said["stack"] or SHOWN, date=said["date"])
    chosen = chosen_stack(named, sharded=False)
    lines: dict[str, list[Fact]] = {}
    for fact in chosen.facts:
        lines.setdefault(fact.name, []).append(fact)
    if as_json:
        found = {name: [asdict(one) for one in lines.get(name, [])] for name in FACT_NAMES}
        said = {name: meanings().get(name, "") for name in FACT_NAMES}
        print_json({"stack": chosen.name, "facts": found, "meanings": said})
        return
    rows = [_fact_row(name, line) for name in FACT_NAMES for line in _known(lines, name)]
    heads = (
        *(("fact", "left"), ("value", "right"), ("what it says", "left")),
        *(("only", "left"), ("how it is known", "left")),
    )
    print_table(f"facts of {chosen.title}", heads, rows)


def _known(lines: Mapping[str, Sequence[Fact]], name: str) -> Sequence[Fact | None]:
    return lines.get(name) or (None,)


def _fact_row(name: str, line: Fact | None) -> tuple[str, str, str, str, str]:
    if line is None:
        return (name, "default", meanings().get(name, ""), "", "")
    limits = (*line.when, f"before {line.before}" if line.before else "")
    only, known = " ".join(filter(None, limits)), f"{line.kind}: {line.source}"
    return (name, f"{line.value}", meanings().get(name, ""), only, known)


@functools.cache
def meanings() -> dict[str, str]:
    """Return what each fact of the software says, from the records that hold them."""
    found = {
        KERNEL: "The attention kernel, by its name in data/generations.toml.",
        CONTEXT_KIND: "How context parallelism moves keys and values: data/context_kinds.toml.",
    }
    for record in (TimeFacts, MemoryFacts):
        name = ""
        told = inspect.cleandoc(record.__doc__ or "").partition("Attributes:\n")[2]
        for line in told.splitlines():
            indent = len(line) - len(line.lstrip())
            if indent == 4:
                name, _, text = line.strip().partition(": ")
                found[name] = text
            elif indent > 4:
                found[name] += f" {line.strip()}"
    return found
