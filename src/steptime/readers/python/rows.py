"""Options of a program, and functions that take a row of a table beside a recipe's library."""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.formats import program_options, row_functions
from steptime.readers.keys.safe import LARGEST_LAUNCH_BYTES, file_text, short
from steptime.readers.python.records import Record, Scoped, Unknown

_NONE = object()
_MOST_FILES = 200


def from_program(scope: Scoped, node: ast.Call, name: str) -> Record | list[Any] | None:
    """Return a program's options, or what a row of its table gives; None for other functions.

    Args:
        scope: Where it is called.
        node: The call.
        name: The function's last name.
    """
    return Record(kind=name) if name in program_options() else _row_of(scope, node, name)


def option(inside: Record, name: str, given: Mapping[str, str]) -> Any:
    """Return an option of a program: what its user sets, or its own default.

    Args:
        inside: The options.
        name: Of the option.
        given: What the user sets.
    """
    defaults = program_options().get(inside.kind)
    if defaults is None:
        return Unknown(name)
    word = given.get(name)
    if word is not None:
        return int(word) if word.isdigit() else word
    return defaults[name] if name in defaults else Unknown(f"{name}, --set {name}=", is_option=True)


def _row_of(scope: Scoped, node: ast.Call, name: str) -> list[Any] | None:
    """Return what a function takes from a row of a table; None if it is no such function.

    What the row lacks, and everything where no row is known, is not known.
    """
    function = row_functions().get(name)
    if function is None:
        return None
    names = function["arguments"].split()
    given = {one: scope.value(arg) for one, arg in zip(names, node.args, strict=False)}
    options = given.pop("args", None)
    wanted = {one: given.get(one) for one in function["where"].split()}
    if isinstance(options, Record):
        per_node = function["per_node"].get(str(given.get("gpu")), None)
        if per_node is not None:
            options.fields["gpus_per_node"] = (per_node, node.lineno)
        for column, its in function["options"].items():
            wanted[column] = option(options, its, scope.library.given)
    row = _row(scope, node, function["file"], given, wanted)
    return [_cell(function, column, row, options, scope) for column in function["gives"].split()]


def _row(
    scope: Scoped, node: ast.Call, file: str, given: Mapping[str, Any], wanted: Mapping[str, Any]
) -> dict[str, str] | None:
    """Return the first row that has what is wanted; an option that is left out is in any.

    Raises:
        ConfigError: If the table is here, and no row of it is meant.
    """
    callee = scope.callee(node.func)
    if callee is None:
        return None
    own = Path(file)
    folder = callee[0].path.parent / own.parent
    known = sorted(_names(folder, own.name))
    if not known:
        return None
    at = f"{scope.module.path.name}:{node.lineno}"
    name = given.get("gpu")
    if not isinstance(name, str) or name not in known:
        raise ConfigError(
            f"{at}: the layout is a row of {short(own)}: add --set gpu=NAME, one of "
            f"{', '.join(known)}"
        )
    must = {
        column: value
        for column, value in wanted.items()
        if not (isinstance(value, Unknown) and value.is_option)
    }
    text = file_text(folder / own.name.format(gpu=name), most=LARGEST_LAUNCH_BYTES)
    for row in csv.DictReader(io.StringIO(text)):
        scope.spend()
        if all(_same(row.get(column) or "", value) for column, value in must.items()):
            return {str(column): str(value or "") for column, value in row.items()}
    asked = ", ".join(f"{column} = {value}" for column, value in must.items() if _is_plain(value))
    raise ConfigError(f"{at}: no row of {own.name.format(gpu=name)} has {short(asked)}")


def _names(folder: Path, file: str) -> Iterator[str]:
    """Yield the names that stand in the place of ``{gpu}`` in the files of a folder."""
    before, _, after = file.partition("{gpu}")
    try:
        for path in islice(folder.iterdir(), _MOST_FILES):
            if path.name.startswith(before) and path.name.endswith(after):
                yield path.name.removeprefix(before).removesuffix(after)
    except OSError:
        return


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int))


def _same(cell: str, value: Any) -> bool:
    number = _number(cell)
    return number == value if number is not None else cell == str(value)


def _number(cell: str) -> int | None:
    try:
        return int(float(cell))
    except (ValueError, OverflowError):
        return None


def _cell(
    function: Mapping[str, Any],
    column: str,
    row: dict[str, str] | None,
    options: Any,
    scope: Scoped,
) -> Any:
    """Return one value: whole numbers, words cut at their sign, or the function's own default."""
    if row is None:
        return Unknown(f"{column} of a table that is not beside the file")
    if column == "num_nodes":
        each = options.fields.get("gpus_per_node", (_NONE, 0))[0]
        each = option(options, "gpus_per_node", scope.library.given) if each is _NONE else each
        gpus = _number(row.get("num_gpus", ""))
        return -(-gpus // each) if gpus is not None and isinstance(each, int) else Unknown(column)
    cell = row.get(column, "")
    if not cell:
        return function["defaults"].get(column)
    number = _number(cell)
    return cell.split("/") if number is None else number
