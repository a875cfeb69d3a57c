"""Put a job on servers or racks, and count what stays inside NVLink and what crosses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steptime.formulas.placement import used_per_domain
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.in_number import counted
from steptime.inputs.layout import Layout, check_ranks
from steptime.inputs.rank_order import rank_order
from steptime.inputs.shown import Row, Shown
from steptime.planning.groups import expert_counts, group_counts, hop_counts

MOST_DEVICES = 1_000_000
RACK, SERVER = 72, 8
"""GPUs in the NVLink domain of an NVL72 rack, and of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """How the groups of one kind lie.

    Attributes:
        kind: tensor, context, pipeline, data, expert or expert data.
        size: Ranks in each group.
        inside: Groups with all ranks in one NVLink domain.
        crossing: Groups that reach over the network.
    """

    kind: str
    size: int
    inside: int
    crossing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement(Shown):
    """A job on real hardware.

    Attributes:
        layout: What was placed.
        order: Axes, nearest ranks first.
        domain_size: GPUs in one NVLink domain.
        spares_per_domain: Kept free on purpose, in each domain.
        used_per_domain: GPUs that work in each domain that is full; all of a smaller job.
        num_domains: Servers or racks needed.
        groups: One entry for each kind of group of two ranks or more.
        hops_inside: Pipeline hops over NVLink.
        hops_crossing: Pipeline hops over the network.
    """

    layout: Layout
    order: tuple[str, ...]
    domain_size: int
    spares_per_domain: int
    used_per_domain: int
    num_domains: int
    groups: tuple[GroupCount, ...]
    hops_inside: int
    hops_crossing: int

    def title(self) -> str:
        """Return the job and the domains that it fills."""
        return (
            f"{counted(self.layout.num_devices, 'GPUs')} in "
            f"{counted(self.num_domains, 'domains')} of {self.domain_size}, "
            f"{rest_words(self.left_over, self.num_domains)}"
        )

    def records(self) -> list[Row]:
        """Return a row a kind of group, and one for the pipeline's hops."""
        found: list[Row] = [
            {"groups": one.kind, "size": one.size, "inside": one.inside, "crossing": one.crossing}
            for one in self.groups
        ]
        hops = {"inside": self.hops_inside, "crossing": self.hops_crossing}
        return [*found, {"groups": "pipeline hops", "size": None} | hops]

    def _draw(self, axes: Any) -> None:
        rows = self.records()
        names = [row["groups"] for row in rows]
        inside = [row["inside"] for row in rows]
        axes.barh(names, inside, label="inside a domain")
        axes.barh(names, [row["crossing"] for row in rows], left=inside, label="crossing")
        axes.invert_yaxis()
        axes.set_xlabel("groups")
        axes.legend()

    @property
    def left_over(self) -> int:
        """GPUs of these domains that do not work: spares, leftovers, the last one's rest."""
        return self.num_domains * self.domain_size - self.layout.num_devices

    @property
    def num_hops(self) -> int:
        """Pipeline hops, inside and across."""
        return self.hops_inside + self.hops_crossing

    def group(self, kind: str) -> GroupCount:
        """Return the count of one kind; a kind of one rank a group crosses nothing."""
        for count in self.groups:
            if count.kind == kind:
                return count
        return GroupCount(kind=kind, size=1, inside=self.layout.num_devices, crossing=0)


