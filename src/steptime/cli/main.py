"""The command `steptime`: all commands in one application, one way to refuse."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from steptime import __version__
from steptime.cli import (
    explain,
    measure,
    memory,
    place,
    predict,
    presets,
    schedule,
    search,
    sweep,
    validate,
    validate_memory,
)
from steptime.inputs.constants import ENVIRONMENT, read_constants
from steptime.inputs.errors import ConfigError

COMMANDS = (
    predict,
    search,
    sweep,
    explain,
    place,
    memory,
    measure,
    validate,
    validate_memory,
    schedule,
    presets,
)

# Typer brings its own copy of click or uses an installed one; its errors tell which.
_ClickError: type[Any] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

app = typer.Typer(
    name="steptime",
    help="How long does one training step take, and where does the time go?",
    epilog=(
        "Example: `steptime predict -m llama3-70b -a h100 --tp 8 --pp 4 --dp 16 -s 8192 -B 1024`. "
        "Every command has `--help` with more, and `--json`."
    ),
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"steptime {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
    constants: Annotated[
        Path | None,
        typer.Option("--constants", help="Constants of your cluster, from `validate --fit`."),
    ] = None,
) -> None:
    """How long does one training step take, and where does the time go?"""
    if constants is not None:
        read_constants(constants)
        os.environ[ENVIRONMENT] = str(constants.resolve())


for command in COMMANDS:
    command.register(app)


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
    try:
        status = app(args=list(arguments), prog_name="steptime", standalone_mode=False)
        sys.stdout.flush()
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
        return refusal(f"this command needs {missing.name}: install steptime[all]")
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
