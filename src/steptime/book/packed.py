"""Records of one kind in few letters, for a page that fetches them: column by column.

A field is named once, and a value that many records share stands once. ``rows`` of
``book/web/explorer/unpack.js`` puts them together again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

INDEX_LETTERS = 2
"""What a place in the list of distinct values takes, with its comma."""


def _written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def packed_rows(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return records that have the same fields as columns.

    Args:
        rows: The records.
    """
    columns = {name: _column([row[name] for row in rows]) for name in rows[0]}
    return {"rows": len(rows), "columns": columns}


def _alike(values: Sequence[Any]) -> bool:
    """Whether all are records with the same fields."""
    first = values[0] if values else None
    return (
        isinstance(first, dict) and bool(first) and all(list(one) == list(first) for one in values)
    )


def _column(values: list[Any]) -> Any:
    """Return a column: as it stands, or its distinct values and the place of each among them."""
    distinct: dict[str, Any] = {}
    for one in values:
        if one is not None:
            distinct.setdefault(_written(one), one)
    names = list(distinct)
    at = [names.index(_written(one)) if one is not None else -1 for one in values]
    of = list(distinct.values())
    if not any(isinstance(one, dict) for one in of):
        shorter = len("".join(names)) + INDEX_LETTERS * (len(names) + len(at))
        if shorter >= len(_written(values)):
            return values
        return {"of": of, "at": at}
    entries = packed_rows(of) if _alike(of) else of
    return {"of": entries} if at == list(range(len(of))) else {"of": entries, "at": at}


def joined(texts: Sequence[str]) -> str:
    """Return texts as one, which a page takes apart again.

    Args:
        texts: None of them holds the sign between them.

    Raises:
        ValueError: If one does.
    """
    if any("|" in one for one in texts):
        raise ValueError("a text holds the sign that parts texts")
    return "|".join(texts)
