"""No command writes over a file that it reads, nor twice to one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from steptime.inputs.errors import ConfigError
from steptime.inputs.written import same_file

_NAME_FILES = ("model", "accelerator", "like", "constants")
"""Options that take a preset's name or a file; the others that read one take a path."""


def file_read(text: str) -> str:
    """Return what names a file that is read, as it came: an option of text says so by this parser.

    Args:
        text: As it came in.
    """
    return text


def file_written(text: str) -> str:
    """Return what names a file that is written, likewise.

    Args:
        text: As it came in.
    """
    return text


class KeepsFiles(TyperCommand):
    """A command that refuses an output which is one of its inputs, before anything is read.

    An option that writes a file says so with ``writable=True``, one of text with `file_written`.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Args:
            ctx: Of the call.

        Raises:
            ConfigError: If a file that it would write is one that it reads, or writes too.
        """
        first = ctx.obj if isinstance(ctx.obj, dict) else {}
        check_outputs(self.params, {**first, **{k: v for k, v in ctx.params.items() if v}})
        return super().invoke(ctx)


def writes(param: Any) -> bool:
    """Return whether an option names what is written.

    Args:
        param: The option or argument.
    """
    kind = param.type
    return bool(getattr(kind, "writable", getattr(kind, "func", None) is file_written))


def _reads(param: Any) -> bool:
    kind = param.type
    is_file = hasattr(kind, "writable") or getattr(kind, "func", None) is file_read
    return not writes(param) and (is_file or param.name in _NAME_FILES)


def check_outputs(params: list[Any], given: dict[str, Any]) -> None:
    """Refuse a file that would be written and is read, or written twice.

    Args:
        params: Options and arguments of a command.
        given: Their values by name.

    Raises:
        ConfigError: If there is one, also by another spelling or by a link.
    """
    reads = [
        (_title(one), path)
        for one in filter(_reads, params)
        for text in _texts(given.get(one.name))
        # Of a folder, what describes its model is read.
        for path in (text, f"{text}/config.json")
    ]
    for one in filter(writes, params):
        for text in _texts(given.get(one.name)):
            for other, before in reads:
                if same_file(before, text):
                    raise ConfigError(
                        f"{other} and {_title(one)} name the same file, {text[:200]}; give two"
                    )
            reads.append((_title(one), text))


def _title(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name).strip("[].").upper()
    return str(max(param.opts, key=len))


def _texts(value: Any) -> Iterator[str]:
    """Yield what may be a path: the value, each of several, and each between commas."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str | Path) and str(value).strip():
        yield str(value)
        if "," in str(value):
            yield from filter(None, str(value).split(","))
