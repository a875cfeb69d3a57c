"""Bytes and seconds of one collective operation, as the ring algorithms do it.

``size_bytes`` is always the *whole* buffer: what an all-reduce adds up, what an
all-gather ends with, what a reduce-scatter starts from, what one device of an
all-to-all holds. ``num_devices`` is n, and n = 1 costs nothing. Bandwidth is one
direction of one device; latency is the cost of one ring step beyond its bytes.
"""

from steptime.formulas.number import Number


def all_gather_sent_bytes(size_bytes: Number, num_devices: Number) -> Number:
    """Return the bytes each device sends in a ring all-gather: (n-1)/n of the whole.

    Args:
        size_bytes: The gathered buffer, all shards together.
        num_devices: Devices on the ring, n.

    References:
        thakur2005, Sec. 4.
    """
    return (num_devices - 1.0) / num_devices * size_bytes


def reduce_scatter_sent_bytes(size_bytes: Number, num_devices: Number) -> Number:
    """Return the bytes each device sends in a ring reduce-scatter: (n-1)/n of the whole.

    Args:
        size_bytes: The buffer that each device starts from.
        num_devices: Devices on the ring, n.

    References:
        thakur2005, Sec. 4.
    """
    return (num_devices - 1.0) / num_devices * size_bytes


def all_reduce_sent_bytes(size_bytes: Number, num_devices: Number) -> Number:
    """Return the bytes each device sends in a ring all-reduce: 2 (n-1)/n of the buffer.

    It is a reduce-scatter and an all-gather, one after the other.

    Args:
        size_bytes: The buffer that is added up.
        num_devices: Devices on the ring, n.

    References:
        thakur2005, Sec. 4.
    """
    return 2.0 * (num_devices - 1.0) / num_devices * size_bytes


def all_to_all_sent_bytes(size_bytes: Number, num_devices: Number) -> Number:
    """Return the bytes each device sends in an all-to-all: all but its own n-th part.

    Args:
        size_bytes: What one device holds before (and after) the exchange.
        num_devices: Devices that exchange, n.

    References:
        thakur2005, Sec. 4.
    """
    return (num_devices - 1.0) / num_devices * size_bytes


def permute_sent_bytes(size_bytes: Number) -> Number:
    """Return the bytes a device sends when it passes a buffer to one neighbour."""
    return size_bytes


def all_gather_s(
    size_bytes: Number, num_devices: Number, bytes_per_s: Number, latency_s: Number
) -> Number:
    """Return the time of a ring all-gather: n-1 steps of one shard each.

    Args:
        size_bytes: The gathered buffer, all shards together.
        num_devices: Devices on the ring, n.
        bytes_per_s: Bandwidth of one device in one direction.
        latency_s: Cost of one ring step beyond its bytes.

    References:
        thakur2005, Sec. 4.
    """
    return (
        all_gather_sent_bytes(size_bytes, num_devices) / bytes_per_s
        + (num_devices - 1.0) * latency_s
    )


def reduce_scatter_s(
    size_bytes: Number, num_devices: Number, bytes_per_s: Number, latency_s: Number
) -> Number:
    """Return the time of a ring reduce-scatter: n-1 steps of one shard each.

    Args:
        size_bytes: The buffer that each device starts from.
        num_devices: Devices on the ring, n.
        bytes_per_s: Bandwidth of one device in one direction.
        latency_s: Cost of one ring step beyond its bytes.

    References:
        thakur2005, Sec. 4.
    """
    return (
        reduce_scatter_sent_bytes(size_bytes, num_devices) / bytes_per_s
        + (num_devices - 1.0) * latency_s
    )


def all_reduce_s(
    size_bytes: Number, num_devices: Number, bytes_per_s: Number, latency_s: Number
) -> Number:
    """Return the time of a ring all-reduce: 2 (n-1) steps of an n-th of the buffer each.

    Args:
        size_bytes: The buffer that is added up.
        num_devices: Devices on the ring, n.
        bytes_per_s: Bandwidth of one device in one direction.
        latency_s: Cost of one ring step beyond its bytes.

    References:
        thakur2005, Sec. 4.
    """
    return (
        all_reduce_sent_bytes(size_bytes, num_devices) / bytes_per_s
        + 2.0 * (num_devices - 1.0) * latency_s
    )


def all_to_all_s(
    size_bytes: Number, num_devices: Number, bytes_per_s: Number, latency_s: Number
) -> Number:
    """Return the time of a pairwise all-to-all: n-1 exchanges of an n-th part each.

    Args:
        size_bytes: What one device holds before (and after) the exchange.
        num_devices: Devices that exchange, n.
        bytes_per_s: Bandwidth of one device in one direction.
        latency_s: Cost of one exchange beyond its bytes.

    References:
        thakur2005, Sec. 4.
    """
    return (
        all_to_all_sent_bytes(size_bytes, num_devices) / bytes_per_s
        + (num_devices - 1.0) * latency_s
    )


def permute_s(size_bytes: Number, bytes_per_s: Number, latency_s: Number) -> Number:
    """Return the time to pass a buffer to one neighbour.

    Args:
        size_bytes: The buffer.
        bytes_per_s: Bandwidth of one device in one direction.
        latency_s: Cost of one message beyond its bytes.
    """
    return permute_sent_bytes(size_bytes) / bytes_per_s + latency_s
