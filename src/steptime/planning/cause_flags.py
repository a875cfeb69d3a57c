"""The causes of ``data/causes.toml``, and the flags that mend them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.answer.answer import Prediction
from steptime.inputs.datafiles import data_table

FILE = "causes.toml"


def causes_known() -> dict[str, Mapping[str, Any]]:
    """Return the causes of ``data/causes.toml``, by name."""
    return {name: entry for name, entry in data_table(FILE).items() if "title" in entry}


def flag_of(name: str, software: str, own: Prediction | None = None) -> str:
    """Return what mends a cause, in the words of a software.

    Args:
        name: Key of the cause.
        software: A family, or a format of launch files.
        own: The answer for the run that it is put into; any run if None.

    Returns:
        The flag; empty where the run lacks what the flag asks for.
    """
    entry = causes_known()[name]
    flags = entry["flags"]
    needs = entry.get("needs", {}).get(software)
    if own is not None and needs is not None and not _has(own, needs):
        return str(needs.get("instead", ""))
    return str(flags.get(software, flags["default"]))


def _has(own: Prediction, needs: Mapping[str, Any]) -> bool:
    """Return whether a run has what a flag asks for: fields of its layout, or facts."""
    least, most = needs.get("least", {}), needs.get("most", {})
    return all(_value(own, name) >= value for name, value in least.items()) and all(
        _value(own, name) <= value for name, value in most.items()
    )


def _value(own: Prediction, name: str) -> float:
    layout = own.step.layout
    holder = layout if hasattr(layout, name) else own.software.time
    return float(getattr(holder, name, 0.0))
