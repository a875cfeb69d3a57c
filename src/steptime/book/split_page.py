"""Write the figure of the chapter on the roofline model: one step, split into its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from steptime.answer import predict
from steptime.book.alone_page import AlonePage
from steptime.book.equations.closed import CLOSED
from steptime.book.equations.statements import LIMIT, formula_of
from steptime.book.idea_page import command, write_idea
from steptime.book.site.mathml import to_mathml
from steptime.book.study.effects import LLAMA
from steptime.formulas.roofline.matmul import product_s
from steptime.formulas.roofline.sharing import gradients_s, optimizer_s
from steptime.formulas.roofline.stages import sends_s
from steptime.formulas.roofline.tensor import tensor_s
from steptime.formulas.schedule import bubble_share

PARTS: tuple[tuple[str, str, str, Callable[..., Any], str], ...] = (
    (
        "compute",
        "computing",
        "k0",
        product_s,
        "Mostly matrix products. Arithmetic or memory limits each: what takes longer counts.",
    ),
    (
        "tensor_parallel",
        "tensor messages",
        "k1",
        tensor_s,
        "What shows of the sums inside each layer; the rest hides behind products.",
    ),
    (
        "bubble",
        "bubble",
        "idle",
        bubble_share,
        "Waiting while the pipeline fills and drains. Of 1F1B's wait a schedule leaves this share.",
    ),
    (
        "pipeline_sends",
        "pipeline sends",
        "k5",
        sends_s,
        "Activations and gradients handed from stage to stage, as far as they show.",
    ),
    (
        "data_parallel",
        "data messages",
        "k6",
        gradients_s,
        "Gradients added up over the copies once a step, as far as they outlast the backward.",
    ),
    (
        "optimizer",
        "optimizer",
        "k7",
        optimizer_s,
        "Reads and writes of the optimizer's states, limited by memory.",
    ),
)
"""Part, its word, its colour, the formula behind it, and a sentence."""

PAGE = AlonePage(
    name="split",
    element="split",
    title="One step, part by part",
    heading="One step, part by part",
    about="A training step of Llama 3 405B split into parts, each with its equation.",
)


def equation(function: Callable[..., Any]) -> str:
    """Return the last equation of a formula, the one that gives its value.

    Args:
        function: The formula.
    """
    closed: Mapping[Any, Any] = CLOSED
    formula = formula_of(closed.get(function, function))
    return to_mathml(formula.equations[-1].latex(LIMIT), display=True)


def seconds(value_s: float) -> str:
    """Return a time in seconds, or in milliseconds where it is short.

    Args:
        value_s: The time.
    """
    return f"{value_s:.2f} s" if value_s >= 0.095 else f"{1e3 * value_s:.2g} ms"


def _panel(part: tuple[str, str, str, Callable[..., Any], str], value_s: float, share: str) -> str:
    key, word, colour, function, says = part
    place = f"{function.__module__}.{function.__name__}"
    return (
        f'<div class="panel" data-panel="{key}"><p class="head"><i class="{colour}"></i>{word}: '
        f"{seconds(value_s)}, {share}</p><p>{escape(says)}</p>"
        f'<div class="math st-scroll">{equation(function)}</div>'
        f'<p class="small">In code: <code>{place}</code></p></div>'
    )


def fragment() -> str:
    """Return the bar, its parts and their equations, ready to be put into a page."""
    told = predict(**LLAMA)
    step_s = told.step_time_s
    blocks, keys, panels = [], [], []
    for part in PARTS:
        key, word, colour, _, _ = part
        value_s = float(told.breakdown_s[key])
        share = f"{100 * value_s / step_s:.1f} %"
        blocks.append(f'<i class="{colour}" data-block="{key}" style="width:{share[:-2]}%"></i>')
        keys.append(
            f'<li><button type="button" data-part="{key}" disabled><i class="{colour}"></i>{word} '
            f"<b>{seconds(value_s)}</b></button></li>"
        )
        panels.append(_panel(part, value_s, share))
    low, high = told.step_time_low_s, told.step_time_high_s
    likely = "" if low is None or high is None else f", likely {low:.1f} to {high:.1f} s"
    return (
        f'<div class="st-idea split"><p><b class="figure">{step_s:.1f} s</b> a step{likely}: '
        f"{told.step.model.name} on {told.step.layout.num_devices:,} H100, by the model. Choose a "
        "part.</p>"
        f'<div class="stack" aria-hidden="true">{"".join(blocks)}</div>'
        f'<ul class="parts">{"".join(keys)}</ul>{"".join(panels)}'
        '<p class="small">Letters are those of <a href="notation.html">terms and symbols</a>. '
        f"<code>{command(LLAMA)}</code></p></div>"
    )


def write_split(out: Path) -> None:
    """Write all files of the figure.

    Args:
        out: The folder that becomes part of the site's root.
    """
    write_idea(out, PAGE, fragment(), {})
