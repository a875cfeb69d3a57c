"""What of its gathered inputs a run of nanotron still holds at its peak.

nanotron sends and gathers on streams of their own. A block that such a stream has used comes back
to the allocator only once the device has passed that point, and a switch that no row states
(``tp_recompute_allgather``) keeps gathered inputs for good. So runs of one layout fall into two
kinds. Which are of which kind was set after seeing the sweep's peaks.
"""

from __future__ import annotations

import math

from steptime.evidence.schema import PublishedRow

SHOWN = 0.75
"""What shows of inputs that stay: they fill blocks that were held beyond need anyway."""

HOST_FLOP = 1.6e12
"""FLOP of one layer and micro-batch on one rank below which the host, not the device, sets the
pace (t = 1; it grows as the root of t, for the device then waits for messages too)."""


def micro_batches(row: PublishedRow) -> float:
    """Return the micro-batches of a row's step.

    Args:
        row: A published row.
    """
    together = (row.dp or 1) * (row.mbs or 1)
    return row.num_microbatches or (row.gbs or together) / together


def device_sets_the_pace(row: PublishedRow) -> bool:
    """Return whether the device takes longer for a layer than the host to launch it.

    Only then does the host run ahead, inside one micro-batch, of what the device gives back.

    Args:
        row: A published row of a gated model.
    """
    hidden, tp = row.hidden or 0, row.tp or 1
    parameters = 4.0 * hidden * hidden + 3.0 * hidden * (row.ffn or 0)
    flop = 6.0 * parameters * (row.mbs or 1) * (row.seq_len or 0) / tp
    return tp <= 2 or flop > HOST_FLOP * math.sqrt(tp)


def gathers_again(row: PublishedRow) -> bool:
    """Return whether a run is taken to gather inputs again, and to get its blocks back in time.

    So do most runs of the widest model, with a pipeline of groups wider than 16, on 64 nodes (but
    not groups of 32 without a pipeline), and without a pipeline inside a node on more than 16
    nodes; beyond 8 ranks also those with a pipeline on more than 16 nodes, and those with under 8
    micro-batches on under 16.

    Args:
        row: A published row.
    """
    tp, pp, nodes = row.tp or 1, row.pp or 1, (row.gpus or 8) / 8
    if (row.hidden or 0) >= 8192 or (pp > 1 and tp > 16):
        return True
    if nodes >= 64:
        return tp <= 16 or pp > 1
    if tp <= 8 or pp > 1:
        return nodes > 16 and (tp > 8 or pp == 1)
    return micro_batches(row) < 8 and nodes < 16


def gathered_share(row: PublishedRow) -> float:
    """Return the share of the gathered inputs that stays until the backward pass.

    Without a pipeline nothing holds the host back. With one, it waits for a message every
    micro-batch: where it cannot run ahead, all but two micro-batches in flight show. Between two
    ranks whole products that wait to be scattered add as much again.

    Args:
        row: A published row.
    """
    tp, pp = row.tp or 1, row.pp or 1
    if tp == 1 or gathers_again(row):
        return 0.0
    ahead = tp <= 8 and micro_batches(row) > pp and device_sets_the_pace(row)
    if pp > 1 and not ahead:
        return SHOWN * (1.0 - 2.0 / pp)
    return SHOWN + 1.0 if tp <= 2 and pp > 1 else SHOWN
