"""The few colours that figures, pages and web widgets share.

A series is named by what it means. The light value is what matplotlib draws with;
`svg` turns it into the CSS variable of that name, so one picture follows the theme.
The same pairs stand in ``book/_static/steptime.css``, and a test holds both equal.
"""

from __future__ import annotations

FORWARD = "#2A5CAA"
BACKWARD = "#E69F00"
WEIGHT = "#44AA99"
OTHER = "#7B1E5B"
IDLE = "#D3D6DB"
SKY = "#56B4E9"
GREEN = "#117733"
INDIGO = "#332288"
MUTED = "#777B82"
GROUND = "#FFFFFF"

CSS_NAMES: dict[str, str] = {
    FORWARD: "--st-forward",
    BACKWARD: "--st-backward",
    WEIGHT: "--st-weight",
    OTHER: "--st-other",
    IDLE: "--st-idle",
    SKY: "--st-sky",
    GREEN: "--st-green",
    INDIGO: "--st-indigo",
    MUTED: "--st-muted",
    GROUND: "--st-ground",
}
"""The CSS variable that stands for each colour."""

DARK: dict[str, str] = {
    FORWARD: "#6FA8FF",
    BACKWARD: "#FFB000",
    WEIGHT: "#B2DF8A",
    OTHER: "#D55E9C",
    IDLE: "#4A505A",
    SKY: "#8CCBF2",
    GREEN: "#2E9E5B",
    INDIGO: "#A79BFF",
    MUTED: "#A0A6B0",
    GROUND: "#14181F",
}
"""What each colour becomes on a dark page."""

CYCLE: tuple[str, ...] = (FORWARD, BACKWARD, WEIGHT, OTHER, SKY, INDIGO, GREEN, MUTED)
"""Order in which matplotlib hands the colours out; also in ``book/figures.mplstyle``."""
