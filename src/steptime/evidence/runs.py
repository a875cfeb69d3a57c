"""From a published row to the inputs of a model: shape, accelerator, layout, batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steptime.evidence.row_device import device_of
from steptime.evidence.row_gaps import filled
from steptime.evidence.row_shape import shape_of
from steptime.evidence.row_text import (
    precision_of,
    recomputed,
    schedule_name,
    shard_ranks,
    zero_stage,
)
from steptime.evidence.schema import Contradiction, Incomplete, PublishedRow, Unknown
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, not_stated, not_understood
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.job import Job, job
from steptime.inputs.layout import STAGE_FIELDS, Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import check_precision
from steptime.inputs.run_words import is_blank, word_of

__all__ = ["Incomplete", "Run", "device_of", "layout_of", "run_of", "shape_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One published run as inputs.

    Attributes:
        id: Of the row.
        row: The row itself.
        model: Shape of the model.
        accelerator: Device, with the network the row states.
        layout: How the step was cut.
        batch: What it trained on.
        micro_batch_stated: Whether the row gives the micro-batch size.
        vpp_stated: Whether the row gives the chunks per device.
        assumed: A record of each thing that the row does not say, or not in known words.
    """

    id: str
    row: PublishedRow
    model: ModelShape
    accelerator: Accelerator
    layout: Layout
    batch: Batch
    micro_batch_stated: bool
    vpp_stated: bool
    assumed: tuple[Assumed, ...]

    def job(self) -> Job:
        """Return the flat record of the run as it was published."""
        return job(self.model, self.accelerator, self.layout, self.batch)


def _sizes(row: PublishedRow) -> dict[str, int]:
    """Return tp, pp, cp and dp of a row whose sizes multiply up to its devices."""
    for column in ("gpus", "tp", "pp"):
        if getattr(row, column) is None:
            raise Incomplete(f"{column} is not stated")
    tp, pp, cp = row.tp or 1, row.pp or 1, row.cp or 1
    gpus = row.gpus or 1
    if gpus % (tp * pp * cp):
        raise Contradiction(f"tp x pp x cp = {tp * pp * cp} does not divide gpus = {gpus}")
    dp = row.dp or gpus // (tp * pp * cp)
    if dp * tp * pp * cp != gpus:
        raise Contradiction(f"tp x pp x cp x dp = {dp * tp * pp * cp} is not gpus = {gpus}")
    return {"tp": tp, "pp": pp, "cp": cp, "dp": dp}


def _copies(row: PublishedRow, ranks: int) -> int:
    """Return how many copies of what is sharded the ranks of data parallelism hold."""
    sharing = shard_ranks(row.zero) or ranks
    if ranks % sharing:
        raise Contradiction(f"zero {row.zero!r} does not divide dp x cp = {ranks}")
    return ranks // sharing


def layout_of(row: PublishedRow, num_layers: int, assumed: list[Assumed]) -> Layout:
    """Return the layout of a row.

    Args:
        row: The row.
        num_layers: Of its model.
        assumed: Gets a record of each assumption.

    Raises:
        Incomplete: If a size that has no default is blank or the sizes do not multiply up.
    """
    sizes: dict[str, Any] = {name: getattr(row, name) or 1 for name in SIZES} | _sizes(row)
    sizes["dp_replicate"] = row.dp_replicate or _copies(row, sizes["dp"] * sizes["cp"])
    pp, vpp = sizes["pp"], sizes["vpp"]
    recompute = recomputed(row.recompute, num_layers / (pp * vpp))
    precision, _, precision_note = precision_of(row.precision)
    zero, zero_note = zero_stage(row.zero)
    schedule, schedule_note = schedule_name(row.schedule, pp, vpp)
    notes = (recompute.assumed, precision_note, zero_note, schedule_note)
    assumed.extend(note for note in notes if note is not None)
    if row.vpp is None and pp > 1:
        assumed.append(not_stated("vpp", 1))
    stated: dict[str, Any] = {name: getattr(row, name) or 0 for name in STAGE_FIELDS}
    if not is_blank(row.order):
        stated["order"] = row.order
    return Layout(
        **sizes,
        **stated,
        sequence_parallel=row.sp == "y",
        zero_stage=zero,
        recompute=recompute.mode,
        precision=precision,
        schedule=schedule,
    )


def _convention_note(row: PublishedRow) -> Assumed | None:
    """Return a record where the outcome is a rate and nothing known says how its FLOP count."""
    timed = (row.step_time_s, row.tokens_per_s_per_gpu)
    rates = (row.tflops_per_gpu, row.mfu_pct)
    usual = "model FLOP with attention in full"
    if word_of("flop_convention", row.flop_convention) is not None:
        return None
    if not is_blank(row.flop_convention):
        return not_understood("flop_convention", row.flop_convention, usual)
    if timed != (None, None) or rates == (None, None):
        return None
    return not_stated("flop_convention", usual)


def _check_precision(layout: Layout, device: Accelerator) -> None:
    """Refuse products in fewer bits than the device has."""
    # Rows with scales of blocks are read as mxfp8, and such products run on Hopper too.
    precision = "fp8" if layout.precision == "mxfp8" else layout.precision
    try:
        check_precision(device, precision)
    except ConfigError:
        raise Unknown(f"{device.name} has no products in {layout.precision}") from None


def _without_ep(layout: Layout) -> Assumed:
    """Return the record of experts whose spread is not stated, where it can be assumed."""
    if layout.zero_stage != 3 and layout.tp * layout.cp * layout.dp > 1:
        raise Incomplete("ep is not stated beside experts: it sets what each device computes")
    return not_stated("ep", 1)


def run_of(row: PublishedRow) -> Run:
    """Return the inputs of one published row.

    Args:
        row: A checked row.

    Raises:
        Incomplete: With the reason, if the row lacks what every model needs.
    """
    assumed: list[Assumed] = []
    full = filled(row, assumed)
    for column in ("seq_len", "gbs"):
        if getattr(full, column) is None:
            raise Incomplete(f"{column} is not stated")
    _sizes(full)
    try:
        shape = shape_of(full, assumed)
        layout = layout_of(full, shape.num_layers, assumed)
        device = device_of(full, assumed)
        _check_precision(layout, device)
        if full.mbs is None:
            assumed.append(not_stated("mbs", 1))
        if shape.experts and full.ep is None:
            assumed.append(_without_ep(layout))
        if (note := _convention_note(full)) is not None:
            assumed.append(note)
        batch = Batch(
            global_batch_size=full.gbs or 1,
            seq_length=full.seq_len or 1,
            micro_batch_size=full.mbs or 1,
        )
        run = Run(
            id=row.id,
            row=row,
            model=shape,
            accelerator=device,
            layout=layout,
            batch=batch,
            micro_batch_stated=full.mbs is not None,
            vpp_stated=full.vpp is not None or layout.pp == 1,
            assumed=tuple(assumed),
        )
        run.job()
    except Incomplete:
        raise
    except ConfigError as error:
        raise Contradiction(str(error)) from None
    return run
