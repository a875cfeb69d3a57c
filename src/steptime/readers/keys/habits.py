"""What programs do with what they are handed, by ``data/formats/order.toml``."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from steptime.inputs.datafiles import data_table
from steptime.readers.keys.formats import FOLDER


@functools.cache
def cuts_micro_batches() -> Mapping[str, str]:
    """Return the formats whose software cuts a micro-batch down to a rank's batch, with where."""
    return dict(data_table(f"{FOLDER}/order.toml")["cuts_micro_batches"])


@functools.cache
def starting_calls() -> frozenset[str]:
    """Return the calls that start a recipe and change nothing of it, as programs write them."""
    return frozenset(data_table(f"{FOLDER}/order.toml")["starting_calls"])
