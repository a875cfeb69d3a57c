"""Idle time and micro-batches held, in closed form, for every pipeline schedule.

``schedule`` is the place of a schedule's name in `SCHEDULES`. Every form is compared with the
simulator over a grid.
"""

from steptime.formulas.number import Number, floor, maximum, minimum, where
from steptime.formulas.validity import leaves_rest

SCHEDULES = (
    "gpipe",  # 0
    "1f1b",
    "interleaved-1f1b",
    "looped-bfs",
    "zb-h1",  # 4
    "zb-h2",
    "interleaved-zb",
    "zb-v",
    "v-half",  # 8
    "v-min",
    "dualpipe",
    "dualpipe-v",
)


def round_size(pp: Number, num_microbatches: Number) -> Number:
    """Return the micro-batches in a round of an interleaved schedule: p, or a few more.

    Args:
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.

    References:
        ansel2024, torch.distributed.pipelining.
    """
    return num_microbatches / maximum(1.0, floor(num_microbatches / pp))


def idle_time(
    schedule: Number,
    pp: Number,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> Number:
    """Return the idle time of a rank in one step that ends on all ranks together.

    For equal stages, free sends and m >= p. Exact for GPipe, 1F1B and ZB-H1 (any m >= p), for
    the interleaved ones where m is a multiple of p, for ZB-H2 from ``2 p - 1`` on, in all of
    them with W no longer than I; for ZB-V from ``2 p - 1`` on with F and W no longer than I;
    for V-Half and V-Min where F = I = W, else as if all three took their mean; for DualPipe
    where F = I = W and pairs run as one.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        forward: Time of F in one chunk.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        narayanan2021, Sec. 2.2 (the first four); qi2023, Table 2 (ZB-H1, ZB-H2; with the
        flush at the end that the table leaves out); deepseek2024, Table 2 (DualPipe);
        derived from the simulator (ZB-V, V-Half, V-Min).
    """
    ranks = pp - 1.0
    both = backward_input + backward_weight
    idle = ranks * (forward + both)
    held_up = maximum(forward, forward + backward_input - backward_weight)
    idle = where(schedule == 4.0, ranks * held_up, idle)
    idle = where(schedule == 6.0, ranks * held_up, idle)
    eager = maximum(forward, forward + backward_input - 2.0 * backward_weight)
    idle = where(schedule == 5.0, ranks * eager, idle)
    vee = maximum(maximum(forward, backward_input), 2.0 * (backward_input - backward_weight))
    idle = where(schedule == 7.0, ranks * vee, idle)
    mean = (forward + both) / 3.0
    half = where(ranks > 0.0, maximum(6.0 * floor((pp + 1.0) / 2.0) - 7.0, 1.0), 0.0)
    idle = where(schedule == 8.0, half * mean, idle)
    thirds = where(pp - 3.0 * floor(pp / 3.0) == 0.0, 7.0, 5.0)
    idle = where(schedule == 9.0, maximum(4.0 * pp - thirds, 0.0) * mean, idle)
    pair = forward + both + both - 3.0 * backward_weight
    idle = where(schedule == 10.0, (pp / 2.0 - 1.0) * pair, idle)
    return where(schedule == 11.0, ranks * pair, idle)


def bubble_overhead(
    schedule: Number,
    pp: Number,
    num_microbatches: Number,
    vpp: Number,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> Number:
    """Return idle over useful time of a schedule, from `idle_time`.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.
        forward: Time of F in one chunk.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        derived here from `idle_time`.
    """
    idle = idle_time(schedule, pp, forward, backward_input, backward_weight)
    return idle / (num_microbatches * vpp * (forward + backward_input + backward_weight))


def idle_of_few(
    schedule: Number,
    pp: Number,
    num_microbatches: Number,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> Number:
    """Return the least idle time of a rank where too few micro-batches leave too few W to fill it.

    For ZB-H1, ZB-H2 and ZB-V, exact with F and W no longer than I where it is over `idle_time`
    (ZB-V may idle a few per cent longer just below ``2 p - 1`` micro-batches); 0 for all others.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        forward: Time of F in one chunk.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        derived here from the simulator.
    """
    ranks = pp - 1.0
    more = num_microbatches - 1.0
    chain = ranks * (forward + backward_input)
    one = chain - more * backward_weight
    pairs = floor(more / 2.0)
    second = minimum(backward_weight, backward_input - backward_weight)
    two = chain - (more - pairs) * backward_weight - pairs * second
    early = minimum(more, ranks)
    vee = 2.0 * (chain - early * forward - (more - early) * backward_weight)
    idle = where(schedule == 4.0, one, 0.0)
    idle = where(schedule == 5.0, two, idle)
    return where(schedule == 7.0, vee, idle)


def bubble_share(
    schedule: Number,
    pp: Number,
    num_microbatches: Number,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> Number:
    """Return the idle time of a schedule over that of 1F1B with as many chunks a rank.

    Exactly 1 for GPipe, 1F1B, interleaved 1F1B and breadth-first, and with one rank.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        forward: Time of F in one chunk, in any unit.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        derived here from `idle_time` and `idle_of_few`.
    """
    m = num_microbatches
    few = idle_of_few(schedule, pp, m, forward, backward_input, backward_weight)
    idle = maximum(idle_time(schedule, pp, forward, backward_input, backward_weight), few)
    usual = maximum(pp - 1.0, 1.0) * (forward + backward_input + backward_weight)
    share = where(schedule > 3.0, idle / usual, 1.0)
    return where(pp > 1.0, share, 1.0)


def schedule_fault(schedule: Number, pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return which rule sizes break that a schedule cannot run at, 0 if none.

    1: micro-batches do not fall into equal rounds (interleaved zero-bubble); 2: stages or
    micro-batches are odd (DualPipe); 3: there are fewer than two micro-batches a stage (both
    DualPipes). A last round may be shorter under interleaved 1F1B, as Megatron-LM runs it.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    References:
        ansel2024, torch.distributed.pipelining (rounds); dualpipe2025, README.
    """
    m = num_microbatches
    rest = leaves_rest(m, maximum(1.0, floor(m / pp)))
    rounds = where(schedule == 6.0, where(vpp > 1.0, rest, 0.0), 0.0)
    odd = where(leaves_rest(pp, 2.0) + leaves_rest(m, 2.0) > 0.0, 2.0, 0.0)
    few = where(m < 2.0 * pp, 3.0, 0.0)
    pairs = where(schedule == 10.0, where(odd > 0.0, odd, few), rounds)
    return where(schedule == 11.0, few, pairs)


def peak_in_flight(
    schedule: Number, pp: Number, num_microbatches: Number, vpp: Number, rank: Number
) -> Number:
    """Return the most micro-batches times chunks that a rank holds for its backwards.

    A chunk counts from its F to the end of its B or W. Divide by v for micro-batches of
    everything a rank holds. Exact for every rank but V-Half's and V-Min's, where it is the
    peak of the fullest rank, for m > p; else their ranks hold no more.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.
        rank: Pipeline rank, from 0.

    References:
        narayanan2021, Sec. 2.2 (1F1B); qi2023, Table 2 (ZB-H1, ZB-H2); qi2024, Table 1
        (V-Half, V-Min); deepseek2024, Table 2 (DualPipe); derived here (the interleaved).
    """
    m = num_microbatches
    every = m * vpp
    behind = pp - 1.0 - rank
    rest = (vpp - 1.0) * round_size(pp, m) + 1.0
    looped = where(vpp > 1.0, rest + 2.0 * behind, pp - rank)
    held = where(schedule == 1.0, pp - rank, every)
    held = where(schedule == 2.0, looped, held)
    held = where(schedule == 4.0, pp, held)
    held = where(schedule == 5.0, 2.0 * pp - 1.0, held)
    held = where(schedule == 6.0, rest + pp - 1.0, held)
    held = where(schedule == 7.0, minimum(2.0 * pp, m + 1.0 + rank), held)
    held = where(schedule == 8.0, 2.0 * floor(pp / 2.0) + 2.0, held)
    held = where(schedule == 9.0, 2.0 * floor((pp + 4.0) / 3.0), held)
    held = where(schedule == 10.0, pp + 1.0, held)
    held = where(schedule == 11.0, 2.0 * pp + 1.0, held)
    return minimum(held, every)


def sends_per_rank(
    schedule: Number, pp: Number, num_microbatches: Number, vpp: Number, rank: Number
) -> Number:
    """Return the messages that a rank sends to others in one step.

    Every stage but the last sends its activations on, every stage but the first its
    gradients back; in a V the two chunks of the last rank are neighbours and need none.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.
        rank: Pipeline rank, from 0.

    References:
        derived here.
    """
    m = num_microbatches
    first = where(rank == 0.0, 1.0, 0.0)
    last = where(rank == pp - 1.0, 1.0, 0.0)
    loop = 2.0 * vpp - first - last
    # From the first rank of a V both ways lead to the next rank, at its last they turn round.
    vee = 4.0 - 2.0 * first - 2.0 * last
    bidirectional = 2.0 - first - last
    count = where(schedule == 7.0, vee, loop)
    count = where(schedule == 8.0, vee, count)
    count = where(schedule == 9.0, vee, count)
    count = where(schedule == 10.0, bidirectional, count)
    count = where(schedule == 11.0, vee, count)
    return where(pp > 1.0, m * count, 0.0)
