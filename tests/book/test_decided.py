"""The tables of the page say what the package says for every value that an input can have."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from steptime.book.decided import Decisions, Input, Values
from steptime.book.explorer_named import named_data
from steptime.book.explorer_software import (
    GENERATION,
    KIND,
    MAYBE,
    NAME,
    NOBODY,
    ZERO,
    records_assumed,
)

COLOUR = Input(name="colour", options=("red", "blue"))
MONTH = Input(name="month", options=("", "2021-01", "2022-01", "2023-01"), ordered=True)
SIZE = Input(name="size", options=("s", "m", "l"))


def said(values: Values) -> Any:
    """Of sizes only where no month is known; of colours from 2022 on."""
    if not values["month"]:
        return {"size": values["size"]}
    return {"colour": values["colour"] if values["month"] >= "2022-01" else "any"}


def looked_up(nodes: list[Any], place: int, values: Values) -> Any:
    """Walk through a table as the page does."""
    while isinstance(node := nodes[place], list):
        own = values[node[0]]
        if len(node) == 3:
            place = node[1].get(own, node[2])
        else:
            place = next(end for month, end in reversed(node[1]) if month <= own)
    return node


def test_a_table_says_what_its_function_says() -> None:
    tables = Decisions()
    place = tables.add([COLOUR, MONTH, SIZE], said)
    for colour in COLOUR.options:
        for month in (*MONTH.options, "2021-07", "2024-12"):
            for size in SIZE.options:
                own = {"colour": colour, "month": month, "size": size}
                assert looked_up(tables.nodes, place, own) == said(own)


def test_an_input_that_matters_beside_one_value_alone_is_asked_for_there() -> None:
    asked: list[Values] = []

    def noted(values: Values) -> Any:
        asked.append(values)
        return said(values)

    whole, less = Decisions(), Decisions()
    whole.add([COLOUR, MONTH, SIZE], said)
    less.add([COLOUR, MONTH, replace(SIZE, only_beside=("month", ""))], noted)
    assert less.nodes == whole.nodes
    assert len(asked) == 2 * (3 + 3)


def test_what_is_taken_of_a_family_is_told_for_every_model_and_generation() -> None:
    """Random values of all inputs: what the tables leave out beside a month changes nothing."""
    data, draw = named_data(), random.Random(3)
    families = [one for one in NAME.options if one and not data["names"][one]["exact"]]
    usual = {"sharded": "0", "model": NOBODY, "precision": "bf16"}
    for _ in range(3000):
        own = {
            "name": draw.choice(families),
            "dated": draw.choice(("0", "1")),
            "date": draw.choice(MAYBE.options),
            "learnt": draw.choice((NOBODY, *ZERO.options)),
            "kind": draw.choice(KIND.options),
            "generation": draw.choice(GENERATION.options),
        }
        found = looked_up(data["nodes"], data["places"]["family"], own)
        assert found == records_assumed(usual | own), own
