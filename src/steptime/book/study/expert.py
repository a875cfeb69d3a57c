"""§15: expert parallelism, claim by claim, and where the tokens go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steptime.book.study.claims import Claim, Slices, sent_bytes, slices, tried
from steptime.inputs.errors import ConfigError
from steptime.parallel import expert

VIEWS = {"x": (0, 1), "router": (0, 1), "w_in": (1, 0), "w_out": (2, 0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Where the tokens of one router went.

    Attributes:
        kind: switch, gshard or deepseek.
        skew: How unevenly tokens chose.
        num_devices: Devices that hold the experts.
        load: Tokens by device and expert.
    """

    kind: str
    skew: float
    num_devices: int
    load: expert.Load

    @property
    def busiest_device(self) -> float:
        """Tokens that the busiest device works on, over the mean of all devices."""
        by_device = self.load.kept.sum(0).reshape(self.num_devices, -1).sum(1)
        return float(by_device.max() / by_device.mean())

    @property
    def used_fraction(self) -> float:
        """Places sent in an all-to-all that hold a token."""
        return float(self.load.kept.sum() / (self.load.kept.size * self.load.capacity))

    @property
    def dropped_fraction(self) -> float:
        """Choices that found no place, of all."""
        return self.load.dropped / float(self.load.chosen.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertStudy:
    """What §15 shows.

    Attributes:
        claims: Mixture layers that were run.
        annotated: The first of them, split by the compiler from annotations alone.
        routed: Where tokens went, by kind and skew.
        slices: Which device holds which experts.
        sent: Bytes from each device to each other in the gshard layer.
    """

    claims: Sequence[Claim]
    annotated: Claim
    routed: Sequence[Routed]
    slices: Sequence[Slices]
    sent: np.ndarray

    def of_kind(self, kind: str) -> list[Routed]:
        """Return where tokens went under one kind of router."""
        return [one for one in self.routed if one.kind == kind]


def expert_study(
    *,
    expert_parallel_size: int,
    num_experts: int,
    fine_num_experts: int,
    fine_top_k: int,
    hidden_size: int,
    expert_ffn_hidden_size: int,
    tokens_per_device: int,
    capacity_factor: float,
    skews: Sequence[float],
) -> ExpertStudy:
    """Return every claim about expert parallelism, run.

    Args:
        expert_parallel_size: Devices.
        num_experts: Experts of the switch and gshard layers.
        fine_num_experts: Experts of the deepseek layer, beside one shared.
        fine_top_k: Experts of each of its tokens.
        hidden_size: Width of the residual stream, h.
        expert_ffn_hidden_size: Width inside an expert.
        tokens_per_device: Tokens that each device starts with.
        capacity_factor: Room in an expert over its fair share.
        skews: How unevenly tokens choose, one try each.

    Raises:
        ConfigError: If the sizes cannot be cut so.
    """
    if not skews:
        raise ConfigError("skews is empty; give at least one, such as 0.0")
    sizes: dict[str, Any] = {
        "expert_parallel_size": expert_parallel_size,
        "num_experts": num_experts,
        "hidden_size": hidden_size,
        "expert_ffn_hidden_size": expert_ffn_hidden_size,
        "tokens_per_device": tokens_per_device,
        "capacity_factor": capacity_factor,
    }
    fine = {"num_experts": fine_num_experts, "top_k": fine_top_k, "num_shared_experts": 1}
    kinds: dict[str, dict[str, Any]] = {kind: sizes for kind in ("switch", "gshard")}
    kinds["deepseek"] = sizes | fine
    texts = {
        "switch": "top 1: two all-to-alls each way",
        "gshard": "top 2 with capacity: the same two, larger",
        "deepseek": f"{fine_top_k} of {fine_num_experts} and one shared: the same two",
    }
    claims = [
        tried(texts[kind], expert.mixture(kind=kind, skew=float(skews[-1]), **given))
        for kind, given in kinds.items()
    ]
    routed = [
        Routed(
            kind=kind,
            skew=float(skew),
            num_devices=expert_parallel_size,
            load=expert.load(expert.mixture(kind=kind, skew=float(skew), **given)),
        )
        for kind, given in kinds.items()
        for skew in skews
    ]
    return ExpertStudy(
        claims=claims,
        annotated=tried(claims[0].text, claims[0].block, annotations_only=True),
        routed=routed,
        slices=slices(claims[1].block, VIEWS),
        sent=sent_bytes(claims[1]),
    )
