"""From a published row to the inputs of a model: shape, accelerator, layout, batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from steptime.evidence.row_text import (
    head_dim,
    network_bytes_per_s,
    precision_mode,
    recompute_mode,
    schedule_name,
    tied_embeddings,
    zero_stage,
)
from steptime.evidence.schema import PublishedRow
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import Job, job
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import Experts, ModelShape
from steptime.inputs.presets import accelerator, model


class Incomplete(ConfigError):
    """A row that lacks something a model needs: it is skipped, with this reason."""


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
        assumed: A sentence for each thing the row does not say.
    """

    id: str
    row: PublishedRow
    model: ModelShape
    accelerator: Accelerator
    layout: Layout
    batch: Batch
    micro_batch_stated: bool
    vpp_stated: bool
    assumed: tuple[str, ...]

    def job(self) -> Job:
        """Return the flat record of the run as it was published."""
        return job(self.model, self.accelerator, self.layout, self.batch)


def _known(name: str) -> ModelShape | None:
    try:
        return model(name.split(" (")[0])
    except ConfigError:
        return None


def shape_of(row: PublishedRow, assumed: list[str]) -> ModelShape:
    """Return the model shape of a row; what it lacks comes from the preset of that name.

    Args:
        row: The row.
        assumed: Gets a sentence for each assumption.

    Raises:
        Incomplete: If a size is blank and no preset has the name.
    """
    known = _known(row.model)
    if row.layers is None and known is not None:
        assumed.append(f"model: sizes of the preset {known.name}")
        return known
    for column in ("layers", "hidden", "heads", "ffn", "vocab"):
        if getattr(row, column) is None:
            raise Incomplete(f"{column} is not stated, and no preset is called {row.model!r}")
    gated = row.gated_mlp == "y"
    tied = tied_embeddings(row.tied, row.notes)
    if tied is None:
        tied = known.tied if known else not gated
        if known is None:
            assumed.append(f"tied: not stated, {'yes' if tied else 'no'} assumed")
    width = row.head_dim or head_dim(row.model) or (known.head_dim if known else 0)
    experts = _experts_of(row, assumed)
    fields: dict[str, Any] = {
        "name": row.model,
        "num_layers": row.layers,
        "hidden_size": row.hidden,
        "ffn_hidden_size": row.ffn,
        "num_attention_heads": row.heads,
        "num_query_groups": row.kv_heads or row.heads,
        "vocab_size": row.vocab,
        "head_dim": width,
        "gated": gated,
        "tied": tied,
        "experts": experts,
        "source": f"{row.source}, {row.location}",
    }
    if known is not None:
        return replace(known, **fields)
    if "MLA" in row.model:
        raise Incomplete("latent attention of a model that is no preset: its ranks are not stated")
    return ModelShape(**fields)


def _experts_of(row: PublishedRow, assumed: list[str]) -> Experts | None:
    if row.moe_experts is None:
        return None
    if row.moe_topk is None or row.moe_expert_ffn is None:
        raise Incomplete("moe_topk or moe_expert_ffn is not stated")
    for column in ("moe_shared", "moe_dense_layers"):
        if getattr(row, column) is None:
            assumed.append(f"{column}: not stated, 0 assumed")
    return Experts(
        num_experts=row.moe_experts,
        top_k=row.moe_topk,
        expert_ffn_hidden_size=row.moe_expert_ffn,
        num_shared_experts=row.moe_shared or 0,
        num_dense_layers=row.moe_dense_layers or 0,
    )


def device_of(row: PublishedRow, assumed: list[str]) -> Accelerator:
    """Return the accelerator of a row with the network that the row states.

    Args:
        row: The row.
        assumed: Gets a sentence if the network is not stated.

    Raises:
        Incomplete: If the accelerator is unknown.
    """
    try:
        device = accelerator(row.gpu)
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    stated = network_bytes_per_s(row.network)
    if stated:
        return replace(device, network_bytes_per_s=stated)
    nodes = -(-(row.gpus or 1) // device.nvlink_domain)
    if nodes > 1:
        gbit = device.network_bytes_per_s * 8 / 1e9
        assumed.append(f"network: not stated, {gbit:g} Gb/s per GPU assumed")
    return device


def layout_of(row: PublishedRow, assumed: list[str]) -> Layout:
    """Return the layout of a row.

    Args:
        row: The row.
        assumed: Gets a sentence for each assumption.

    Raises:
        Incomplete: If a size that has no default is blank or the sizes do not multiply up.
    """
    for column in ("gpus", "tp", "pp"):
        if getattr(row, column) is None:
            raise Incomplete(f"{column} is not stated")
    tp, pp, cp = row.tp or 1, row.pp or 1, row.cp or 1
    gpus = row.gpus or 1
    if gpus % (tp * pp * cp):
        raise Incomplete(f"tp x pp x cp = {tp * pp * cp} does not divide gpus = {gpus}")
    dp = row.dp or gpus // (tp * pp * cp)
    if dp * tp * pp * cp != gpus:
        raise Incomplete(f"tp x pp x cp x dp = {dp * tp * pp * cp} is not gpus = {gpus}")
    recompute, recompute_note = recompute_mode(row.recompute)
    precision, precision_note = precision_mode(row.precision)
    zero, zero_note = zero_stage(row.zero)
    schedule, schedule_note = schedule_name(row.schedule, pp, row.vpp or 1)
    notes = (recompute_note, precision_note, zero_note, schedule_note)
    assumed.extend(note for note in notes if note)
    if row.vpp is None and pp > 1:
        assumed.append("vpp: not stated, 1 assumed")
    return Layout(
        tp=tp,
        cp=cp,
        pp=pp,
        vpp=row.vpp or 1,
        dp=dp,
        ep=row.ep or 1,
        etp=row.etp or 1,
        sequence_parallel=row.sp == "y",
        zero_stage=zero,
        recompute=recompute,
        precision=precision,
        schedule=schedule,
    )


def run_of(row: PublishedRow) -> Run:
    """Return the inputs of one published row.

    Args:
        row: A checked row.

    Raises:
        Incomplete: With the reason, if the row lacks what every model needs.
    """
    assumed: list[str] = []
    for column in ("seq_len", "gbs"):
        if getattr(row, column) is None:
            raise Incomplete(f"{column} is not stated")
    layout = layout_of(row, assumed)
    if row.mbs is None:
        assumed.append("mbs: not stated, 1 assumed")
    batch = Batch(
        global_batch_size=row.gbs or 1,
        seq_length=row.seq_len or 1,
        micro_batch_size=row.mbs or 1,
    )
    try:
        run = Run(
            id=row.id,
            row=row,
            model=shape_of(row, assumed),
            accelerator=device_of(row, assumed),
            layout=layout,
            batch=batch,
            micro_batch_stated=row.mbs is not None,
            vpp_stated=row.vpp is not None or layout.pp == 1,
            assumed=tuple(assumed),
        )
        run.job()
    except Incomplete:
        raise
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    return run
