"""Ranks, groups and hops as plain integers: the lines that the book's page runs too.

``order`` lists the axes from the nearest ranks to the farthest, ``sizes`` gives their
lengths. Ranks fill the domains one after another, ``usable`` in each.
"""

from __future__ import annotations


def axis_strides(order: list[str], sizes: dict[str, int]) -> dict[str, int]:
    """Return the distance between neighbours of each axis, in ranks.

    Args:
        order: Axes, nearest first.
        sizes: Length of each axis.
    """
    strides: dict[str, int] = {}
    step = 1
    for name in order:
        strides[name] = step
        step = step * sizes[name]
    return strides


def first_ranks(order: list[str], sizes: dict[str, int], inside: list[str]) -> list[int]:
    """Return the first rank of every group that runs along the axes ``inside``.

    Args:
        order: Axes, nearest first.
        sizes: Length of each axis.
        inside: Axes along which the ranks of one group differ.
    """
    strides = axis_strides(order, sizes)
    firsts = [0]
    for name in order:
        if name in inside:
            continue
        grown: list[int] = []
        for index in range(sizes[name]):
            for first in firsts:
                grown.append(first + index * strides[name])
        firsts = grown
    return firsts


def group_counts(
    order: list[str], sizes: dict[str, int], inside: list[str], usable: int
) -> list[int]:
    """Return how many groups along the axes ``inside`` stay in one domain, and how many cross.

    Args:
        order: Axes, nearest first.
        sizes: Length of each axis.
        inside: Axes along which the ranks of one group differ.
        usable: Devices in use in each domain.
    """
    strides = axis_strides(order, sizes)
    reach = 0
    for name in inside:
        reach = reach + (sizes[name] - 1) * strides[name]
    stay = 0
    cross = 0
    for first in first_ranks(order, sizes, inside):
        if first // usable == (first + reach) // usable:
            stay = stay + 1
        else:
            cross = cross + 1
    return [stay, cross]


def hop_counts(order: list[str], sizes: dict[str, int], chunks: int, usable: int) -> list[int]:
    """Return the pipeline hops inside a domain and those that cross the network.

    A hop joins a stage to the next; with several chunks a device, the last stage also hands
    over to the first. Each is counted once: activations go one way, gradients come back.

    Args:
        order: Axes, nearest first.
        sizes: Length of each axis.
        chunks: Model chunks a device holds, v.
        usable: Devices in use in each domain.
    """
    stride = axis_strides(order, sizes)["pp"]
    stages = sizes["pp"]
    stay = 0
    cross = 0
    for first in first_ranks(order, sizes, ["pp"]):
        hops = stages - 1
        if chunks > 1 and stages > 1:
            hops = stages
        for stage in range(hops):
            here = (first + stage * stride) // usable
            there = (first + ((stage + 1) % stages) * stride) // usable
            if here == there:
                stay = stay + 1
            else:
                cross = cross + 1
    return [stay, cross]


def stage_rank(order: list[str], sizes: dict[str, int], stage: int, place: int) -> int:
    """Return the rank at ``place`` among the ranks of one pipeline stage.

    Args:
        order: Axes, nearest first.
        sizes: Length of each axis.
        stage: Pipeline stage.
        place: From 0 to t c d - 1, nearest axes first.
    """
    strides = axis_strides(order, sizes)
    rank = stage * strides["pp"]
    rest = place
    for name in order:
        if name != "pp":
            rank = rank + (rest % sizes[name]) * strides[name]
            rest = rest // sizes[name]
    return rank


def expert_counts(
    order: list[str], sizes: dict[str, int], stride: int, size: int, usable: int
) -> list[int]:
    """Return the groups inside a domain and those that cross, among places of a stage.

    Args:
        order: Axes, nearest first.
        sizes: Length of each axis.
        stride: Distance between neighbours of a group, in places of the stage.
        size: Ranks in a group.
        usable: Devices in use in each domain.
    """
    places = sizes["tp"] * sizes["cp"] * sizes["dp"]
    stay = 0
    cross = 0
    for stage in range(sizes["pp"]):
        for place in range(places):
            if (place // stride) % size != 0:
                continue
            first = stage_rank(order, sizes, stage, place)
            last = stage_rank(order, sizes, stage, place + (size - 1) * stride)
            if first // usable == last // usable:
                stay = stay + 1
            else:
                cross = cross + 1
    return [stay, cross]
