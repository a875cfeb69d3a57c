"""The baseline model's two constants."""

from __future__ import annotations

import functools

from steptime.formulas.records import BaselineConstants as BaselineConstants
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_number


@functools.cache
def baseline_constants() -> BaselineConstants:
    """Return the constants of ``data/baseline_constants.toml``; a test refits them."""
    table = data_table("baseline_constants.toml")["constants"]
    return BaselineConstants(
        eta=check_number("eta", table["eta"], most=1.0),
        latency_s=check_number("latency_s", table["latency_s"], above=-1e-300),
    )
