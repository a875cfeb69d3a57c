"""The options that commands share: each is made from the one entry of its field."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from steptime.answer.predictor import PREDICTORS
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.amount import amount, whole
from steptime.inputs.constants import RooflineConstants, read_constants
from steptime.inputs.entries import Field
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Value
from steptime.inputs.fields import BY_NAME, FIELDS
from steptime.inputs.said import Said
from steptime.inputs.stack import FACT_NAMES, WORD_FACTS
from steptime.inputs.training_step import device_named, training_step

PANELS = {
    "cut": "How it is cut",
    "choice": "How it is cut",
    "device": "What it runs on",
    "software": "How it is modelled",
}
MODELLED = PANELS["software"]
# Names, files and words come as text; all other types are Python's own.
_COUNTS = (int, int | None)
_TEXT = {"model": str, "accelerator": str, "facts": list[str] | None}
HOW = ("network_gbit", "stack", "date", "facts")
"""Fields that every command that answers takes, also before its name."""


def integer(text: object) -> int:
    """Return a count as it is written on the command line, such as 8192 or 8k.

    Args:
        text: As it came in.

    Raises:
        typer.BadParameter: If it is none, for the option to be named.
    """
    try:
        return whole(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def number(text: object) -> float:
    """Return an amount as it is written on the command line, such as 15e12 or 15T.

    Args:
        text: As it came in.

    Raises:
        typer.BadParameter: If it is none, for the option to be named.
    """
    try:
        return amount(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def option(field: Field, help: str = "", kind: Any = None) -> Any:
    """Return the option of a field.

    Args:
        field: Its entry.
        help: In place of the entry's own.
        kind: Its Python type; counts may end in k.
    """
    return Option(
        *field.flags,
        help=help or field.help,
        rich_help_panel=PANELS.get(field.group),
        parser=integer if kind in _COUNTS else None,
    )


def named(name: str, kind: Any) -> Any:
    """Return the annotation of one field's option.

    Args:
        name: Of the field.
        kind: Its Python type.
    """
    return Annotated[kind, option(BY_NAME[name], kind=kind)]


def tried(name: str) -> Any:
    """Return the annotation of an option that takes several values for a search to try.

    Args:
        name: Of the field.
    """
    field = BY_NAME[name]
    help = f"To try, with commas between; default: {field.tried or 'all that fit'}."
    return Annotated[list[str] | None, option(field, help)]


def alone(*flags: str, help: str, panel: str | None = None) -> Any:
    """Return an option that belongs to no field.

    Args:
        *flags: Its names.
        help: What it is.
        panel: Of the help page.
    """
    return Option(*flags, help=help, rich_help_panel=panel)


Predictor = Annotated[
    str | None,
    alone(
        "--predictor",
        help=", ".join(PREDICTORS) + "; default: roofline where the accelerator was measured.",
        panel=MODELLED,
    ),
]
Constants = Annotated[
    Path | None,
    alone(
        "--constants",
        help="Constants of your cluster, a file from `validate --fit`.",
        panel=MODELLED,
    ),
]
GPUS = option(BY_NAME["num_gpus"], kind=int)
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What every command that answers is told beside the layout.

    Attributes:
        said: Of the software.
        network_gbit: Gb/s of a device's share of the network; None for its row's.
        predictor: Name of the model; None for the better one.
        constants: Of the roofline model; None for the published ones.
    """

    said: Said
    network_gbit: float | None
    predictor: str | None
    constants: RooflineConstants | None

    @property
    def inputs(self) -> dict[str, Any]:
        """Return what was told as inputs of `steptime.predict`; empty where nothing was."""
        told = {
            **{"stack": self.said.stack, "date": self.said.date, "facts": dict(self.said.facts)},
            **{"network_gbit": self.network_gbit, "predictor": self.predictor},
            "constants": self.constants,
        }
        return {name: value for name, value in told.items() if value not in (None, {})}

    def device(self, name: str, nvlink_domain: int | None = None) -> Accelerator:
        """Return an accelerator with the network that was stated.

        Args:
            name: Preset or file.
            nvlink_domain: Devices joined by NVLink; as it is built if None.
        """
        return device_named(name, nvlink_domain, self.network_gbit)


def _pair_of(name: str) -> str:
    if name in WORD_FACTS:
        return f"{name}=word, such as kernel=flash-2 or cp_comm_type=p2p"
    return "name=number, such as overlap_dp=0"


def facts_of(pairs: list[str] | None) -> dict[str, Value]:
    """Return facts by name from ``name=value`` pairs.

    Args:
        pairs: What stood behind each ``--fact``.

    Raises:
        ConfigError: If one is no such pair.
    """
    found: dict[str, Value] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if name:
            check_choice("fact", name, FACT_NAMES)
        try:
            value: Value = text if name in WORD_FACTS else float(text)
        except ValueError:
            equals = ""
        if not (name and equals and text):
            raise ConfigError(f"--fact {pair[:60]!r} must be {_pair_of(name)}")
        if name in found:
            raise ConfigError(f"--fact {name[:60]} is given twice, state it once")
        found[name] = value
    return found


_ASKED = inspect.signature(training_step, eval_str=True).parameters
STEP: dict[str, Any] = {
    field.name: Annotated[
        _TEXT.get(field.name, _ASKED[field.name].annotation),
        option(field, kind=_ASKED[field.name].annotation),
    ]
    for field in FIELDS
}
"""The annotation of the option for each parameter of `training_step`."""


def field(name: str) -> Any:
    """Return the annotation of the option for one parameter of `training_step`.

    Args:
        name: Of the field.
    """
    return STEP[name]


def optional(name: str) -> Any:
    """Return the annotation of a field's option in a command that answers without it too.

    Args:
        name: Of the field.
    """
    kind = _TEXT.get(name, _ASKED[name].annotation)
    return Annotated[kind | None, option(BY_NAME[name], kind=_ASKED[name].annotation)]


def how_parameters() -> list[inspect.Parameter]:
    """Return the parameters that every command that answers has."""
    annotations = {name: STEP[name] for name in HOW}
    annotations |= {"predictor": Predictor, "constants": Constants}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=one)
        for name, one in annotations.items()
    ]


def before_the_name(given: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Return options with those that stood before the command's name in place of missing ones.

    Args:
        given: What the command itself was given, by name.
        context: Of the command; its parent took the others.
    """
    first: Mapping[str, Any] = context.obj or {}
    found = {name: value if value is not None else first.get(name) for name, value in given.items()}
    if given.get("facts") and first.get("facts"):
        # What stands after the command's name comes before what stands before it.
        after = {pair.partition("=")[0] for pair in given["facts"]}
        kept = [pair for pair in first["facts"] if pair.partition("=")[0] not in after]
        found["facts"] = [*kept, *given["facts"]]
    return found


def _how(given: Mapping[str, Any]) -> How:
    constants = given["constants"]
    return How(
        said=Said(
            stack=given["stack"], date=given["date"], facts=tuple(facts_of(given["facts"]).items())
        ),
        network_gbit=given["network_gbit"],
        predictor=given["predictor"],
        constants=None if constants is None else read_constants(constants),
    )


_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)


def takes_how(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options that every answer takes.

    Args:
        command: Takes a parameter ``how``, and options of its own.
    """
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(command, eval_str=True).parameters.values()
        if one.name != "how"
    ]
    names = [one.name for one in how_parameters()]

    @functools.wraps(command)
    def called(context: typer.Context, **given: Any) -> None:
        shared = before_the_name({name: given.pop(name) for name in names}, context)
        command(how=_how(shared), **given)

    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_CONTEXT, *own, *how_parameters()]
    )
    return called
