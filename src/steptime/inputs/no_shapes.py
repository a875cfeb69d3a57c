"""Models that no shape here has, by their names, each with why."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from steptime.inputs.datafiles import data_table

_ASKED = "what can be asked is a decoder of its sizes with plain attention in every layer: "
INSTEAD = f"{_ASKED}write them into a TOML file, -m FILE.toml"
INSTEAD_ON_PAGE = f"{_ASKED}give them in the explorer"
_SIGNS = re.compile(r"[^a-z0-9]")


def bare_name(name: str) -> str:
    """Return a name in small letters, without the signs between its words.

    Args:
        name: Of a model.
    """
    return _SIGNS.sub("", name.lower())


def why_no_shape(name: str) -> str:
    """Return why models of a name have no shape here; empty for any other name.

    Args:
        name: As someone writes it, with an organization or a module in front or without.
    """
    last = name.strip()[:200].rstrip("/").rpartition("/")[2]
    for bare in dict.fromkeys((bare_name(last.rpartition(".")[2] or last), bare_name(last))):
        for wild, why in data_table("no_shapes.toml")["names"].items():
            if fnmatchcase(bare, wild):
                return str(why)
    return ""
