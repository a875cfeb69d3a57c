"""The explorer's colours: told apart by readers who see fewer of them, and legible."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

SHEET = Path(__file__).resolve().parents[2] / "book" / "web" / "explorer" / "colours.css"
NAME = re.compile(r"--([\w-]+): (?:var\(--pst-color-background, )?(#[0-9a-f]{6})")

# Machado, Oliveira and Fernandes 2009, Table 1, severity 1: on linear RGB.
SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Triple = tuple[float, float, float]


def themes() -> dict[str, dict[str, str]]:
    """Return the light and the dark colours by name."""
    light, dark = SHEET.read_text(encoding="utf-8").split("@media (prefers-color-scheme: dark)")
    return {"light": dict(NAME.findall(light)), "dark": dict(NAME.findall(dark.split("\n}\n")[0]))}


def linear(colour: str) -> Triple:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return r, g, b


def seen(rgb: Triple, sight: str) -> Triple:
    r, g, b = (
        min(max(sum(m * c for m, c in zip(row, rgb, strict=True)), 0.0), 1.0)
        for row in SIGHT[sight]
    )
    return r, g, b


def lab(rgb: Triple) -> Triple:
    r, g, b = rgb
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: str, other: str, sight: str) -> float:
    a, b = (lab(seen(linear(colour), sight)) for colour in (one, other))
    return float(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5)


def contrast(one: str, other: str) -> float:
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other))]
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", sorted(SIGHT))
def test_any_two_parts_differ_for_every_sight(theme: str, sight: str) -> None:
    colours = themes()[theme]
    parts = [colours[f"m{number}"] for number in range(1, 7)]
    pairs = itertools.combinations(parts, 2)
    assert min(distance(one, other, sight) for one, other in pairs) >= 20


def hue(colour: str) -> float:
    """Return the angle of a colour in Lab, in degrees."""
    _, a, b = lab(linear(colour))
    return math.degrees(math.atan2(b, a)) % 360


def test_each_part_keeps_its_hue_in_both_themes() -> None:
    light, dark = themes()["light"], themes()["dark"]
    for number in range(1, 6):
        apart = abs(hue(light[f"m{number}"]) - hue(dark[f"m{number}"]))
        assert min(apart, 360 - apart) < 15, number
    for colours in (light, dark):
        # The last part is grey.
        assert len({colours["m6"][place : place + 2] for place in (1, 3, 5)}) == 1


def test_the_theme_switch_and_the_system_ask_for_the_same_dark_colours() -> None:
    dark = SHEET.read_text(encoding="utf-8").split("@media (prefers-color-scheme: dark)")[1]
    by_system, by_switch = dark.split(':root[data-theme="dark"]', 1)
    colours = NAME.findall(by_system)
    assert len(colours) > 30
    assert colours == NAME.findall(by_switch.split("\n}\n")[0])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_and_outlines_stand_out(theme: str) -> None:
    colours = themes()[theme]
    for number in range(1, 7):
        assert contrast(colours[f"m{number}"], colours[f"on-m{number}"]) >= 4.5
    for grounds in ("ground", "panel"):
        for name in ("ink", "soft", "link"):
            assert contrast(colours[name], colours[grounds]) >= 4.5
        for name in ("edge", "line", "ring"):
            assert contrast(colours[name], colours[grounds]) >= 3
    for name in ("good", "tight", "bad"):
        assert contrast(colours[name], colours[f"{name}-ground"]) >= 4.5
        assert contrast(colours[name], colours["ground"]) >= 4.5
    for level in range(1, 6):
        words = colours["on-dark-level" if level > 3 else "on-light-level"]
        assert contrast(colours[f"level-{level}"], words) >= 4.5
