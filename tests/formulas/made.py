"""Records of small whole numbers, so that what a formula gives can be worked out on paper.

Each is of its real type, with 0 in every field that a test does not name: a field that is added
to the type is 0 here too, and a misspelt one is refused.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from steptime.formulas.records import Constants, Job, MemoryFacts, TimeFacts

Record = TypeVar("Record")

ONE_DEVICE = dict.fromkeys(("tp", "cp", "pp", "vpp", "dp", "dp_replicate", "ep", "etp"), 1.0)
# Attention takes (2 + 2) x 4 in and 2 x 4 back, the network 3 x 10: 54 wide.
SMALL_MODEL = {
    **{"num_layers": 4.0, "hidden_size": 8.0, "gated": 1.0, "ffn_hidden_size": 10.0},
    **{"num_attention_heads": 2.0, "num_query_groups": 1.0, "head_dim": 4.0},
    **{"vocab_size": 100.0, "qk_nope_head_dim": 3.0, "qk_rope_head_dim": 1.0},
    **{"v_head_dim": 5.0, "top_k": 1.0, "expert_ffn_hidden_size": 5.0},
}


def bare(record: type[Record], **given: float) -> Record:
    """Return a record with 0 in every field that is not given."""
    empty: dict[str, Any] = dict.fromkeys((field.name for field in fields(record)), 0.0)  # type: ignore[arg-type]
    return record(**(empty | given))


def job(**given: float) -> Job:
    """Return a training step on one device; a number that is not given is 0."""
    return bare(Job, **(ONE_DEVICE | given))


def small_job(**changed: float) -> Job:
    """Return a dense model, 8 wide, on a device of 1000 bytes a second, two in a domain.

    NVLink has 100 bytes a second, the network 10; products run at 100 FLOP a second.
    """
    device = {"matmul_flop_per_s": 100.0, "hbm_bytes_per_s": 1000.0, "nvlink_domain": 2.0}
    device |= {"nvlink_bytes_per_s": 100.0, "network_bytes_per_s": 10.0}
    return job(**(SMALL_MODEL | device | changed))


def time_facts(**given: float) -> TimeFacts:
    """Return software that overlaps nothing and waits for nothing, on a part like its kin."""
    return bare(TimeFacts, **({"power_scale": 1.0, "gathered_weight_bytes": 2.0} | given))


def memory_facts(**given: float) -> MemoryFacts:
    """Return software that keeps nothing but what is given."""
    return bare(MemoryFacts, **given)


def constants(**changed: float) -> Constants:
    """Return constants that halve every rate; a hop takes a second, a launch none."""
    halves = {"efficiency": 0.5, "hbm_efficiency": 0.5}
    halves |= {"link_efficiency": 0.5, "network_efficiency": 0.5}
    return bare(Constants, **(halves | {"contention": 0.25, "hop_s": 1.0} | changed))
