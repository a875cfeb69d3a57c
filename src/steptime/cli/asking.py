"""Commands with the options of a training step, or of a search, before their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from steptime.cli import options as opt
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.amount import wholes, words
from steptime.inputs.entries import Field
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.fields import BY_NAME, FIELDS, SIZES
from steptime.inputs.training_step import device_named, training_step


def takes_step(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a training step before its own.

    Order and defaults are those of `training_step`, so that Python and the command line agree.

    Args:
        command: Takes the step and ``how`` first, and options of its own after them.
    """
    asked = inspect.signature(training_step).parameters.values()
    shared = [
        one.replace(annotation=opt.field(one.name), kind=inspect.Parameter.KEYWORD_ONLY)
        for one in asked
        if one.name not in opt.HOW
    ]
    own = [
        one
        for one in inspect.signature(command, eval_str=True).parameters.values()
        if one.name not in ("step", "how")
    ]

    def of_step(how: opt.How, **given: Any) -> None:
        sizes = {one.name: given.pop(one.name) for one in shared}
        step = training_step(
            **sizes,
            network_gbit=how.network_gbit,
            stack=how.said.stack,
            date=how.said.date,
            facts=dict(how.said.facts),
        )
        command(step=step, how=how, **given)

    options = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*shared, *own)]
    of_step.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    of_step.__doc__ = command.__doc__
    of_step.__name__ = command.__name__
    return opt.takes_how(of_step)


def _wholes(name: str, texts: list[str]) -> tuple[int, ...]:
    """Return whole numbers from the words of an option, which a refusal names."""
    try:
        return wholes(texts)
    except ConfigError as error:
        raise ConfigError(f"{BY_NAME[name].flags[0]}: {error}") from None


OF_DEVICE = ("accelerator", "nvlink_domain")


def takes_sizes(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a layout's sizes before its own.

    The rest of a training step may be stated too, all of it or nothing.

    Args:
        command: Takes ``sizes``, rank order and devices among them, ``rest``, what else is stated
            of the step, both by name, and ``how``; then its own options.
    """
    asked = inspect.signature(training_step).parameters
    sizes = (*SIZES, "order", "num_gpus")
    more = [name for name in asked if name not in (*sizes, *OF_DEVICE, *opt.HOW)]
    shared = [asked[name].replace(annotation=opt.field(name)) for name in sizes]
    shared += [
        asked[name].replace(
            annotation=opt.optional(name), default=None, kind=inspect.Parameter.KEYWORD_ONLY
        )
        for name in more
    ]
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(command, eval_str=True).parameters.values()
        if one.name not in ("sizes", "rest", "how")
    ]

    def of_sizes(how: opt.How, **given: Any) -> None:
        found = {name: given.pop(name) for name in (*sizes, *more)}
        rest = {name: found[name] for name in more if found[name] is not None}
        command(sizes={name: found[name] for name in sizes}, rest=rest, how=how, **given)

    of_sizes.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    of_sizes.__doc__, of_sizes.__name__ = command.__doc__, command.__name__
    return opt.takes_how(of_sizes)


Nodes = Annotated[
    int | None,
    opt.alone("--nodes", help="Servers or racks, in place of --gpus.", panel=opt.PANELS["device"]),
]
_WORDS = ("recompute", "schedule")


def _asked(field: Field) -> inspect.Parameter:
    """Return a field as an option of a search: one value, or several to try."""
    own = inspect.signature(training_step).parameters[field.name]
    default = None if field.tried or field.name == "num_gpus" else own.default
    kind = opt.tried(field.name) if field.tried else opt.field(field.name)
    return own.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def devices(num_gpus: int | None, nodes: int | None, device: Accelerator) -> int:
    """Return the devices of a job, stated as such or as servers or racks.

    Args:
        num_gpus: Devices.
        nodes: Servers or racks, each of one NVLink domain.
        device: Says how many devices a domain joins.

    Raises:
        ConfigError: If neither is stated, or both are.
    """
    if num_gpus is not None and nodes is not None:
        raise ConfigError("--gpus and --nodes say the same; give one")
    if num_gpus is not None:
        return num_gpus
    if nodes is None:
        raise ConfigError(
            "Missing option '--gpus' / '-n', or --nodes; see 'steptime search --help'"
        )
    return check_count("nodes", nodes, most=10**6) * device.nvlink_domain


def takes_question(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a search's question before its own.

    Names are those of `steptime.planning.asked.search_question`; what a search may try takes
    several values with commas between.

    Args:
        command: Takes the question's values by name as ``asked``, and options of its own.
    """
    shared = [_asked(field) for field in FIELDS if field.name not in opt.HOW]
    shared.append(inspect.Parameter("nodes", shared[0].kind, default=None, annotation=Nodes))
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(command, eval_str=True).parameters.values()
        if one.name != "asked"
    ]

    def of_question(how: opt.How, **given: Any) -> None:
        asked: dict[str, Any] = {one.name: given.pop(one.name) for one in shared}
        for name, value in asked.items():
            if isinstance(value, list):
                asked[name] = words(value) if name in _WORDS else _wholes(name, value)
        device = device_named(asked["accelerator"], asked["nvlink_domain"])
        asked["num_gpus"] = devices(asked["num_gpus"], asked.pop("nodes"), device)
        asked |= {"network_gbit": how.network_gbit, "stack": how.said.stack, "date": how.said.date}
        asked |= {"facts": dict(how.said.facts), "predictor": how.predictor}
        command(asked=asked | {"constants": how.constants}, **given)

    of_question.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    of_question.__doc__ = command.__doc__
    of_question.__name__ = command.__name__
    return opt.takes_how(of_question)
