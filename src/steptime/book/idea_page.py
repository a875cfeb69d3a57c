"""What small figures share: their style, and how their files are written.

An idea has one figure of its own, drawn by Python as it stands before any script runs; the
script only moves it. All of them look alike: ``book/web/shared/idea.css``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steptime.book.alone_page import AlonePage
from steptime.book.explorer_page import whole_numbers
from steptime.book.figure_page import WEB, style_text, write_figure
from steptime.book.minify import small_style

_CHAPTER = re.compile(r'href="([a-z-]+\.html)')


def data_module(source: str, value: Any) -> str:
    """Return what Python worked out for a figure as an ES module.

    Args:
        source: What it was made from.
        value: Anything that JSON can hold.
    """
    text = json.dumps(
        whole_numbers(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    text = text.replace("</", "<\\/")
    return f"// Made from {source}; change that, not this.\nexport const DATA = {text};\n"


def write_idea(out: Path, page: AlonePage, stand_in: str, modules: Mapping[str, str]) -> None:
    """Write all files of a small figure, the common style before its own.

    Args:
        out: The folder that becomes part of the site's root.
        page: The figure.
        stand_in: What is there before the script, in print and for search.
        modules: Generated scripts of its folder, by file name.
    """
    write_figure(out, page, stand_in, modules)
    common = (WEB / "shared" / "idea.css").read_text(encoding="utf-8")
    text = f"{common}\n{style_text(page.name)}"
    (out / page.name / "style.css").write_text(small_style(text), encoding="utf-8")
    # Its own page stands beside the book, not in it.
    alone = out / page.name / "index.html"
    led = _CHAPTER.sub(r'href="../book/\1', alone.read_text(encoding="utf-8"))
    alone.write_text(led, encoding="utf-8")


def hatch(name: str) -> str:
    """Return the definition of the pattern that stands for waiting.

    Args:
        name: Its id, which no other picture of the page may have.
    """
    return (
        f'<defs><pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path class="hatch" d="M-1 1 1-1M0 6 6 0M5 7 7 5"/></pattern></defs>'
    )


def round_top(value: float) -> float:
    """Return the first round number that is not below a value and divides into four round steps.

    Args:
        value: More than 0.
    """
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(one * power for one in (1.0, 1.2, 1.6, 2.0, 4.0, 8.0, 10.0) if one * power >= value)


SHORT = {"model": "-m", "accelerator": "-a", "seq_length": "-s", "global_batch_size": "-B"}
"""Inputs whose option is a letter."""


def command(inputs: Mapping[str, Any]) -> str:
    """Return the command that asks what a figure was asked.

    Args:
        inputs: As `steptime.predict` takes them; a switch is on.
    """
    words = ["steptime predict"]
    for name, value in inputs.items():
        words.append(SHORT.get(name) or f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(str(value))
    return " ".join(words)