def domains_needed(layout: Layout, domain_size: int, axes: list[str]) -> tuple[int, int]:
    """Return the domains that a job fills, and the GPUs in use in each of them.

    Args:
        layout: What to place.
        domain_size: GPUs of a domain that may be used.
        axes: Rank order, nearest first.
    """
    used = used_per_domain(
        float(domain_size),
        float(layout.tp),
        float(layout.cp),
        float(layout.expert_ranks) if layout.ep > 1 else 1.0,
        float(axes.index("dp") < axes.index("pp")),
    )
    return -(-layout.num_devices // int(used)), min(int(used), layout.num_devices)


def in_use(used: int, domains: int, devices: int) -> str:
    """Return how many GPUs work in the domains of a job, for the eye.

    Args:
        used: In a domain that is full.
        domains: That the job takes.
        devices: Of the job.
    """
    last = devices - (domains - 1) * used
    if domains == 1:
        return f"{counted(used, 'GPUs')} in use"
    return f"{counted(used, 'GPUs')} in use in each" + (
        f", {last} in the last" if last < used else ""
    )


def rest_words(left: int, domains: int) -> str:
    """Return what becomes of the other GPUs of a job's domains, for the eye.

    Beside a job inside one domain others may run: a pod is handed out in slices.

    Args:
        left: GPUs of the domains that do not work for the job.
        domains: That the job takes.
    """
    return f"{left:,} free for others" if domains == 1 and left else f"{left:,} left over"


def place(
    layout: Layout, *, domain_size: int, order: str = "megatron", spares_per_domain: int = 0
) -> Placement:
    """Return where each group of a layout lies, on domains filled in rank order.

    A domain takes whole blocks of t c ranks, and of expert ranks where these are neighbours:
    with t = 16, a rack of 72 works with 64 GPUs and keeps 8.

    Args:
        layout: What to place.
        domain_size: GPUs in one NVLink domain: 8 in a server, 72 in an NVL72 rack.
        order: As in `steptime.inputs.rank_order.rank_order`.
        spares_per_domain: GPUs to keep free in each domain.

    Raises:
        ConfigError: If the order is unknown, spares fill the domain, the job is too big, or experts
            do not divide over its ranks.

    References:
        grattafiori2024, Sec. 3.3.2, for the order tensor, context, pipeline, data.
    """
    check_count("domain_size", domain_size, most=10**6)
    check_count("spares_per_domain", spares_per_domain, least=0, most=10**6)
    if layout.num_devices > MOST_DEVICES:
        raise ConfigError(f"{layout.num_devices} GPUs are too many to place; <= {MOST_DEVICES}")
    free = domain_size - spares_per_domain
    if free < 1:
        raise ConfigError(
            f"spares_per_domain={spares_per_domain} leaves no GPU of domain_size={domain_size}; "
            f"use at most {domain_size - 1}"
        )
    check_ranks(layout)
    axes = rank_order(order)
    domains, used = domains_needed(layout, free, axes)
    sizes = {"tp": layout.tp, "cp": layout.cp, "pp": layout.pp, "dp": layout.dp}
    stay, cross = hop_counts(axes, sizes, layout.vpp, used)
    return Placement(
        layout=layout,
        order=tuple(axes),
        domain_size=domain_size,
        spares_per_domain=spares_per_domain,
        used_per_domain=used,
        num_domains=domains,
        groups=tuple(_counts(layout, axes, sizes, used)),
        hops_inside=stay,
        hops_crossing=cross,
    )


def _counts(layout: Layout, axes: list[str], sizes: dict[str, int], used: int) -> list[GroupCount]:
    """Return the counts of every kind of group that has two ranks or more."""
    found = []
    # Ranks that share one copy are neighbours among the data-parallel ones (HSDP).
    split = [name for axis in axes for name in (("shard", "copy") if axis == "dp" else (axis,))]
    sizes = sizes | {"shard": layout.shards, "copy": layout.dp // layout.shards}
    for kind, along in (
        ("tensor", ["tp"]),
        ("context", ["cp"]),
        ("pipeline", ["pp"]),
        ("data", ["cp", "shard", "copy"]),
        *((("shards", ["cp", "shard"]), ("copies", ["copy"])) if sizes["copy"] > 1 else ()),
    ):
        size = 1
        for axis in along:
            size *= sizes[axis]
        if size > 1:
            stay, cross = group_counts(split, sizes, along, used)
            found.append(GroupCount(kind=kind, size=size, inside=stay, crossing=cross))
    places = layout.tp * layout.cp * layout.dp
    block = layout.expert_ranks
    if layout.ep > 1:
        stay, cross = expert_counts(axes, sizes, block // layout.ep, layout.ep, used)
        found.append(GroupCount(kind="expert", size=layout.ep, inside=stay, crossing=cross))
        if places > block:
            stay, cross = expert_counts(axes, sizes, block, places // block, used)
            found.append(
                GroupCount(kind="expert data", size=places // block, inside=stay, crossing=cross)
            )
    return found
