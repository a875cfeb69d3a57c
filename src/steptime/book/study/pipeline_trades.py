"""§12c: when more interleaving stops paying, and what uneven stages cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

from steptime.book.study.real_pipelines import Pipeline, trimmed_layers
from steptime.formulas.bubble import bubble_overhead


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """One number of chunks on one network.

    Attributes:
        chunks: Chunks a rank holds, v.
        bandwidth_share: Bandwidth, as a share of the run's own.
        formula_s: Bubble and sends by the baseline's formulas.
        blocking_s: Simulated, each message holding its sender.
        overlapped_s: Simulated, messages beside compute.
    """

    chunks: int
    bandwidth_share: float
    formula_s: float
    blocking_s: float
    overlapped_s: float


def trades(pipeline: Pipeline, bandwidth_shares: Sequence[float]) -> list[Trade]:
    """Return what every possible interleaving loses, on networks of several speeds.

    Args:
        pipeline: A run's.
        bandwidth_shares: Speeds, as shares of the run's own.
    """
    found = []
    for share in bandwidth_shares:
        slower = replace(pipeline, bytes_per_s=pipeline.bytes_per_s * share)
        for chunks in range(1, pipeline.most_chunks + 1):
            if pipeline.most_chunks % chunks:
                continue
            sizes = (float(pipeline.stages), float(pipeline.micro_batches), float(chunks))
            idle = pipeline.useful_s * float(bubble_overhead(*sizes))
            found.append(
                Trade(
                    chunks=chunks,
                    bandwidth_share=share,
                    formula_s=idle + 2 * pipeline.micro_batches * chunks * slower.message_s,
                    blocking_s=slower.lost_s(chunks, sends="blocking"),
                    overlapped_s=slower.lost_s(chunks, sends="overlapped"),
                )
            )
    return found


def best_chunks(pipeline: Pipeline, bandwidth_share: float) -> float:
    """Return where more interleaving stops paying if no message is hidden.

    The bubble falls as 1/v and the messages grow as v, so their sum is least at the square
    root of the bubble with one chunk over the messages with one chunk.

    Args:
        pipeline: A run's.
        bandwidth_share: Bandwidth, as a share of the run's own.
    """
    slower = replace(pipeline, bytes_per_s=pipeline.bytes_per_s * bandwidth_share)
    idle = pipeline.useful_s * (pipeline.stages - 1) / pipeline.micro_batches
    return sqrt(idle / (2 * pipeline.micro_batches * slower.message_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Uneven:
    """One way to share layers out.

    Attributes:
        chunks: Chunks a rank holds, v.
        layers: How they are shared out, in words.
        lost_s: What the step takes beyond a rank's average useful time.
    """

    chunks: int
    layers: str
    lost_s: float


def uneven_stages(pipeline: Pipeline) -> list[Uneven]:
    """Return what uneven stages cost, with free sends and the output matrix on the last rank.

    Args:
        pipeline: A run's.
    """
    found = []
    count = pipeline.run.model.num_layers
    for chunks in (1, pipeline.most_chunks):
        whole = pipeline.stages * chunks
        ways = (
            ("equal shares", ()),
            ("whole layers, the first and last chunk go short", trimmed_layers(count, whole)),
            ("whole layers, two middle chunks go short", trimmed_layers(count, whole, False)),
        )
        found += [
            Uneven(chunks=chunks, layers=words, lost_s=pipeline.lost_s(chunks, layers=layers))
            for words, layers in ways
        ]
    return found
