"""Pieces of JavaScript text: the hand-written helpers, literals."""

from __future__ import annotations

import json
import math
import re
from typing import Any

HELPERS = {
    # a - a is NaN for an infinity, and Python's x // 1.0 is too.
    "_floor": "a => a - a === 0 ? Math.floor(a) : NaN",
    "_ceil": "a => Math.ceil(a)",
    "_sqrt": "a => Math.sqrt(a)",
    "_mod": "(a, b) => { const r = a % b; return r !== 0 && r < 0 !== b < 0 ? r + b : r; }",
    # The quotient of whole numbers under 2**53 never rounds up to the next one.
    "_floordiv": "(a, b) => Number.isInteger(a) && Number.isInteger(b) ? Math.floor(a / b) : "
    "Math.round((a - _mod(a, b)) / b)",
    "_divmod": "(a, b) => [_floordiv(a, b), _mod(a, b)]",
    "_int": "a => Math.trunc(a)",
    "_float": "a => +a",
    "_str": "a => '' + a",
    "_repr": "a => typeof a === 'string' ? `'${a}'` : '' + a",
    "_text": "a => a.join('')",
    "_truthy": "a => Array.isArray(a) ? a.length > 0 : "
    "a !== null && typeof a === 'object' ? Object.keys(a).length > 0 : !!a",
    "_max": "(a, b) => b > a ? b : a",
    "_min": "(a, b) => b < a ? b : a",
    "_max_of": "a => a.reduce(_max)",
    "_min_of": "a => a.reduce(_min)",
    "_range": "(a, b, step) => { const out = []; "
    "for (let i = a; step > 0 ? i < b : i > b; i += step) out.push(i); return out; }",
    "_list": "a => [...a]",
    "_abs": "a => Math.abs(a)",
    # What a constant lists: PScript takes a name in large letters for a class.
    "_call": "(called, ...given) => called(...given)",
    "_in": "(a, b) => Array.isArray(b) || typeof b === 'string' ? b.includes(a) : a in b",
    "_items": "a => Array.isArray(a) || typeof a === 'string' ? a : Object.keys(a)",
    # push(...b) overflows the stack on a long list.
    "_extend": "(a, b) => { for (let i = 0; i < b.length; i++) a.push(b[i]); }",
    "_pop": "a => a.pop()",
    "_shift": "a => a.shift()",
    "_reverse": "a => { a.reverse(); }",
    "_concat": "(a, b) => a.concat(b)",
    "_repeat": "(a, n) => { const out = []; "
    "for (let i = 0; i < n; i++) for (const x of a) out.push(x); return out; }",
}
"""What Python does and JavaScript does otherwise, each as one arrow function."""


def helpers_used(code: str) -> list[str]:
    """Return the names of the helpers that some JavaScript needs, in a fixed order."""
    found: set[str] = set()
    queue = [code]
    while queue:
        here = queue.pop()
        for name in set(re.findall(r"\b_[a-z_]+\b", here)) & HELPERS.keys() - found:
            found.add(name)
            queue.append(HELPERS[name])
    return [name for name in HELPERS if name in found]


def literal(value: Any) -> str:
    """Return a constant as JavaScript; floats keep every bit.

    Raises:
        TypeError: If it holds something other than numbers, text, lists and dicts with text keys.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("-Infinity" if value < 0 else "Infinity")
    if isinstance(value, float):
        # JavaScript has one kind of number; -0 keeps its sign.
        return json.dumps(value).removesuffix(".0")
    if value is None or isinstance(value, (bool, int, str)):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(literal(item) for item in value) + "]"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return "{" + ",".join(f"{json.dumps(k)}:{literal(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"no JavaScript for {type(value).__name__}")
