"""Idle time, micro-batches held and messages sent, in closed form, for every pipeline schedule.

``schedule`` is the place of a schedule's name in `SCHEDULES`, or an array of such places. Each
schedule says its own forms in its file, see `steptime.formulas.schedules.registry`; here they
are put together. Every form is compared with the simulator.
"""

from steptime.formulas.number import Number, anywhere, floor, maximum, minimum, taken, where
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import highest, round_size
from steptime.formulas.schedules.registry import NUMBERS, held_of, idle_of
from steptime.formulas.schedules.registry import SCHEDULES as SCHEDULES
from steptime.formulas.validity import leaves_rest


def entry_number(key: str, schedule: Number) -> Number:
    """Return one of the numbers that a schedule's entry holds.

    Args:
        key: Its name there, such as chunks or copies.
        schedule: Place of the schedule's name.

    References:
        derived here, see `steptime.formulas.schedules.registry`.
    """
    return taken(NUMBERS[key], schedule)


def idle_time(
    schedule: Number,
    pp: Number,
    num_microbatches: Number,
    vpp: Number,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> Number:
    """Return the idle time of a rank in one step that ends on all ranks together.

    For equal stages and free sends; DualPipe's pairs take as long as their two halves. It is
    the executor's, but for V-Half and V-Min, whose steps are within 0.5 % of it up to 64 ranks,
    and within 1 % up to 96, where none of F, I and W is more than four times another; and but for
    ZB-1p, ZB-2p and the search in any memory: no order takes less, and the executor's search takes
    as much, seldom up to 0.7 % more.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.
        forward: Time of F in one chunk.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        derived here; each schedule's file names the papers whose forms are among them.
    """
    idle: Number = 0.0
    for place in range(len(SCHEDULES)):
        if anywhere(schedule == place):
            forms = idle_of(place, pp, num_microbatches, vpp)
            own = highest(forms, forward, backward_input, backward_weight)
            idle = where(schedule == place, own, idle)
    return where(pp > 1.0, idle, 0.0)


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
    m = num_microbatches
    idle = idle_time(schedule, pp, m, vpp, forward, backward_input, backward_weight)
    return idle / (m * vpp * (forward + backward_input + backward_weight))


def bubble_share(
    schedule: Number,
    pp: Number,
    num_microbatches: Number,
    vpp: Number,
    forward: Number,
    backward_input: Number,
    backward_weight: Number,
) -> Number:
    """Return the idle time of a schedule over that of 1F1B with as many chunks a rank.

    Exactly 1 with one rank, and for GPipe, 1F1B, interleaved 1F1B and breadth-first with at
    least as many micro-batches as ranks.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.
        forward: Time of F in one chunk, in any unit.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        derived here from `idle_time`.
    """
    m = num_microbatches
    idle = idle_time(schedule, pp, m, vpp, forward, backward_input, backward_weight)
    ranks = where(pp > 1.0, pp - 1.0, 1.0)
    usual = ranks * (forward + backward_input + backward_weight)
    return where(pp > 1.0, idle / usual, 1.0)


def runs_pairs(schedule: Number, vpp: Number) -> Number:
    """Return 1 where a schedule runs passes in pairs, else 0; interleaved ones take two chunks.

    Args:
        schedule: Place of its name.
        vpp: Chunks a rank holds, v.

    References:
        deepseek2024, Sec. 3.2.1; megatronlm2026, pipeline_parallel/combined_1f1b.py.
    """
    chosen = where(entry_number("chunks", schedule) > 0.0, 1.0, where(vpp > 1.0, 1.0, 0.0))
    return chosen * entry_number("pairs", schedule)


def paired_share(schedule: Number, pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return the share of micro-batches whose passes run beside those of another one.

    As many micro-batches as ranks pass alone while the pipeline fills and drains: in DualPipe
    where its streams turn, under interleaved 1F1B on the last rank, its idle time included. One
    rank without a pipeline runs the first forward and the last backward pass alone.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    References:
        deepseek2024, Sec. 3.2.1 (pairs); megatronlm2026, pipeline_parallel/combined_1f1b.py
        (interleaved, and without a pipeline); derived here (the count).
    """
    can = where(pp > 1.0, runs_pairs(schedule, vpp), 1.0)
    return can * maximum(1.0 - pp / num_microbatches, 0.0)


def chunk_run(schedule: Number, pp: Number, num_microbatches: Number) -> Number:
    """Return the micro-batches that pass one chunk of a rank before the next chunk has its turn.

    A round of an interleaved schedule, all of them breadth first; 1 where chunks take turns
    otherwise.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.

    References:
        narayanan2021, Sec. 2.2.2; lamypoirier2023, its breadth-first schedule.
    """
    round_of = round_size(pp, num_microbatches)
    free = where(entry_number("whole_rounds", schedule) > 0.0, round_of, num_microbatches)
    return where(entry_number("chunks", schedule) > 0.0, 1.0, free)


def schedule_fault(schedule: Number, pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return which rule sizes break that a schedule cannot run at, 0 if none.

    1: micro-batches do not fall into equal rounds (both interleaved ones); 2: stages or
    micro-batches are odd (DualPipe); 3: there are fewer than two micro-batches a stage (both
    DualPipes). Megatron-LM may also run a shorter last round, in the groups that its user
    chooses: how much ranks hold then follows from that choice, which no field states here.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    References:
        ansel2024, torch.distributed.pipelining (rounds); dualpipe2025, README; megatronlm2026,
        megatron/core/pipeline_parallel/schedules.py (a group of p to m micro-batches, the rest
        0 or no less than p).
    """
    m = num_microbatches
    few = where(m < 2.0 * pp, where(entry_number("two_each", schedule) > 0.0, 3.0, 0.0), 0.0)
    odd = leaves_rest(pp, 2.0) + leaves_rest(m, 2.0)
    odd = where(odd > 0.0, entry_number("even", schedule), 0.0)
    wanted = where(vpp > 1.0, entry_number("whole_rounds", schedule), 0.0)
    rest = uneven_rounds(pp, m)
    return where(wanted * rest > 0.0, 1.0, where(odd > 0.0, 2.0, few))


def uneven_rounds(pp: Number, num_microbatches: Number) -> Number:
    """Return 1 where micro-batches do not fall into equal rounds of at least p, else 0.

    Args:
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.

    References:
        ansel2024, torch.distributed.pipelining.
    """
    rounds = floor(num_microbatches / pp)
    return leaves_rest(num_microbatches, where(rounds > 1.0, rounds, 1.0))


def held_line(schedule: Number, pp: Number, num_microbatches: Number, vpp: Number) -> HeldLine:
    """Return what ranks hold at most, in micro-batches times chunks, see `forms.held`.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    Returns:
        ``base`` and ``slope``: rank r holds ``base - slope r``, and no more than ``rise + r``.

    References:
        derived here; each schedule's file names its source.
    """
    line: HeldLine = {"base": 0.0, "slope": 0.0, "rise": 0.0}
    for place in range(len(SCHEDULES)):
        if anywhere(schedule == place):
            own = held_of(place, pp, num_microbatches, vpp)
            chosen = schedule == place
            line["base"] = where(chosen, own["base"], line["base"])
            line["slope"] = where(chosen, own["slope"], line["slope"])
            line["rise"] = where(chosen, own["rise"], line["rise"])
    return line


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
        derived here from `held_line`.
    """
    line = held_line(schedule, pp, num_microbatches, vpp)
    most = minimum(line["base"] - line["slope"] * rank, line["rise"] + rank)
    return minimum(most, num_microbatches * vpp)


def sends_per_rank(
    schedule: Number, pp: Number, num_microbatches: Number, vpp: Number, rank: Number
) -> Number:
    """Return the messages that a rank sends to others in one step.

    Every stage but the last sends its activations on, every stage but the first its
    gradients back; in a V the two chunks of the last rank are neighbours and need none.
    Where a rank holds two copies of the weights, half of the micro-batches go each way.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.
        rank: Pipeline rank, from 0.

    References:
        derived here.
    """
    first = where(rank == 0.0, 1.0, 0.0)
    last = where(rank == pp - 1.0, 1.0, 0.0)
    loop = 2.0 * vpp - first - last
    # From the first rank of a V both ways lead to the next rank, at its last they turn round.
    vee = 4.0 - 2.0 * first - 2.0 * last
    count = where(entry_number("vee", schedule) > 0.0, vee, loop)
    count = where(entry_number("copies", schedule) > 1.0, 2.0 - first - last, count)
    return where(pp > 1.0, num_microbatches * count, 0.0)
