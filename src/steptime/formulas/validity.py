"""Which layouts a model and a batch can be cut into, as arithmetic.

Rules have numbers, so that one layout, a million of them and the page refuse the same ones:
0 means that nothing is broken. The sentence of each rule is in `steptime.inputs.layout`.
All values are whole numbers under 2**53, so a division that comes out whole is exact.
"""

from steptime.formulas.experts import expert_ranks
from steptime.formulas.number import Number, ceil_div, floor, maximum, where
from steptime.formulas.records import DeviceFault, Fault, Job
from steptime.formulas.stage_split import split_fault

# fmt: off
DIVISORS = (
    1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0,
    24.0, 28.0, 32.0, 36.0, 40.0, 48.0, 56.0, 64.0, 72.0, 80.0, 96.0, 112.0, 128.0,
)
# fmt: on


def left_over(whole: Number, part: Number) -> Number:
    """Return what is left of ``whole`` once ``part`` is taken away as often as it goes.

    Args:
        whole: A whole number.
        part: A whole number over 0.
    """
    return whole - floor(whole / part) * part


def leaves_rest(whole: Number, part: Number) -> Number:
    """Return 1 where ``part`` does not divide ``whole``, else 0.

    Args:
        whole: A whole number.
        part: A whole number over 0.
    """
    return where(left_over(whole, part) == 0.0, 0.0, 1.0)


def ends_count(num_layers: Number, chunks: Number) -> Number:
    """Return 1 where embedding and head count as a layer each when stages are cut.

    That is where the layers alone do not divide over the chunks of all ranks, but two more do.

    Args:
        num_layers: Layers of the model.
        chunks: Chunks of all pipeline ranks, p v.

    References:
        grattafiori2024, Sec. 3.3.2 (a layer less on the first and on the last stage).
    """
    uneven = leaves_rest(num_layers, chunks)
    return where(uneven > 0.0, 1.0 - leaves_rest(num_layers + 2.0, chunks), 0.0)


def nearest_multiple(value: Number, step: Number) -> Number:
    """Return the multiple of ``step`` nearest to ``value``, and no less than ``step``.

    Args:
        value: Where to look.
        step: A whole number over 0.
    """
    return maximum(floor(value / step + 0.5) * step, step)


def largest_divisor(whole: Number, most: Number) -> Number:
    """Return the largest customary size that divides ``whole`` and is not over ``most``.

    Args:
        whole: A whole number.
        most: Upper bound.
    """
    best = where(most > 0.0, 1.0, 1.0)
    for size in DIVISORS:
        allowed = where(size > most, 0.0, 1.0 - leaves_rest(whole, size))
        best = where(allowed > 0.0, size, best)
    return best


def device_fault(num_devices: Number, tp: Number, cp: Number, pp: Number) -> DeviceFault:
    """Return ``broken``, 1 if t c p does not divide the devices, and the ``nearest`` count.

    Args:
        num_devices: Devices in the job, n.
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        pp: Pipeline stages, p.
    """
    replica = tp * cp * pp
    return {
        "broken": leaves_rest(num_devices, replica),
        "nearest": nearest_multiple(num_devices, replica),
    }


def broken_rules(job: Job) -> list[Number]:
    """Return a 1 for each rule that is broken and a 0 for each that holds, rules 1 to 11.

    Args:
        job: Only counts of model, batch and layout are read.
    """
    dense = where(job.num_experts > 0.0, 0.0, 1.0)
    # A stage may hold the embedding alone, or the head, where those count as layers.
    chunks = job.pp * job.vpp
    return [
        leaves_rest(job.global_batch_size, job.dp * job.micro_batch_size),
        where(job.pp > job.num_layers + 2.0 * ends_count(job.num_layers, chunks), 1.0, 0.0),
        where(job.vpp > ceil_div(job.num_layers, job.pp), 1.0, 0.0),
        leaves_rest(job.num_attention_heads, job.tp),
        leaves_rest(job.seq_length, job.cp),
        where(job.ep > 1.0, dense, 0.0),
        leaves_rest(job.num_experts, job.ep),
        leaves_rest(job.tp * job.cp * job.dp, expert_ranks(job)),
        leaves_rest(job.dp, job.dp_replicate),
        split_fault(job),
        where(job.etp > 1.0, dense, 0.0),
    ]


def layout_rule(job: Job) -> Number:
    """Return the number of the first broken rule, 0 if none: cheap, for layouts by the million.

    Args:
        job: Only counts of model, batch and layout are read.
    """
    broken = broken_rules(job)
    rule = where(job.tp > 0.0, 0.0, 0.0)
    # From the last rule to the first, so that the first one broken is what stays.
    for number in [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]:
        rule = where(broken[number - 1] > 0.0, 1.0 * number, rule)
    return rule


def layout_fault(job: Job) -> Fault:
    """Return the number of the first broken ``rule``, 0 if none, and the ``nearest`` value.

    ``nearest`` belongs to the field that the rule blames and mends that rule alone.

    Args:
        job: Only counts of model, batch and layout are read.
    """
    rule = layout_rule(job)
    mended = [
        nearest_multiple(job.global_batch_size, job.dp * job.micro_batch_size),
        job.num_layers,
        ceil_div(job.num_layers, job.pp),
        largest_divisor(job.num_attention_heads, job.tp),
        largest_divisor(job.seq_length, job.cp),
        1.0,
        largest_divisor(job.num_experts, job.ep),
        largest_divisor(floor(job.tp * job.cp * job.dp / job.etp), job.ep),
        largest_divisor(job.dp, job.dp_replicate),
        0.0,
        1.0,
    ]
    nearest = where(job.tp > 0.0, 0.0, 0.0)
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]:
        nearest = where(rule == 1.0 * number, mended[number - 1], nearest)
    return {"rule": rule, "nearest": nearest}
