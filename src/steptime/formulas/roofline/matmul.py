"""Time of one matrix product by its shape."""

from steptime.formulas.number import Number, maximum, minimum
from steptime.formulas.records import Constants, Job

TILE_VALUES = 32768.0
"""Outputs that one processor works on at a time: a tile of 128 x 256."""

FILL_VALUES = 64.0
"""Values of a sum that go by before a processor's pipeline is full: two steps of 32."""


def product_s(
    job: Job, constants: Constants, m: Number, n: Number, k: Number, flop_per_s: Number
) -> Number:
    """Return the time of an (m, k) by (k, n) product: the larger of arithmetic and traffic.

    What hides behind the other slows it: a share of the smaller one shows all the same.

    The processors fill with tiles of the result and run empty at its end: on average half of
    one more round over all processors is lost, which weighs on small results.

    Args:
        job: ``hbm_bytes_per_s`` and ``num_sms`` are used.
        constants: ``hbm_efficiency``; ``contention`` is that share.
        m: Rows of the result.
        n: Columns of the result.
        k: Length of the sums.
        flop_per_s: Rate of a large product in this precision.

    References:
        williams2009, Sec. 3 (the roofline); derived here for the last round.
    """
    values = m * n + 0.5 * job.num_sms * TILE_VALUES
    arithmetic_s = 2.0 * values * (k + FILL_VALUES) / flop_per_s
    traffic_bytes = 2.0 * (m * k + k * n + m * n)
    traffic_s = traffic_bytes / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    return roof_s(constants, arithmetic_s, traffic_s)


def roof_s(constants: Constants, arithmetic_s: Number, traffic_s: Number) -> Number:
    """Return the larger of arithmetic and traffic, and what shows of the smaller one.

    Args:
        constants: ``contention`` is that share.
        arithmetic_s: Time of the arithmetic alone.
        traffic_s: Time of the traffic alone.
    """
    hidden_s = minimum(arithmetic_s, traffic_s)
    return maximum(arithmetic_s, traffic_s) + constants.contention * hidden_s


def gradient_products_s(
    job: Job, constants: Constants, m: Number, n: Number, k: Number, flop_per_s: Number
) -> Number:
    """Return the time of the two products of a backward pass: for the input and for the weight.

    Args:
        constants: As in `product_s`.
        m: Tokens.
        n: Outputs of the forward product.
        k: Inputs of the forward product.
        flop_per_s: Rate of a large product in this precision.
    """
    for_input_s = product_s(job, constants, m, k, n, flop_per_s)
    for_weight_s = product_s(job, constants, k, n, m, flop_per_s)
    return for_input_s + for_weight_s
