"""What a source of published runs is called in a table."""

from __future__ import annotations

import functools

from steptime.book.references import with_names
from steptime.evidence.schema import published_rows

SOURCES = {
    "nar21": "Narayanan et al. 2021",
    "nar21-t1": "Narayanan et al. 2021, Table 1",
    "nar21-figures": "Narayanan et al. 2021, figures read off",
    "mtnlg": "MT-NLG",
    "bloom": "BLOOM",
    "vtrain": "vTrain",
    "nanotron": "nanotron, Ultra-Scale Playbook",
    "titan": "torchtitan",
    "titan24": "torchtitan, 2024",
    "mpt": "llm-foundry",
    "mbridge": "Megatron-Bridge",
    "dgxc": "DGX Cloud recipes",
    "mlperf": "MLPerf",
    "simumax": "SimuMax",
    "atorch": "ATorch",
    "cp": "pull requests on long sequences",
    "hagemann": "Hagemann et al. 2023",
    "zb": "Zero Bubble, Qi et al. 2023",
}
"""By what its ids begin with; a source that is not here goes by its bibliography's name."""


@functools.cache
def _keys() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for row in published_rows():
        found.setdefault(row.id.rpartition("-")[0], {})[row.source] = None
    return {prefix: tuple(keys) for prefix, keys in found.items()}


def source_name(prefix: str) -> str:
    """Return what a source is called.

    Args:
        prefix: What the ids of its runs begin with.
    """
    if prefix in SOURCES:
        return SOURCES[prefix]
    return with_names("; ".join(_keys().get(prefix, (prefix,))))
