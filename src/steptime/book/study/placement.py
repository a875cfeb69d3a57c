"""§19: the same jobs on racks and on servers, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steptime.answer import Question, answer
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.training_step import TrainingStep
from steptime.planning.placement import Placement, place

ACCELERATOR = "gb200"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A job to place.

    Attributes:
        name: What to call it.
        model: Preset.
        layout: How it is cut.
        batch: What it trains on.
    """

    name: str
    model: str
    layout: Layout
    batch: Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A job in one rank order, on each kind of domain.

    Attributes:
        example: The job.
        order: megatron or llama3.
        placements: By GPUs in a domain.
        step_s: Step time on each, every group on the link it crosses.
    """

    example: Example
    order: str
    placements: dict[int, Placement]
    step_s: dict[int, float]

    @property
    def gain_fraction(self) -> float:
        """Time that the larger domain saves."""
        small, large = min(self.step_s), max(self.step_s)
        return 1.0 - self.step_s[large] / self.step_s[small]


EXAMPLES = (
    Example(
        name="175B, 8 x 16 x 9",
        model="gpt3-175b",
        layout=Layout(tp=8, pp=16, vpp=6, dp=9),
        batch=Batch(global_batch_size=1440, seq_length=2048),
    ),
    Example(
        name="405B, 8 x 16 x 64",
        model="llama3-405b",
        layout=Layout(tp=8, pp=16, vpp=8, dp=64),
        batch=Batch(global_batch_size=2048, seq_length=8192),
    ),
    Example(
        name="405B, 8 x 9 x 64",
        model="llama3-405b",
        layout=Layout(tp=8, pp=9, vpp=7, dp=64),
        batch=Batch(global_batch_size=1152, seq_length=8192),
    ),
    Example(
        name="405B, 8 x 16 x 16 x 8, 131,072 tokens",
        model="llama3-405b",
        layout=Layout(tp=8, cp=16, pp=16, vpp=8, dp=8),
        batch=Batch(global_batch_size=128, seq_length=131072),
    ),
    Example(
        name="70B, 16 x 4 x 9",
        model="llama3-70b",
        layout=Layout(tp=16, pp=4, vpp=5, dp=9),
        batch=Batch(global_batch_size=576, seq_length=8192),
    ),
    Example(
        name="671B, 1 x 16 x 64, 64 experts' ranks",
        model="deepseek-v3",
        layout=Layout(pp=16, dp=64, ep=64, zero_stage=1),
        batch=Batch(global_batch_size=4096, seq_length=4096),
    ),
)


def placed(example: Example, order: str, domains: Sequence[int]) -> Placed:
    """Return a job in one order on each kind of domain.

    Args:
        example: The job.
        order: A name of `steptime.inputs.rank_order.ORDERS`.
        domains: GPUs in an NVLink domain.
    """
    layout = replace(example.layout, order=order)
    device, shape = accelerator(ACCELERATOR), model(example.model)
    times = {}
    for size in domains:
        step = TrainingStep(
            model=shape,
            accelerator=replace(device, nvlink_domain=size),
            layout=layout,
            batch=example.batch,
        )
        times[size] = answer(Question(step=step, predictor="baseline")).step_time_s
    return Placed(
        example=example,
        order=order,
        placements={size: place(example.layout, domain_size=size, order=order) for size in domains},
        step_s=times,
    )


def placement_study(*, domains: Sequence[int], orders: Sequence[str]) -> list[Placed]:
    """Return every job in every order on every kind of domain.

    Args:
        domains: GPUs in an NVLink domain.
        orders: Names of rank orders.
    """
    return [placed(example, order, domains) for example in EXAMPLES for order in orders]


def named(study: Sequence[Placed], start: str, order: str) -> Placed:
    """Return the job whose name starts with ``start``, in one order.

    Args:
        study: All jobs.
        start: Start of its name.
        order: The rank order.
    """
    return next(one for one in study if one.example.name.startswith(start) and one.order == order)


def in_order(study: Sequence[Placed], order: str) -> list[Placed]:
    """Return the jobs of one rank order.

    Args:
        study: All jobs.
        order: The rank order.
    """
    return [one for one in study if one.order == order]
