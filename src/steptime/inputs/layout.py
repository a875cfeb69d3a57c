"""How a training step is cut: the layout, the batch, and the facts of the software stack."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from steptime.formulas.schedule import SCHEDULES as SCHEDULES
from steptime.formulas.validity import layout_fault, nearest_multiple
from steptime.inputs.errors import ConfigError, check_choice, check_count, check_counts
from steptime.inputs.fields import SIZES
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import PRECISIONS as PRECISIONS
from steptime.inputs.rank_order import rank_order
from steptime.inputs.schedule_name import check_schedule_name

RECOMPUTE = ("none", "selective", "full")
STAGE_FIELDS = ("first_stage_layers", "last_stage_layers")
"""Layers of an end of the pipeline, where they are stated."""
BATCH_FIELDS = ("global_batch_size", "seq_length", "micro_batch_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How devices share one training step.

    ``ep`` does not multiply the device count: experts are spread over ranks that
    are already there (data- and context-parallel ones, tensor ones too where ``etp`` is
    below ``tp``).

    Attributes:
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        pp: Pipeline stages, p.
        vpp: Model chunks a device holds, v.
        dp: Data-parallel size, d.
        dp_replicate: Copies of what is sharded, r: data-parallel ranks fall into r groups, each
            of which shards among itself (HSDP); 1 where all of them share.
        ep: Expert-parallel size.
        etp: Tensor-parallel size inside an expert.
        sequence_parallel: Whether norms and dropout are split along the sequence over ``tp``.
        zero_stage: 0 nothing sharded over data-parallel ranks, 1 optimizer states,
            2 gradients too, 3 weights too (FSDP).
        recompute: none, selective (the attention core) or full.
        precision: fp16, bf16, fp8, mxfp8 or nvfp4 matrix products.
        schedule: A name from ``SCHEDULES``.
        order: Which ranks are nearest: see `steptime.inputs.rank_order`.
        first_stage_layers: Layers of the first pipeline rank, all its chunks together; 0 where
            layers are cut as the software cuts them.
        last_stage_layers: The same of the last rank.
    """

    tp: int = 1
    cp: int = 1
    pp: int = 1
    vpp: int = 1
    dp: int = 1
    dp_replicate: int = 1
    ep: int = 1
    etp: int = 1
    sequence_parallel: bool = False
    zero_stage: int = 0
    recompute: str = "none"
    precision: str = "bf16"
    schedule: str = "1f1b"
    order: str = "megatron"
    first_stage_layers: int = 0
    last_stage_layers: int = 0

    def __post_init__(self) -> None:
        check_counts(self, SIZES, most=10**7)
        check_count("zero_stage", self.zero_stage, least=0, most=3)
        cut = self.sequence_parallel
        if not isinstance(cut, bool):
            raise ConfigError(f"sequence_parallel must be True or False, got {cut!r:.80}")
        check_choice("recompute", self.recompute, RECOMPUTE)
        check_choice("precision", self.precision, PRECISIONS)
        check_schedule_name(self.schedule)
        rank_order(self.order)
        check_counts(self, STAGE_FIELDS, least=0, most=10**7)

    @property
    def expert_ranks(self) -> int:
        """Ranks that hold all experts of a layer once."""
        return self.ep * self.etp

    @property
    def shards(self) -> int:
        """Data-parallel ranks that share one copy of what is sharded."""
        return self.dp // self.dp_replicate

    @property
    def idle(self) -> dict[str, str]:
        """Each field that is set and counts for nothing, with why."""
        found = {}
        if self.dp_replicate > 1 and self.zero_stage == 0:
            found["dp_replicate"] = "copies of what is sharded, and ZeRO-0 shards nothing"
        if self.sequence_parallel and self.tp == 1:
            found["sequence_parallel"] = "tensor ranks split the sequence, and there is one"
        if self.schedule != "1f1b" and self.pp == 1:
            found["schedule"] = "it orders the stages of a pipeline, and there is one"
        return found

    @property
    def num_devices(self) -> int:
        """Devices in the job: t c p d."""
        return self.tp * self.cp * self.pp * self.dp


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one step trains on.

    Attributes:
        global_batch_size: Sequences per step, B.
        micro_batch_size: Sequences per micro-batch, b.
        seq_length: Tokens per sequence, s.
    """

    global_batch_size: int
    seq_length: int
    micro_batch_size: int = 1

    def __post_init__(self) -> None:
        check_counts(self, BATCH_FIELDS, most=10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of `steptime.formulas.validity`: what it is about, and how it is said.

    Attributes:
        field: To blame.
        sentence: For one layout, with its values and the nearest that would do.
        short: For many layouts that fell out of a search.
    """

    field: str
    sentence: str
    short: str


