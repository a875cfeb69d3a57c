"""What a function says for all its inputs, as small tables that a page walks through.

A page must choose as the package does, and must not choose in words of its own. So the package is
asked beforehand, for every value that an input can have; inputs that change nothing leave no
trace, and what is alike stands once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Values = Mapping[str, str]
"""A value of each input, as text: the page has them so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input of a function.

    Attributes:
        name: What the page calls it.
        options: Every value it can have; of months, those at which something may change.
        ordered: Whether a value stands for all from it to the next, as months do.
        only_beside: A name and value of an input that comes before: beside another value this
            one changes nothing, and nobody is asked for each of its own.
    """

    name: str
    options: tuple[str, ...]
    ordered: bool = False
    only_beside: tuple[str, str] | None = None


class Decisions:
    """Tables that share what is alike: a list of branches and of what they end in.

    A branch is ``[input, {value: place}, place of all others]``; of months
    ``[input, [[from month, place], ...]]``. All else is an end.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._places: dict[str, int] = {}

    def _place(self, node: Any) -> int:
        written = json.dumps(node, sort_keys=True)
        if written not in self._places:
            self._places[written] = len(self.nodes)
            self.nodes.append(node)
        return self._places[written]

    def add(self, inputs: Sequence[Input], said: Callable[[Values], Any], **known: str) -> int:
        """Return the place of a function's table.

        Args:
            inputs: In the order in which they are asked for.
            said: What it says of a value of each; anything that JSON can hold, but no list.
            **known: Values that are settled.
        """
        if not inputs:
            return self._place(said(known))
        first, *rest = inputs
        if first.only_beside is not None:
            name, value = first.only_beside
            if known[name] != value:
                return self.add(rest, said, **known, **{first.name: first.options[0]})
        ends = [
            (option, self.add(rest, said, **known, **{first.name: option}))
            for option in first.options
        ]
        places = [place for _, place in ends]
        if len(set(places)) == 1:
            return places[0]
        if first.ordered:
            changes = [
                [option, place]
                for at, (option, place) in enumerate(ends)
                if at == 0 or place != places[at - 1]
            ]
            return self._place([first.name, changes])
        usual = max(places, key=places.count)
        own = {option: place for option, place in ends if place != usual}
        return self._place([first.name, own, usual])
