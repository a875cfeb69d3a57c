"""The command `steptime`: all commands in one application, one way to refuse."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import typer

from steptime import __version__
from steptime.cli import options as opt
from steptime.cli.outputs import KeepsFiles
from steptime.inputs.errors import ConfigError
from steptime.inputs.extras import way_out

COMMANDS = {
    "predict": "predict",
    "search": "search",
    "sweep": "sweep",
    "explain": "explain",
    "trace": "trace",
    "place": "place",
    "memory": "memory",
    "measure": "measure",
    "validate": "validate",
    "validate-memory": "validate_memory",
    "schedule": "schedule",
    "schedules": "schedule",
    "models": "presets",
    "accelerators": "presets",
    "stacks": "presets",
    "facts": "presets",
}
"""The module of each command; a module is loaded when one of its commands is called."""

# Typer brings its own copy of click or uses an installed one; its errors tell which.
_ClickError: type[Any] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"steptime {__version__}")
        raise typer.Exit


def options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
    network_gbit: opt.field("network_gbit") = None,  # type: ignore[valid-type]
    stack: opt.field("stack") = None,  # type: ignore[valid-type]
    date: opt.field("date") = None,  # type: ignore[valid-type]
    facts: opt.field("facts") = None,  # type: ignore[valid-type]
    predictor: opt.Predictor = None,
    constants: opt.Constants = None,
) -> None:
    """How long does one training step take, and where does the time go?"""
    told = context.obj
    context.obj = {
        "network_gbit": network_gbit,
        "stack": stack,
        "date": date,
        "facts": facts,
        "predictor": predictor,
        "constants": constants,
    }
    _refuse_ignored(context)
    if isinstance(told, _Told):
        told.notes = _given_twice(context, told.words)


@dataclass(slots=True)
class _Told:
    """The words of one call, and what is to be said of them once it is answered."""

    words: list[str]
    notes: list[str] = field(default_factory=list)


def _given_twice(context: typer.Context, words: Sequence[str]) -> list[str]:
    """Return a note of each option of one value that is given again: the last one counts.

    What is printed as a way to be faster or to fit may so be added to the words that were asked.
    """
    commands: Any = context.command
    name = context.invoked_subcommand
    if not name or name not in words:
        return []
    single = {
        flag: one
        for one in commands.commands[name].params
        if one.param_type_name == "option" and not one.multiple
        for flag in (*one.opts, *one.secondary_opts)
    }
    seen: dict[str, str] = {}
    notes = []
    rest = iter(words[words.index(name) + 1 :])
    for word in rest:
        flag, joined, value = word.partition("=")
        option = single.get(flag)
        if option is None:
            continue
        told = flag if option.is_flag else value if joined else next(rest, "")
        if seen.get(option.name, told) != told:
            both = f"{seen[option.name][:60]!r} and {told[:60]!r}"
            notes.append(f"note: {flag} is given twice, {both}; the last one counts")
        seen[option.name] = told
    return notes


def _refuse_ignored(context: typer.Context) -> None:
    """Refuse options before the name of a command that does not take them."""
    name = context.invoked_subcommand
    commands: Any = context.command
    taken = {one.name for one in commands.commands[name].params} if name else set()
    for option in commands.params:
        if context.obj.get(option.name) and option.name not in taken:
            raise ConfigError(f"steptime {name} takes no {option.opts[0]}; leave it out")


def application(arguments: Sequence[str]) -> typer.Typer:
    """Return the application with the command that is called, or with all of them.

    Args:
        arguments: The words after ``steptime``.
    """
    app = typer.Typer(
        name="steptime",
        help="How long does one training step take, and where does the time go?",
        epilog=(
            "Example: `steptime predict -m llama3-70b -a h100 --tp 8 --pp 4 --dp 16 -s 8192 "
            "-B 1024`. Every command has `--help` with more, and `--json`."
        ),
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for module in dict.fromkeys(_needed(arguments)):
        importlib.import_module(f"steptime.cli.{module}").register(app)
    for one in app.registered_commands:
        one.cls = KeepsFiles
    return app


def _needed(arguments: Sequence[str]) -> list[str]:
    """Return the modules that some arguments need: one where a command is named, else all."""
    if "_STEPTIME_COMPLETE" not in os.environ:
        for word in arguments:
            if word in COMMANDS:
                return [COMMANDS[word]]
    return list(COMMANDS.values())


def every_command() -> typer.Typer:
    """Return the application with all commands, for those who describe them."""
    return application(())


def refusal(message: str) -> int:
    """Print one clear line on standard error and return exit status 2.

    Args:
        message: What is wrong and the way out.
    """
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(message.split()))
    # A name without end, or what a terminal would obey, came from outside.
    line = re.sub(r"\S{300,}", lambda word: word[0][:297] + "...", line)
    print(f"steptime: {line}", file=sys.stderr)
    return 2


def _given(error: Any, arguments: Sequence[str]) -> str:
    """Return the value that an option was given, for the message that refuses it."""
    for name in getattr(getattr(error, "param", None), "opts", ()):
        for at, word in enumerate(arguments):
            if word == name and at + 1 < len(arguments):
                return f", got {arguments[at + 1][:60]!r}"
            if word.startswith(f"{name}="):
                return f", got {word[len(name) + 1 :][:60]!r}"
    return ""


def _silence_output() -> None:
    """Let what is still buffered go nowhere, so that closing the output raises nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status: 0, 2 for bad input, 130 if interrupted.

    Args:
        arguments: The words after ``steptime``.
    """
    if sys.stdout is None:
        return refusal("standard output is closed: open it, or write to a file: > answer.txt")
    try:
        app = application(arguments)
        told = _Told(list(arguments))
        status = app(args=told.words, prog_name="steptime", standalone_mode=False, obj=told)
        sys.stdout.flush()
        for note in told.notes:
            print(note, file=sys.stderr)
    except _ClickError as error:
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":
            print(message)
            return 2
        context = getattr(error, "ctx", None)
        tail = f"; see '{context.command_path} --help'" if context else ""
        return refusal(message.rstrip(".") + _given(error, arguments) + tail)
    except ConfigError as error:
        return refusal(str(error))
    except ModuleNotFoundError as missing:
        return refusal(way_out(missing.name, "this command"))
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except (BrokenPipeError, SystemExit):
        # The reader has gone, as in `steptime ... | head`: nothing more to say to it.
        # Typer leaves by SystemExit for this alone when it is not standalone.
        _silence_output()
        return 0
    except OSError as error:
        _silence_output()
        return refusal(f"cannot write the answer: {error.strerror or error}")
    return status if isinstance(status, int) else 0
