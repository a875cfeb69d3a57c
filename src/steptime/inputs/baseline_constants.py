"""The baseline model's two constants."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_number


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineConstants:
    """What the baseline needs beside its inputs.

    Attributes:
        eta: Share of the peak that matrix products reach: the one fitted constant.
        latency_s: Cost of a message or of a ring step beyond its bytes: assumed.
    """

    eta: float
    latency_s: float

    def __post_init__(self) -> None:
        check_number("eta", self.eta, most=1.0)
        check_number("latency_s", self.latency_s, above=-1e-300)


@functools.cache
def baseline_constants() -> BaselineConstants:
    """Return the constants of ``data/baseline_constants.toml``; a test refits them."""
    return BaselineConstants(**data_table("baseline_constants.toml")["constants"])
