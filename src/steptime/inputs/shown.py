"""Answers that show themselves: as a table in a notebook, as a frame, as a figure, as JSON.

The one base class of the package. What an answer is called and which rows it has, it says by
itself; how rows become a table or a frame is the same for all, and a reader's editor completes
the names of these methods wherever an answer is returned.
"""

from __future__ import annotations

import importlib
from typing import Any, Self

from steptime.inputs.errors import ConfigError
from steptime.inputs.extras import way_out
from steptime.inputs.plain import from_json_text, json_text

Row = dict[str, Any]


def needed(module: str, what: str) -> Any:
    """Return a module of an optional group, or refuse with the name of the group.

    Args:
        module: To import.
        what: Needs it.

    Raises:
        ConfigError: If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise ConfigError(way_out(missing.name, what)) from None


def cell(value: Any) -> str:
    """Return a value as a cell of a table shows it.

    Args:
        value: A number, a name, nothing.
    """
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


UNITS = (
    (2 * 86400.0, 86400.0, "days"),
    (10 * 3600.0, 3600.0, "h"),
    (10 * 60.0, 60.0, "min"),
    (1.0, 1.0, "s"),
    (1e-3, 1e-3, "ms"),
    (1e-6, 1e-6, "µs"),
    (0.0, 1e-9, "ns"),
)
"""From how many seconds on a time is told in a unit, the seconds of the unit, and its name."""


def unit_of(value: float) -> tuple[float, float, str]:
    """Return the unit of `UNITS` in which a time is short.

    Args:
        value: Seconds, 0 or more.
    """
    return next(unit for unit in UNITS if value >= unit[0])


def seconds(value: float) -> str:
    """Return a time for the eye: four digits, in the unit that keeps it short.

    Args:
        value: Seconds.
    """
    if value <= 0.0:
        return "0" if value == 0.0 else f"-{seconds(-value)}"
    _, unit_s, name = unit_of(value)
    number = value / unit_s
    return f"{number:,.0f} {name}" if number >= 1000.0 else f"{number:.4g} {name}"


class Shown:
    """An answer with a title, rows, and the ways to look at them."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.title()

    def title(self) -> str:
        """Return what the answer says in one line."""
        raise NotImplementedError

    def records(self) -> list[Row]:
        """Return the answer as rows: values by name, units in the names."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame.

        Raises:
            ConfigError: If pandas is not installed.
        """
        return needed("pandas", "to_frame").DataFrame(self.records())

    def _repr_html_(self) -> str:
        from html import escape

        rows = self.records()
        heads = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        lines = (
            "<tr>" + "".join(f"<td>{escape(cell(one))}</td>" for one in row.values()) + "</tr>"
            for row in rows
        )
        return (
            f"<p><strong>{escape(self.title())}</strong></p><table><thead><tr>{heads}</tr></thead>"
            f"<tbody>{''.join(lines)}</tbody></table>"
        )

    def plot(self, axes: Any = None) -> Any:
        """Return matplotlib axes with the answer drawn on them.

        Args:
            axes: To draw on; new ones if None.

        Raises:
            ConfigError: If matplotlib is not installed.
        """
        if axes is None:
            _, axes = needed("matplotlib.pyplot", "plot").subplots(layout="constrained")
        self._draw(axes)
        return axes

    def _draw(self, axes: Any) -> None:
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the whole answer as JSON, which `from_json` reads back."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the answer that `to_json` wrote.

        Args:
            text: JSON.

        Raises:
            ConfigError: If it holds something else.
        """
        if not isinstance(text, (str, bytes)):
            raise ConfigError(f"an answer is read back from a text of JSON, got {text!r:.60}")
        found = from_json_text(text)
        if not isinstance(found, cls):
            raise ConfigError(f"this JSON holds a {type(found).__name__}, no {cls.__name__}")
        return found


def bars(axes: Any, names: list[str], lengths: list[float], label: str) -> None:
    """Draw one bar a row, the first on top.

    Args:
        axes: Of matplotlib.
        names: Of the bars.
        lengths: Theirs.
        label: Of the axis, with its unit.
    """
    axes.barh(names, lengths)
    axes.invert_yaxis()
    axes.set_xlabel(label)
