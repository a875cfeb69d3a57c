"""The sizes worth trying for a model on some devices, as plain numbers: the page runs these lines.

A row of a search is a list of sizes that takes up all devices, followed by a list of what runs
on it: chunks, schedule, micro-batch.
"""

from __future__ import annotations

from steptime.formulas.schedule import SCHEDULES, entry_number
from steptime.formulas.schedule_rules import chunks_held
from steptime.inputs.fields import SIZES

SIZE_FIELDS = tuple(size for size in SIZES if size != "vpp")
"""In the order in which `sizes_of` lists them."""
RUN_FIELDS = ("vpp", "schedule", "micro_batch_size")
MICRO_BATCHES = (1, 2, 4, 8, 16, 32, 64)
MOST_EXPERT_SIZES = 24
ONE_STAGE = float(SCHEDULES.index("1f1b"))
"""Schedule of a layout without a pipeline: there it means nothing."""


def divisors(number: int) -> list[int]:
    """Return all divisors of a number, in order."""
    found: list[int] = []
    others: list[int] = []
    size = 1
    while size * size <= number:
        if number % size == 0:
            found.append(size)
            if size * size != number:
                others.append(number // size)
        size = size + 1
    others.reverse()
    found.extend(others)
    return found


def chunk_counts(num_layers: int, pp: int) -> list[int]:
    """Return the numbers of chunks worth trying: the smallest for each chunk length.

    Args:
        num_layers: Layers, l.
        pp: Stages, p.
    """
    if pp == 1:
        return [1]
    found: list[int] = []
    last = 0
    length = (num_layers + pp - 1) // pp
    while length > 0:
        chunks = (num_layers + pp * length - 1) // (pp * length)
        if chunks != last:
            found.append(chunks)
            last = chunks
        length = length - 1
    return found


def micro_batch_sizes(asked: list[int], global_batch_size: int) -> list[int]:
    """Return the micro-batch sizes to try.

    Args:
        asked: Those that are asked for, in order; empty for the usual ones.
        global_batch_size: Sequences per step, B.
    """
    if len(asked) > 0:
        return asked
    return [size for size in MICRO_BATCHES if size <= global_batch_size]


def schedules_for(tried: list[float], pp: int, chunks: int, stated: bool) -> list[float]:
    """Return the schedules that run ``chunks`` chunks on ``pp`` stages.

    One that may choose its chunks is not tried with one of its own accord: it has another name
    then. Where somebody states one chunk, it stands for that other one, if that is not tried.

    Args:
        tried: Places of their names.
        pp: Stages, p.
        chunks: Chunks a rank holds, v.
        stated: Whether somebody states the chunks.
    """
    if pp == 1:
        return [ONE_STAGE]
    found: list[float] = []
    for schedule in tried:
        held = chunks_held(schedule)
        another = entry_number("single", schedule) in tried or not stated
        if held == chunks or (held == 0.0 and not (chunks == 1 and another)):
            found.append(schedule)
    return found


def runs_for(
    num_layers: int, pp: int, tried: list[float], micro_batches: list[int]
) -> list[list[float]]:
    """Return the `RUN_FIELDS` to try on ``pp`` stages.

    Args:
        num_layers: Layers, l.
        pp: Stages, p; more than layers have none.
        tried: Places of the schedules' names.
        micro_batches: Their sizes.
    """
    found: list[list[float]] = []
    if pp > num_layers:
        return found
    for chunks in chunk_counts(num_layers, pp):
        for schedule in schedules_for(tried, pp, chunks, False):
            for size in micro_batches:
                found.append([chunks, schedule, size])
    return found


def expert_splits(num_experts: int, tp: int, stage_ranks: int) -> list[list[int]]:
    """Return the ranks of experts, and of each expert, to try for a tensor-parallel size.

    Args:
        num_experts: Experts of a layer; 0 in a dense model.
        tp: Tensor-parallel size.
        stage_ranks: Ranks of one pipeline stage, t c d.
    """
    if num_experts == 0:
        return [[1, 1]]
    found: list[list[int]] = []
    count = 0
    for size in divisors(num_experts):
        if size <= stage_ranks and count < MOST_EXPERT_SIZES:
            count = count + 1
            found.append([size, 1])
            if tp > 1:
                found.append([size, tp])
    return found


def sizes_of(
    stage_ranks: int, pp: int, tp: int, copies: list[int], splits: list[list[int]]
) -> list[list[int]]:
    """Return the `SIZE_FIELDS` to try with ``pp`` stages and ``tp`` tensor ranks.

    Args:
        stage_ranks: Ranks of one pipeline stage, t c d.
        pp: Stages, p.
        tp: Tensor-parallel size, a divisor of a stage's ranks.
        copies: Copies of what is sharded, to try.
        splits: Of experts, from `expert_splits`.
    """
    found: list[list[int]] = []
    for cp in divisors(stage_ranks // tp):
        dp = stage_ranks // tp // cp
        for count in copies:
            for split in splits:
                found.append([tp, cp, pp, dp, count, split[0], split[1]])
    return found


def outer_rule(sizes: list[int], num_attention_heads: int, seq_length: int) -> int:
    """Return the rule that sizes break whatever runs on them, 0 if none.

    It is asked first, so that a space with many odd divisors is not spelt out in vain.

    Args:
        sizes: `SIZE_FIELDS`.
        num_attention_heads: Of the model.
        seq_length: Tokens per sequence, s.

    Returns:
        A number as in `steptime.formulas.validity.layout_rule`.
    """
    if num_attention_heads % sizes[0] != 0:
        return 4
    if seq_length % sizes[1] != 0:
        return 5
    if sizes[3] % sizes[4] != 0:
        return 9
    return 8 if (sizes[0] * sizes[1] * sizes[3]) % (sizes[5] * sizes[6]) != 0 else 0


def settings_lost(sizes: list[int], settings: list[int], seq_length: int, num_experts: int) -> int:
    """Return how many layouts a row of sizes that cannot be cut stands for.

    Args:
        sizes: `SIZE_FIELDS`.
        settings: How many ways to recompute, to shard and to cut the sequence are tried.
        seq_length: Tokens per sequence, s.
        num_experts: Experts of a layer; 0 in a dense model.
    """
    tp, cp, dp = sizes[0], sizes[1], sizes[3]
    copies, inner = sizes[4], sizes[5] * sizes[6]
    zero, sequence = settings[1], settings[2]
    if sequence > 1 and (tp == 1 or seq_length % (cp * tp) != 0):
        sequence = 1
    experts = num_experts > 0 and tp * cp * dp > copies * inner
    if cp * dp == copies and not experts:
        zero = 1
    return settings[0] * zero * sequence


def sizes_over_layers(num_devices: int, num_layers: int, stages: list[int]) -> int:
    """Return the (t, c, p, d) with more stages than layers: none of their layouts is tried.

    Args:
        num_devices: Devices in the job, n.
        num_layers: Layers, l.
        stages: Numbers of stages that are tried, divisors of the devices.
    """
    count = 0
    for pp in stages:
        if pp > num_layers:
            for tp in divisors(num_devices // pp):
                count = count + len(divisors(num_devices // pp // tp))
    return count
