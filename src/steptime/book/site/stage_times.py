"""The directive ``{stage-times}``: links that open the schedule figure at times that papers print.

The figure keeps what is chosen in the address, so that presets cost its script nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from steptime.pipeline.stage_times import StageTimes, presets

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SHOWN, BESIDE = "1f1b", "zb-v"
RANKS, MICRO_BATCHES = 8, 24
"""Where a source names no sizes."""


def figure_address(times: StageTimes) -> str:
    """Return the address of the figure at some times: F is its unit.

    Args:
        times: Of one micro-batch on one rank.
    """
    lengths = {"ti": times.input, "tw": times.weight, "ts": times.send}
    chosen: dict[str, object] = {"w": "sched", "s": SHOWN, "c": BESIDE}
    chosen["p"] = times.num_ranks or RANKS
    chosen["m"] = times.num_micro_batches or MICRO_BATCHES
    chosen |= {key: round(length / times.forward, 3) for key, length in lengths.items()}
    return f"?{urlencode(chosen)}#sched"


class StageTimesList(SphinxDirective):
    """List the stage times, each a link."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        items = nodes.bullet_list(classes=["simple"])
        for times in presets().values():
            link = nodes.reference("", times.title, refuri=figure_address(times))
            items += nodes.list_item("", nodes.paragraph("", "", link))
        return [items]


def setup(app: Sphinx) -> None:
    """Register the directive.

    Args:
        app: The running build.
    """
    app.add_directive("stage-times", StageTimesList)
