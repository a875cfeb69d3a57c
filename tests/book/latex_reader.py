"""Read equations back: the LaTeX of a page worked out with numbers, as a reader would.

It knows just what the pages use, and shares nothing with what writes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

TOKEN = re.compile(
    r"\\begin\{cases\}|\\end\{cases\}|\\\\|"
    r"(?:\\text\{[^}]*\}|\\texttt\{[^}]*\}|\\[a-zA-Z]+|\d[\d.]*(?:\{,\}\d{3})*(?:\.\d+)?|\S)"
)
SPACES = (r"\quad", r"\left", r"\right")
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    r"\le": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    r"\ge": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    r"\ne": lambda a, b: a != b,
}
ENDS = {")", "]", "}", ",", "&", r"\\", r"\end{cases}", r"\rfloor", r"\rceil", *COMPARE, ""}


class Reader:
    """Works out one expression.

    Args:
        latex: The expression.
        look: From a symbol's LaTeX to its value, or to a function where a bracket follows.
    """

    def __init__(self, latex: str, look: Callable[[str], Any]) -> None:
        text = latex.replace(r"\begin{array}{l}", "").replace(r"\end{array}", "")
        self.tokens = [one for one in TOKEN.findall(text) if one not in SPACES]
        self.at = 0
        self.look = look
        self.depth = 0

    def peek(self) -> str:
        # A new row means nothing outside a choice of values.
        while self.at < len(self.tokens) and not self.depth and self.tokens[self.at] == r"\\":
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        assert not wanted or token == wanted, (token, wanted, self.tokens)
        self.at += 1
        return token

    def whole(self) -> Any:
        value = self.sum()
        assert self.peek() == "", self.tokens[self.at :]
        return value

    def condition(self) -> bool:
        left = self.sum()
        self.skip()
        return COMPARE[self.take()](left, self.sum())

    def skip(self) -> None:
        """Go past the start of a row that carries on what the last one began."""
        while self.depth and self.tokens[self.at] in (r"\\", r"\qquad"):
            after = self.tokens[self.at + 1]
            if self.tokens[self.at] == r"\\" and not self.carries_on(self.at + 1):
                return
            assert after
            self.at += 1

    def carries_on(self, place: int) -> bool:
        while self.tokens[place] == r"\qquad":
            place += 1
        return self.tokens[place] in {"+", "-", r"\cdot", "/", *COMPARE} or self.open > 0

    open = 0

    def sum(self) -> Any:
        sign = self.take() if self.peek() in "+-" and self.peek() else "+"
        value = self.product()
        value = -value if sign == "-" else value
        while True:
            self.skip()
            if self.peek() not in ("+", "-"):
                return value
            sign = self.take()
            other = self.product()
            value = value + other if sign == "+" else value - other

    def product(self) -> Any:
        value = self.power()
        while True:
            self.skip()
            token = self.peek()
            if (
                token in ENDS
                or token in "+-"
                or token.startswith(r"\text{if")
                or (token == r"\text{otherwise}")
            ):
                return value
            if token == r"\qquad":
                return value
            if token == "/":
                self.take()
                value = value / self.power()
                continue
            if token in (r"\cdot", r"\,", "\\"):
                self.take()
                if token == "\\":
                    self.take(",")
            value = value * self.power()

    def power(self) -> Any:
        value = self.factor()
        if self.peek() == "^":
            self.take()
            value = value ** self.group()
        return value

    def group(self) -> Any:
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def inside(self, closing: str) -> list[Any]:
        values = []
        self.open += 1
        while True:
            self.skip()
            values.append(self.sum())
            self.skip()
            if self.take() == closing:
                self.open -= 1
                return values

    def factor(self) -> Any:
        self.skip()
        token = self.take()
        if token[0].isdigit():
            return float(token.replace("{,}", ""))
        match token:
            case "(":
                (value,) = self.inside(")")
                return value
            case "[":
                value = self.condition()
                self.take("]")
                return float(value)
            case r"\frac" | r"\tfrac":
                over = self.group()
                return over / self.group()
            case r"\lfloor" | r"\lceil":
                floor = token == r"\lfloor"
                (value,) = self.inside(r"\rfloor" if floor else r"\rceil")
                return float(math.floor(value) if floor else math.ceil(value))
            case r"\max" | r"\min" | r"\exp":
                self.take("(")
                values = self.inside(")")
                by_name = {r"\max": max, r"\min": min, r"\exp": lambda one: math.exp(one[0])}
                return by_name[token](values)
            case r"\begin{cases}":
                return self.cases()
            case r"\prod":
                return self.prod()
        return self.symbol(token)

    def symbol(self, token: str) -> Any:
        if self.peek() == "_":
            self.take()
            token += "_" + self.below()
        found = self.look(token)
        if callable(found):
            self.take("(")
            return found(*self.inside(")"))
        return found

    def below(self) -> str:
        if self.peek() != "{":
            return self.take()
        self.take("{")
        inner = ""
        while self.peek() != "}":
            inner += self.take()
        self.take("}")
        return "{" + inner + "}"

    def cases(self) -> Any:
        self.depth += 1
        was_open, self.open = self.open, 0
        chosen: list[Any] = []
        while self.tokens[self.at] != r"\end{cases}":
            value = self.sum()
            while self.tokens[self.at] in ("&", r"\\", r"\qquad"):
                self.at += 1
            otherwise = self.take() == r"\text{otherwise}"
            if otherwise or self.condition():
                chosen.append(value)
            while self.tokens[self.at] == r"\\":
                self.at += 1
        self.depth -= 1
        self.open = was_open
        self.take(r"\end{cases}")
        return chosen[0]

    def prod(self) -> Any:
        self.take("_")
        self.take("{")
        letter = self.take()
        self.take("=")
        first = int(self.take())
        self.take("}")
        self.take("^")
        last = int(self.group())
        start, outer, value = self.at, self.look, 1.0
        for count in range(first, last + 1):
            self.at = start
            self.look = lambda one, n=count: float(n) if one == letter else outer(one)
            value *= self.power()
        self.look = outer
        return value
