"""What a search is asked: model, devices, batch, and which choices are open."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.answer.known import Known, check_order, default_predictor, known_of
from steptime.answer.predictor import PREDICTORS
from steptime.inputs.ability import Limit, ability_of
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import RooflineConstants, check_constants
from steptime.inputs.errors import ConfigError, check_choice, check_count, check_number
from steptime.inputs.face import FITS_WITH
from steptime.inputs.fields import SIZES
from steptime.inputs.habits import sharding, zero_stages
from steptime.inputs.in_number import counted
from steptime.inputs.layout import (
    PRECISIONS,
    RECOMPUTE,
    SCHEDULES,
    STAGE_FIELDS,
    Batch,
    Layout,
    rule_of_dense,
)
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import check_precision
from steptime.inputs.said import NOTHING_SAID, Said, in_its_time
from steptime.inputs.schedule_name import check_schedule_name
from steptime.inputs.training_step import TrainingStep
from steptime.inputs.usual import network_taken

MOST_DEVICES = 1_000_000
TRIED_SCHEDULES = ("1f1b", "interleaved-1f1b")
TRIED_SEQUENCE = (False, True)
TRIED_ZERO = (0, 1, 3)
"""Stage 2 must be asked for: with it gradients are scattered after each micro-batch, which the
roofline model takes to be hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which layout for this model, on these devices, with this batch?

    Attributes:
        model: The shape.
        accelerator: Device and links.
        num_devices: Devices in the job, n.
        global_batch_size: Sequences per step, B.
        seq_length: Tokens per sequence, s.
        precision: Of the matrix products.
        micro_batch_sizes: To try; empty for powers of two up to 64.
        recompute: To try.
        zero_stages: To try; empty for those of ``TRIED_ZERO`` that the software has.
        sequence_parallel: To try, where tp > 1.
        schedules: To try where stages hold one chunk, or several, as each allows; empty for those
            of ``TRIED_SCHEDULES`` that the software runs, or all of its own if none.
        pinned: Sizes that may take some values alone, by name of ``SIZES``: what the software
            does not cut by is 1 unless it is named. Copies of what is sharded are tried where
            they are named, and divide dp.
        beyond: Fields of the layout by which it may be more than the named software runs.
        order: Rank order: see `steptime.inputs.rank_order`.
        first_stage_layers: Of every layout; 0 for the software's cut, and the best split of the
            leading layouts beside it.
        last_stage_layers: The same of the last rank.
        predictor: A name of ``PREDICTORS``; the better one that knows the device if None.
        predictor_taken: Whether nobody named it: found out here.
        said: What is said of the software.
        constants: Of the roofline model; the published ones if None.
        hbm_share: Share of the memory that may be used.
        fits_with: Chance to fit that a layout must have, where peaks tell it; 0 for any.
    """

    model: ModelShape
    accelerator: Accelerator
    num_devices: int
    global_batch_size: int
    seq_length: int
    precision: str = "bf16"
    micro_batch_sizes: tuple[int, ...] = ()
    recompute: tuple[str, ...] = RECOMPUTE
    zero_stages: tuple[int, ...] = ()
    sequence_parallel: tuple[bool, ...] = TRIED_SEQUENCE
    schedules: tuple[str, ...] = ()
    pinned: tuple[tuple[str, tuple[int, ...]], ...] = ()
    beyond: tuple[str, ...] = ()
    order: str = "megatron"
    first_stage_layers: int = 0
    last_stage_layers: int = 0
    predictor: str | None = None
    predictor_taken: bool = False
    said: Said = NOTHING_SAID
    constants: RooflineConstants | None = None
    hbm_share: float = 1.0
    fits_with: float = FITS_WITH

    def __post_init__(self) -> None:
        check_count("num_gpus", self.num_devices, most=MOST_DEVICES)
        check_count("global_batch_size", self.global_batch_size, most=10**9)
        check_count("seq_length", self.seq_length, most=10**9)
        check_choice("precision", self.precision, PRECISIONS)
        if self.predictor is None:
            object.__setattr__(self, "predictor_taken", True)
        name = self.predictor or default_predictor(self.accelerator)
        object.__setattr__(self, "predictor", check_choice("predictor", name, PREDICTORS))
        said = sharding(self.said.without_nobody, self.accelerator, *self.zero_stages)
        object.__setattr__(self, "said", said)
        if not self.zero_stages:
            era = in_its_time(said, self.accelerator)
            object.__setattr__(self, "zero_stages", zero_stages(era, TRIED_ZERO))
        self._keep_to_software()
        for field in ("recompute", "sequence_parallel", "schedules"):
            if not getattr(self, field):
                raise ConfigError(f"{field} is empty: give at least one value to try")
        for value in self.recompute:
            check_choice("recompute", value, RECOMPUTE)
        for value in self.schedules:
            check_schedule_name(value)
        for size in self.micro_batch_sizes:
            check_count("micro_batch_size", size, most=10**6)
        for field in STAGE_FIELDS:
            check_count(field, getattr(self, field), least=0, most=10**7)
        self._check_pinned()
        check_precision(self.accelerator, self.precision)
        check_order(self.order, name)
        check_constants(self.constants)
        check_number("memory_share", self.hbm_share, most=1.0)
        if check_number("fits_with", self.fits_with, above=-1e-300) >= 1.0:
            raise ConfigError(f"fits_with must be in [0, 1), such as 0.9, got {self.fits_with}")
        self.known()

    def _keep_to_software(self) -> None:
        """Leave out what the named software does not run and nobody asks for by name."""
        runs, named = ability_of(self.said).without(self.beyond), dict(self.pinned)
        chunks = all(runs.runs("vpp", size) for size in named.get("vpp", ()))
        if not (chunks and all(runs.runs("schedule", name) for name in self.schedules)):
            # Chunks and schedule go together: who names one beyond the software opens the other.
            runs = runs.without(("vpp", "schedule"))
        if not self.schedules:
            tried = [name for name in TRIED_SCHEDULES if runs.runs("schedule", name)]
            every = (name for name in SCHEDULES if runs.runs("schedule", name))
            object.__setattr__(self, "schedules", tuple(tried or every))
        for name, usual in (("recompute", RECOMPUTE), ("sequence_parallel", TRIED_SEQUENCE)):
            if getattr(self, name) == usual:
                object.__setattr__(self, name, tuple(one for one in usual if runs.runs(name, one)))
        more = {name: most for name, most in runs.most().items() if name in SIZES}
        kept = ((name, tuple(range(1, most + 1))) for name, most in more.items())
        held = (*self.pinned, *(one for one in kept if one[0] not in named))
        object.__setattr__(self, "pinned", held)

    def limits_beside(self) -> tuple[Limit, ...]:
        """Return what the named software does not run beside some sizes.

        A limit that all of what is tried breaks was asked for by name.
        """
        runs = ability_of(self.said).without(self.beyond)
        tried = {"zero_stage": self.zero_stages, "sequence_parallel": self.sequence_parallel}
        return tuple(
            limit
            for limit in runs.beside()
            if limit.counts or any(map(limit.allows, tried.get(limit.of, ())))
        )

    def _check_pinned(self) -> None:
        for name, sizes in self.pinned:
            check_choice("pinned size", name, SIZES)
            for size in sizes:
                check_count(name, size, most=10**7)
            experts = self.model.experts.num_experts if self.model.experts else 1
            rule = rule_of_dense(name) if self.model.experts is None else None
            if rule is not None and min(sizes) > 1:
                asked = {name: ", ".join(map(str, sizes)), "name": self.model.name, "nearest": 1}
                raise ConfigError(rule.sentence.format(**asked))
            if name == "ep" and all(experts % size for size in sizes):
                shown = ", ".join(map(str, sizes))
                raise ConfigError(f"ep={shown} does not divide num_experts={experts}")
            takes_devices = name in ("tp", "cp", "pp", "dp")
            if takes_devices and all(self.num_devices % size for size in sizes):
                shown = ", ".join(map(str, sizes))
                gpus = counted(self.num_devices, "GPUs")
                raise ConfigError(f"{name}={shown} does not divide the {gpus}")

    def allows(self, name: str, size: int) -> bool:
        """Return whether a size may be tried: any may where its name is not pinned.

        Args:
            name: Of ``SIZES``.
            size: Its value.
        """
        return all(size in sizes for pinned, sizes in self.pinned if pinned == name)

    def sizes(self, name: str) -> tuple[int, ...]:
        """Return the values that a size is pinned to; none where it is free.

        Args:
            name: Of ``SIZES``.
        """
        return dict(self.pinned).get(name, ())

    @property
    def stated_ends(self) -> dict[str, int]:
        """Return the layers of both ends of the pipeline, where any are stated."""
        given = {name: int(getattr(self, name)) for name in STAGE_FIELDS}
        return given if any(given.values()) else {}

    def known(self) -> Known:
        """Return all that goes into the formulas beside the layout.

        Raises:
            ConfigError: If the model says nothing of this device or precision.
        """
        return known_of(
            self.model,
            self.accelerator,
            self.precision,
            self.said,
            self.predictor,
            self.constants,
        )

    def step(self, layout: Layout, batch: Batch) -> TrainingStep:
        """Return one layout of the question as the training step that it is.

        Args:
            layout: How it is cut.
            batch: What it trains on.
        """
        return TrainingStep(
            model=self.model,
            accelerator=self.accelerator,
            layout=layout,
            batch=batch,
            said=self.said,
            assumed=network_taken(self.accelerator, layout.num_devices),
        )

    def summary(self) -> dict[str, str | int]:
        """Return what was asked as an answer repeats it."""
        return {
            "model": self.model.name,
            "accelerator": self.accelerator.name,
            "num_gpus": self.num_devices,
            "global_batch_size": self.global_batch_size,
            "seq_length": self.seq_length,
            "precision": self.precision,
            "predictor": str(self.predictor),
        }

    @property
    def memory_limit_bytes(self) -> float:
        """Bytes of a device that may be used."""
        return self.accelerator.hbm_bytes * self.hbm_share

    @property
    def fitting_bytes(self) -> float:
        """Bytes that a layout may be counted to need: such layouts fit with the chance asked."""
        sure = self.known().fitting_bytes(self.fits_with, self.accelerator.hbm_bytes)
        return min(self.memory_limit_bytes, sure)
