"""Up to which difference a model cannot tell two layouts apart."""

from __future__ import annotations

from steptime.inputs.datafiles import data_table


def tie_fraction_of(predictor: str) -> float:
    """Return the share of the step time up to which a model cannot tell two layouts apart.

    Measured on published runs that differ in their layout alone: see `steptime.planning.ties`.

    Args:
        predictor: baseline or roofline.
    """
    table = data_table("search_constants.toml")["tie_fraction"]
    return float(table.get(predictor, table["baseline"]))
