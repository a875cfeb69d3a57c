"""The log of a training run: step times and rates, as its software prints them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.readers.trace.bytes import pieces

LONGEST_LINE_BYTES = 2**16
MOST = 1e30
"""A number of a step as large as this is none."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER = re.compile(r"\s*([0-9][0-9,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)([A-Z]?)")
# The first steps of a run warm up: this share of the lines is left out, at least one of them.
_WARM_UP = 0.1
_FEWEST_TO_DROP = 3
OUTCOMES = ("step_time_s", "tokens_per_s_per_gpu", "flop_per_s_per_gpu")
"""What a line must have one of to be one of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """What a log says of a run.

    Attributes:
        path: Of the file.
        kind: Key of ``data/logs.toml``.
        title: Of the software.
        lines: Lines with numbers of a step, warm-up left out.
        step_time_s: In the middle; None if not printed.
        tokens_per_s_per_gpu: Likewise.
        flop_per_s_per_gpu: As the software counts FLOP; None likewise.
        global_batch_size: Sequences of a step as the log says; None likewise.
        warm_up_lines: Lines that were left out.
        first_alone: Whether the run's first step is the only one, which warms up.
    """

    path: str
    kind: str
    title: str
    lines: int
    step_time_s: float | None
    tokens_per_s_per_gpu: float | None
    flop_per_s_per_gpu: float | None
    global_batch_size: float | None = None
    warm_up_lines: int = 0
    first_alone: bool = False


def lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a log without colours; overlong ones are cut.

    Args:
        path: The file, packed with gzip or not.
    """
    rest = b""
    for piece in pieces(path):
        *whole, rest = (rest + piece).replace(b"\r", b"\n").split(b"\n")
        rest = rest[:LONGEST_LINE_BYTES]
        for line in whole:
            yield _COLOUR.sub("", line[:LONGEST_LINE_BYTES].decode(errors="replace"))
    yield _COLOUR.sub("", rest.decode(errors="replace"))


def number_after(line: str, words: str, suffixes: Mapping[str, Any]) -> float | None:
    """Return the number that stands behind some words; None where there is none.

    Args:
        line: Of a log.
        words: Of one field.
        suffixes: What a letter behind the number multiplies it with.
    """
    at = line.find(words)
    while at >= 0:
        before = line[at - 1] if at else " "
        found = _NUMBER.match(line, at + len(words))
        if found and not (before.isalnum() or before == "_"):
            factor = suffixes.get(found[2], 1.0) if found[2] else 1.0
            return float(found[1].replace(",", "")) * float(factor)
        at = line.find(words, at + 1)
    return None


def read_log(path: str | Path) -> RunLog:
    """Return what a log says of the steady steps of a run.

    Args:
        path: The file.

    Raises:
        ConfigError: If no line of it is one of a step, in any way that is known, or a number of
            one is no measurement.
    """
    table = data_table("logs.toml")
    suffixes = {key: value for key, value in table["suffixes"].items() if key != "source"}
    kinds = {key: value for key, value in table.items() if key != "suffixes"}
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for line in lines(path):
        for kind, fields in kinds.items():
            read = _fields(line, fields["fields"], suffixes)
            if "step" in read and not read.keys().isdisjoint(OUTCOMES):
                _check_finite(path, read)
                found[kind].append(read)
    kind = max(kinds, key=lambda one: sum(map(len, found[one])))
    if not found[kind]:
        known = ", ".join(fields["title"] for fields in kinds.values())
        raise ConfigError(f"{path}: no line of a step of {known}, and no trace of a profiler")
    return _middle(str(path), kind, str(kinds[kind]["title"]), found[kind])


def _fields(line: str, fields: Mapping[str, Any], suffixes: Mapping[str, Any]) -> dict[str, float]:
    read = {}
    for name, field in fields.items():
        for words in field["before"]:
            value = number_after(line, words, suffixes)
            if value is not None and value > 0.0:
                read[name] = value * float(field["unit"])
    return read


def _check_finite(path: str | Path, read: Mapping[str, float]) -> None:
    for name in OUTCOMES:
        if not math.isfinite(read.get(name, 0.0)) or read.get(name, 0.0) >= MOST:
            raise ConfigError(
                f"{path}: {name} of step {read['step']:.0f} is {read[name]:g}, which nobody "
                "measured; mend or remove that line"
            )


def _middle(path: str, kind: str, title: str, every: list[dict[str, float]]) -> RunLog:
    warm = max(1, int(_WARM_UP * len(every))) if len(every) >= _FEWEST_TO_DROP else 0
    kept = every[warm:]

    def of(name: str) -> float | None:
        values = [line[name] for line in kept if name in line]
        return median(values) if values else None

    return RunLog(
        path=path,
        kind=kind,
        title=title,
        lines=len(kept),
        step_time_s=of("step_time_s"),
        tokens_per_s_per_gpu=of("tokens_per_s_per_gpu"),
        flop_per_s_per_gpu=of("flop_per_s_per_gpu"),
        global_batch_size=of("global_batch_size"),
        warm_up_lines=warm,
        first_alone=len(every) == 1 and every[0]["step"] <= 1.0,
    )
