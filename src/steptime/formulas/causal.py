"""How much attention is left to do under a causal mask, and on whom it falls.

Work is counted in pairs of a query and a key that it may see. ``length`` is s/c, the
tokens of one device.
"""

from steptime.formulas.number import Number, minimum


def own_pairs(length: Number) -> Number:
    """Return the pairs among a device's own tokens, of either order: a triangle."""
    return length * (length + 1.0) / 2.0


def contiguous_pairs(length: Number, rank: Number) -> Number:
    """Return the pairs of a device whose tokens are one stretch of the sequence.

    It sees its own triangle and all of the ``rank`` stretches before.

    Args:
        length: Tokens per device, s/c.
        rank: Place on the ring, from 0.

    References:
        derived here, book/more-machines.md.
    """
    return own_pairs(length) + rank * length * length


def zigzag_pairs(length: Number, cp: Number) -> Number:
    """Return the pairs of any device that holds two half stretches, as far from both ends.

    What one half sees more, the other sees less: all devices do the same.

    Args:
        length: Tokens per device, s/c.
        cp: Context-parallel size, c.

    References:
        grattafiori2024, Sec. 3.3.2.
    """
    return own_pairs(length) + (cp - 1.0) * length * length / 2.0


def contiguous_ring_pairs(length: Number, cp: Number) -> Number:
    """Return the pairs on the critical path of a ring over contiguous stretches.

    In each step after the first some device sees a whole block, and all wait for it.

    Args:
        length: Tokens per device, s/c.
        cp: Context-parallel size, c.

    References:
        derived here, book/more-machines.md.
    """
    return own_pairs(length) + (cp - 1.0) * length * length


def zigzag_ring_pairs(length: Number, cp: Number) -> Number:
    """Return the pairs on the critical path of a ring over zigzag halves: nobody waits.

    Args:
        length: Tokens per device, s/c.
        cp: Context-parallel size, c.

    References:
        derived here, book/more-machines.md.
    """
    return zigzag_pairs(length, cp)


def windowed_keys(seq_length: Number, window_size: Number) -> Number:
    """Return the keys that a token sees on average through a window under a causal mask.

    The last ``w`` it may see, fewer at the start: ``w - w**2 / 2 s``. As wide as the sequence
    that is ``s / 2``; half of a token's pair with itself is left out, as there.

    Args:
        seq_length: Tokens of one sequence, s.
        window_size: Keys that a windowed layer attends to, w.

    References:
        derived here, book/more-machines.md.
    """
    window = minimum(window_size, seq_length)
    return window - 0.5 * window * window / seq_length
