"""The question beside a measured run: options as in `predict`, a launch file, or none."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime.cli import options as opt
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.fields import BY_NAME
from steptime.inputs.layout import Layout
from steptime.inputs.training_step import TrainingStep, shape_named, training_step
from steptime.readers import read_configuration
from steptime.readers.common.precision import ruled_out
from steptime.readers.completed import noted
from steptime.readers.other_model import take_model

Launch = Annotated[
    Path | None,
    typer.Option("--launch", help="The launch file that started the run, as `explain` reads it."),
]
_SIZES = ("num_gpus", "seq_length", "global_batch_size", "micro_batch_size")
_BESIDE_A_FILE = ("model", "accelerator", "nvlink_domain", *_SIZES)


def takes_maybe_step(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a training step, all of which may be left out.

    Args:
        command: Takes the step or None, the layout or None, ``how``, and the causes that
            the launch file rules out; then options of its own.
    """
    shared = [
        one.replace(
            annotation=opt.STEP[one.name] if one.default is not one.empty else _optional(one.name),
            default=None if one.default is one.empty else one.default,
            kind=inspect.Parameter.KEYWORD_ONLY,
        )
        for one in inspect.signature(training_step).parameters.values()
        if one.name not in opt.HOW
    ]
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(command, eval_str=True).parameters.values()
        if one.name not in ("step", "layout", "how", "ruled_out")
    ]
    launch = inspect.Parameter(
        "launch", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Launch
    )

    def asked(how: opt.How, launch: Path | None, **given: Any) -> None:
        sizes = {one.name: given.pop(one.name) for one in shared}
        found: tuple[TrainingStep | None, frozenset[str]]
        found = (
            (_step(sizes, how), frozenset()) if launch is None else _launched(sizes, launch, how)
        )
        step, ruled = found
        layout = _layout(sizes) if step is None else step.layout
        command(step=step, layout=layout, how=how, ruled_out=ruled, **given)

    asked.__signature__ = inspect.Signature([*own, launch, *shared])  # type: ignore[attr-defined]
    asked.__doc__, asked.__name__ = command.__doc__, command.__name__
    return opt.takes_how(asked)


def _optional(name: str) -> Any:
    kind, option = opt.STEP[name].__origin__, opt.STEP[name].__metadata__[0]
    return Annotated[kind | None, option]


def _layout(sizes: Mapping[str, Any]) -> Layout | None:
    """Return the degrees that were given alone, which tell whose messages a trace shows."""
    named = ("tp", "cp", "pp", "dp", "ep")
    degrees = {name: sizes[name] for name in named if sizes[name] not in (None, 1)}
    for name, degree in degrees.items():
        check_count(name, degree)
    return Layout(**degrees) if degrees else None


def _step(sizes: Mapping[str, Any], how: opt.How) -> TrainingStep | None:
    needed = [
        one.name
        for one in inspect.signature(training_step).parameters.values()
        if one.default is one.empty
    ]
    missing = [name for name in needed if sizes[name] is None]
    if len(missing) == len(needed):
        return None
    if missing:
        flags = ", ".join(BY_NAME[name].flags[0] for name in missing)
        raise ConfigError(f"the prediction needs {flags} too, or --launch FILE; or leave all out")
    return training_step(
        **sizes,
        network_gbit=how.network_gbit,
        stack=how.said.stack,
        date=how.said.date,
        facts=dict(how.said.facts),
    )


def _refuse_cut(sizes: Mapping[str, Any]) -> None:
    """Refuse what would cut the step otherwise than the launch file does."""
    for one in inspect.signature(training_step).parameters.values():
        usual = None if one.default is one.empty else one.default
        told = one.name in sizes and one.name not in _BESIDE_A_FILE and sizes[one.name] != usual
        if told:
            flag = BY_NAME[one.name].flags[0]
            raise ConfigError(f"the file of --launch says how its step is cut; leave {flag} out")


def _launched(
    sizes: Mapping[str, Any], launch: Path, how: opt.How
) -> tuple[TrainingStep, frozenset[str]]:
    if sizes["accelerator"] is None:
        raise ConfigError("--launch needs --accelerator, which launch files do not name")
    _refuse_cut(sizes)
    reading = read_configuration(launch, {}, ())
    if sizes["model"] is not None:
        take_model(reading, shape_named(sizes["model"]))
    stated = {name: sizes[name] for name in _SIZES if sizes[name] is not None}
    if reading.model is None:
        from steptime.cli.explain import no_model

        raise ConfigError(no_model(noted(reading, stated), str(sizes["accelerator"])))
    from steptime.planning.explain import step_of

    device = how.device(sizes["accelerator"], sizes["nvlink_domain"])
    return step_of(reading, device, stated, how.said), ruled_out(reading)
