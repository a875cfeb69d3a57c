"""Reads an order that somebody else made, in PyTorch's notation, and checks it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from steptime.inputs.errors import ConfigError, check_count
from steptime.pipeline.codes import backward_code, forward_code, input_code, pair_code, weight_code

_ACTION = re.compile(r"(\d{1,7})([FBIW])(\d{1,7})")
_PAIR = re.compile(r"\(([^;()]*);([^;()]*)\)OVERLAP_F_B")
# PyTorch's dumps may also hold messages and sharding; the executor works those out itself.
_IGNORED = re.compile(r"\d+(UNSHARD|RESHARD|REDUCE_GRAD|(SEND|RECV)_[FB]\d+)")

MOST_RANKS = 100_000

Action = tuple[int, str, int]


def orders_from_text(text: str, *, is_json: bool) -> tuple[list[list[int]], int, int]:
    """Return action codes per rank, the stages and the micro-batches of a written order.

    Args:
        text: CSV as PyTorch's ``_dump_csv`` writes it, one row a rank, or JSON: a list of
            lists of names, or an object with such a list under ``ranks``.
        is_json: Which of the two.

    Raises:
        ConfigError: If a name cannot be read, or an action is missing, double or elsewhere.
    """
    ranks: Iterable[list[Any]] = _json_ranks(text) if is_json else _csv_ranks(text)
    parsed: list[list[list[Action]]] = []
    for rank, names in enumerate(ranks):
        # One row at a time: a file that is no order is refused at its first bad cell.
        check_count("number of ranks", rank + 1, most=MOST_RANKS)
        parsed.append(_parse_rank(rank, names))
    while parsed and not parsed[-1]:
        parsed.pop()
    for rank, entries in enumerate(parsed):
        if not entries:
            raise ConfigError(f"rank {rank} has no action; every row of the order must have some")
    actions = [action for rank in parsed for entry in rank for action in entry]
    if not actions:
        raise ConfigError("the order holds no action; expected names such as 0F0, one row a rank")
    stages = 1 + max(stage for stage, _, _ in actions)
    micro_batches = 1 + max(micro_batch for _, _, micro_batch in actions)
    if stages * micro_batches > 10_000_000:
        raise ConfigError(f"{stages} stages x {micro_batches} micro-batches are too many to check")
    _check_complete(parsed, stages, micro_batches)
    return [_codes(rank, stages, micro_batches) for rank in parsed], stages, micro_batches


def _csv_ranks(text: str) -> Iterator[list[Any]]:
    try:
        yield from csv.reader(io.StringIO(text, newline=None))
    except csv.Error as error:
        raise ConfigError(f"the order is not CSV: {error}") from None


def _json_ranks(text: str) -> list[list[Any]]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"the order is not JSON: {error}") from None
    if isinstance(data, dict):
        data = data.get("ranks")
    if not isinstance(data, list) or not all(isinstance(rank, list) for rank in data):
        raise ConfigError(
            "a JSON order must be a list of lists of names, or have one under 'ranks'"
        )
    return data


def _parse_rank(rank: int, names: list[Any]) -> list[list[Action]]:
    """Return one rank's entries: lists of one action, or of two for a pair."""
    entries = []
    for name in names:
        written = str(name or "").strip()
        if not written or _IGNORED.fullmatch(written):
            continue
        pair = _PAIR.fullmatch(written)
        parts = [part.strip() for part in pair.groups()] if pair else [written]
        entry = []
        for part in parts:
            match = _ACTION.fullmatch(part)
            if not match:
                raise ConfigError(
                    f"rank {rank}: cannot read {written[:40]!r}; expected a name such as 2F0: "
                    "stage, one of F B I W, micro-batch"
                )
            entry.append((int(match[1]), match[2], int(match[3])))
        if pair and (entry[0][1] != "F" or entry[1][1] not in "BI"):
            raise ConfigError(f"rank {rank}: {written[:40]!r} must pair an F with a B or an I")
        entries.append(entry)
    return entries


def _check_complete(parsed: list[list[list[Action]]], stages: int, micro_batches: int) -> None:
    home: dict[Action, int] = {}
    for rank, entries in enumerate(parsed):
        for entry in entries:
            for action in entry:
                if action in home:
                    raise ConfigError(
                        f"{_name(action)} is there twice: on rank {home[action]} and rank {rank}"
                    )
                home[action] = rank
    for stage in range(stages):
        for micro_batch in range(micro_batches):
            _check_one(home, stage, micro_batch)


def _check_one(home: dict[Action, int], stage: int, micro_batch: int) -> None:
    found = {kind: home.get((stage, kind, micro_batch)) for kind in "FBIW"}
    present = "".join(kind for kind in "FBIW" if found[kind] is not None)
    if present not in ("FB", "FIW"):
        held = ", ".join(_name((stage, kind, micro_batch)) for kind in present) or "nothing"
        raise ConfigError(
            f"stage {stage}, micro-batch {micro_batch} needs F and B, or F, I and W; "
            f"the order has {held}"
        )
    where = {found[kind] for kind in present}
    if len(where) > 1:
        raise ConfigError(
            f"stage {stage}, micro-batch {micro_batch} runs on ranks "
            f"{' and '.join(str(rank) for rank in sorted(r for r in where if r is not None))}; "
            "its forward and backward must share one"
        )


def _name(action: Action) -> str:
    return f"{action[0]}{action[1]}{action[2]}"


def _codes(entries: list[list[Action]], stages: int, micro_batches: int) -> list[int]:
    makers = {"F": forward_code, "B": backward_code, "I": input_code, "W": weight_code}
    order = []
    for entry in entries:
        if len(entry) == 2:
            order.append(pair_code(stages, micro_batches))
        for stage, kind, micro_batch in entry:
            order.append(makers[kind](stage, micro_batch, stages, micro_batches))
    return order
