"""What a search is asked: model, devices, batch, and which choices are open."""

from __future__ import annotations

from dataclasses import dataclass, field

from steptime.evidence.predict import PREDICTORS, default_predictor
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_choice, check_count
from steptime.inputs.layout import PRECISIONS, RECOMPUTE
from steptime.inputs.memory_facts import MemoryFacts
from steptime.inputs.model import ModelShape
from steptime.inputs.schedule_name import check_schedule_name
from steptime.inputs.training_step import check_precision
from steptime.planning.placement import ORDERS, rank_order

MOST_DEVICES = 1_000_000


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
        zero_stages: To try. Stage 2 must be asked for: gradients that stay sharded between
            micro-batches cost messages that the roofline model takes to be hidden.
        sequence_parallel: To try, where tp > 1.
        schedules: To try where stages hold one chunk, or several, as each allows.
        order: Rank order: see `steptime.planning.placement`.
        predictor: baseline or roofline.
        facts: What the software stack keeps in memory.
        hbm_share: Share of the memory that may be used.
    """

    model: ModelShape
    accelerator: Accelerator
    num_devices: int
    global_batch_size: int
    seq_length: int
    precision: str = "bf16"
    micro_batch_sizes: tuple[int, ...] = ()
    recompute: tuple[str, ...] = RECOMPUTE
    zero_stages: tuple[int, ...] = (0, 1, 3)
    sequence_parallel: tuple[bool, ...] = (False, True)
    schedules: tuple[str, ...] = ("1f1b", "interleaved-1f1b")
    order: str = "megatron"
    predictor: str = "baseline"
    facts: MemoryFacts = field(default_factory=MemoryFacts)
    hbm_share: float = 1.0

    def __post_init__(self) -> None:
        check_count("num_gpus", self.num_devices, most=MOST_DEVICES)
        check_count("global_batch_size", self.global_batch_size, most=10**9)
        check_count("seq_length", self.seq_length, most=10**9)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("predictor", self.predictor, PREDICTORS)
        for name in ("recompute", "zero_stages", "sequence_parallel", "schedules"):
            if not getattr(self, name):
                raise ConfigError(f"{name} is empty: give at least one value to try")
        for value in self.recompute:
            check_choice("recompute", value, RECOMPUTE)
        for value in self.schedules:
            check_schedule_name(value)
        for stage in self.zero_stages:
            check_count("zero_stage", stage, least=0, most=3)
        for size in self.micro_batch_sizes:
            check_count("micro_batch_size", size, most=10**6)
        axes = rank_order(self.order)
        check_precision(self.accelerator, self.precision)
        if self.predictor == "baseline" and self.precision not in ("fp16", "bf16"):
            raise ConfigError(
                f"the baseline's one constant was fitted in 16 bits, not {self.precision}; "
                "use --predictor roofline"
            )
        if self.predictor == "roofline":
            if default_predictor(self.accelerator) != "roofline":
                raise ConfigError(
                    f"the roofline model has no measured rate for {self.accelerator.name}; "
                    "use --predictor baseline"
                )
            if axes != ORDERS["megatron"]:
                raise ConfigError(
                    f"the roofline model places ranks as Megatron-LM does, not {self.order!r}; "
                    "use --predictor baseline for another order"
                )
        if not 0.0 < self.hbm_share <= 1.0:
            raise ConfigError(f"hbm_share must be in (0, 1], got {self.hbm_share}")

    def summary(self) -> dict[str, str | int]:
        """Return what was asked as an answer repeats it."""
        return {
            "model": self.model.name,
            "accelerator": self.accelerator.name,
            "num_gpus": self.num_devices,
            "global_batch_size": self.global_batch_size,
            "seq_length": self.seq_length,
            "precision": self.precision,
            "predictor": self.predictor,
        }

    @property
    def data_inside(self) -> float:
        """1.0 where data-parallel ranks are nearer than pipeline ones, else 0.0."""
        axes = rank_order(self.order)
        return float(axes.index("dp") < axes.index("pp"))

    @property
    def memory_limit_bytes(self) -> float:
        """Bytes of a device that may be used."""
        return self.accelerator.hbm_bytes * self.hbm_share