DENSE = "the model is dense"
RULES = (
    Rule(
        field="global_batch_size",
        sentence="global_batch_size={global_batch_size} does not divide into dp={dp} ranks x "
        "micro_batch_size={micro_batch_size}; the nearest that does is {nearest}",
        short="does not divide into dp x micro_batch_size",
    ),
    Rule(
        field="pp",
        sentence="pp={pp} is over num_layers={num_layers} of {name}; use pp <= {nearest}",
        short="more stages than layers",
    ),
    Rule(
        field="vpp",
        sentence="vpp={vpp} leaves chunks without a layer: {num_layers} layers over pp={pp} "
        "allow vpp <= {nearest}",
        short="chunks without a layer",
    ),
    Rule(
        field="tp",
        sentence="tp={tp} does not divide the {num_attention_heads} attention heads of {name}; "
        "the largest below that does is {nearest}",
        short="does not divide the attention heads",
    ),
    Rule(
        field="cp",
        sentence="cp={cp} does not divide seq_length={seq_length}; "
        "the largest below that does is {nearest}",
        short="does not divide the sequence",
    ),
    Rule(
        field="ep",
        sentence="ep={ep} needs experts, and {name} is dense; use ep={nearest}",
        short=DENSE,
    ),
    Rule(
        field="ep",
        sentence="ep={ep} does not divide num_experts={num_experts}; "
        "the largest below that does is {nearest}",
        short="does not divide the experts",
    ),
    Rule(
        field="ep",
        sentence="ep={ep} x etp={etp} does not divide the {group} ranks (tp x cp x dp) of a "
        "pipeline stage; the largest below that does is {nearest}",
        short="times etp does not divide the ranks of a stage",
    ),
    Rule(
        field="dp_replicate",
        sentence="dp_replicate={dp_replicate} does not divide dp={dp}; "
        "the largest below that does is {nearest}",
        short="does not divide dp",
    ),
    Rule(
        field="first_stage_layers",
        sentence="first_stage_layers={first_stage_layers} and last_stage_layers="
        "{last_stage_layers} (0: not stated) do not cut {num_layers} layers over pp={pp} stages: "
        "each of the others needs a layer, and none may be left over; use {nearest} for both to "
        "cut evenly",
        short="no layer for a stage between the ends, or one left over",
    ),
    Rule(
        field="etp",
        sentence="etp={etp} needs experts, and {name} is dense; use etp={nearest}",
        short=DENSE,
    ),
)
"""Of each rule of `steptime.formulas.validity`, from rule 1 on. The layout page says the same."""


def rule_of_dense(field: str) -> Rule | None:
    """Return the rule that refuses a size above 1 of a model without experts; None for others.

    Args:
        field: Of a layout.
    """
    return next((rule for rule in RULES if (rule.field, rule.short) == (field, DENSE)), None)


def num_microbatches(layout: Layout, batch: Batch) -> int:
    """Return the micro-batches that one data-parallel rank runs in a step, m = B / (d b).

    Args:
        layout: Gives the data-parallel size.
        batch: Gives the batch and micro-batch sizes.

    Raises:
        ConfigError: If the batch does not divide.
    """
    ranks = layout.dp * batch.micro_batch_size
    if batch.global_batch_size % ranks:
        near = int(nearest_multiple(float(batch.global_batch_size), float(ranks)))
        raise ConfigError(
            RULES[0].sentence.format(
                global_batch_size=batch.global_batch_size,
                dp=layout.dp,
                micro_batch_size=batch.micro_batch_size,
                nearest=near,
            )
        )
    return batch.global_batch_size // ranks


def check_layout(model: ModelShape, layout: Layout, batch: Batch) -> None:
    """Refuse a layout that the model or the batch cannot be cut into.

    Args:
        model: The shape to cut.
        layout: How to cut it.
        batch: What the step trains on.

    Raises:
        ConfigError: With the value that does not fit and one that would.
    """
    counts = {
        "num_layers": model.num_layers,
        "num_attention_heads": model.num_attention_heads,
        "num_experts": model.experts.num_experts if model.experts else 0,
        "seq_length": batch.seq_length,
        "global_batch_size": batch.global_batch_size,
        "micro_batch_size": batch.micro_batch_size,
        **{field: getattr(layout, field) for field in STAGE_FIELDS},
    }
    _check_counts(model.name, layout, counts)


def check_ranks(layout: Layout) -> None:
    """Refuse sizes by which no model could be cut: experts and copies that leave ranks over.

    Args:
        layout: How ranks are shared out.

    Raises:
        ConfigError: With the value that does not fit and one that would.
    """
    counts = {
        "num_layers": layout.pp * layout.vpp,
        "num_attention_heads": layout.tp,
        "num_experts": layout.ep if layout.ep * layout.etp > 1 else 0,
        "seq_length": layout.cp,
        "global_batch_size": layout.dp,
        "micro_batch_size": 1,
        **dict.fromkeys(STAGE_FIELDS, 0),
    }
    _check_counts("the model", layout, counts)


def _check_counts(name: str, layout: Layout, counts: dict[str, int]) -> None:
    counts |= {size: getattr(layout, size) for size in SIZES}
    # Rules read counts alone: no device is needed to check a layout.
    record: Any = SimpleNamespace(**{key: float(value) for key, value in counts.items()})
    fault = layout_fault(record)
    if fault["rule"]:
        group = layout.tp * layout.cp * layout.dp
        sentence, nearest = RULES[int(fault["rule"]) - 1].sentence, int(fault["nearest"])
        raise ConfigError(sentence.format(name=name, group=group, nearest=nearest, **counts))
