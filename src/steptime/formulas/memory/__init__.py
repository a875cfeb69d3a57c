"""Memory of one rank: what it holds, from which formula, and which rank holds the most."""

from steptime.formulas.memory.parts import activation_parts
from steptime.formulas.memory.total import (
    memory_bytes,
    memory_total_bytes,
    rank_memory_bytes,
    worst_rank,
)

__all__ = [
    "activation_parts",
    "memory_bytes",
    "memory_total_bytes",
    "rank_memory_bytes",
    "worst_rank",
]
