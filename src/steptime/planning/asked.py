"""A search, asked by name: what the commands and Python share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from steptime.answer.known import WITHOUT_RATES, default_predictor
from steptime.answer.predictor import PREDICTORS
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.fact import Value
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_word
from steptime.inputs.rank_order import ORDERS, rank_order
from steptime.inputs.said import Said
from steptime.inputs.signed import called_like, checked_names
from steptime.inputs.training_step import device_named, shape_named
from steptime.planning.question import FITS_WITH, PINNED, Question
from steptime.planning.result import SearchResult
from steptime.planning.search import search as search_of

KEPT = 1000
EVERY = "all"
Tried = int | Iterable[int] | None
One = TypeVar("One", int, str, bool)


def several(value: One | Iterable[One] | None) -> tuple[One, ...]:
    """Return what a search shall try, given as one value, several, or none.

    Args:
        value: As it came in.
    """
    if value is None:
        return ()
    if isinstance(value, (str, int)):
        return (value,)
    return tuple(dict.fromkeys(value))


def _predictor(device: Accelerator, order: str) -> str:
    """Return the better model that knows a device and the order of its ranks."""
    name = default_predictor(device)
    known = PREDICTORS[name].any_order or rank_order(order) == ORDERS["megatron"]
    return name if known else WITHOUT_RATES


@checked_names
def search_question(
    *,
    model: str | Path | ModelShape,
    accelerator: str | Path | Accelerator,
    num_gpus: int,
    seq_length: int,
    global_batch_size: int,
    micro_batch_size: Tried = None,
    tp: Tried = None,
    cp: Tried = None,
    pp: Tried = None,
    vpp: Tried = None,
    dp: Tried = None,
    dp_replicate: Tried = None,
    ep: Tried = None,
    etp: Tried = None,
    sequence_parallel: bool | None = None,
    zero_stage: Tried = None,
    recompute: str | Iterable[str] | None = None,
    precision: str = "bf16",
    schedule: str | Iterable[str] | None = None,
    order: str = "megatron",
    nvlink_domain: int | None = None,
    network_gbit: float | None = None,
    stack: str | None = None,
    date: str | None = None,
    facts: Mapping[str, Value] | None = None,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
    memory_share: float = 1.0,
    fits_with: float = FITS_WITH,
) -> Question:
    """Return a checked question: which layout for this model, on these devices?

    Args:
        model: Preset name, file, or shape.
        accelerator: Preset name, file, or accelerator.
        num_gpus: Devices in the job.
        seq_length: Tokens per sequence.
        global_batch_size: Sequences per step.
        micro_batch_size: To try; powers of two up to 64 if None.
        tp: Tensor-parallel sizes to try; all if None, as of the next ones.
        cp: Context-parallel sizes to try.
        pp: Pipeline stages to try.
        vpp: Model chunks a device to try.
        dp: Data-parallel sizes to try.
        dp_replicate: Copies of what is sharded, to try; 1 if None.
        ep: Expert-parallel sizes to try.
        etp: Tensor-parallel sizes inside an expert to try.
        sequence_parallel: Try this alone; both if None.
        zero_stage: To try; 0, 1 and 3 where the software has them if None.
        recompute: To try; none, selective and full if None.
        precision: bf16, fp16, fp8, mxfp8 or nvfp4.
        schedule: To try, or ``"all"``; 1f1b and interleaved-1f1b if None.
        order: Rank order.
        nvlink_domain: Devices joined by NVLink; as the accelerator is built if None.
        network_gbit: Gb/s of a device's share of the network; as in its row if None.
        stack: Software: an exact name of ``data/stacks.toml``, or a family.
        date: Month in which the software was current, as ``2025-02``.
        facts: Single facts of the software, by name.
        predictor: The better one that knows the device and the order if None.
        constants: Of the roofline model; the published ones if None.
        memory_share: Share of the memory that may be used.
        fits_with: Chance to fit that a layout must have; 0 for any whose counted bytes fit.

    Raises:
        ConfigError: If an input cannot be used.
    """
    given = locals()
    device = device_named(accelerator, nvlink_domain, network_gbit)
    every = several(schedule)
    lists: dict[str, Any] = {
        "recompute": several(recompute),
        "dp_replicates": several(dp_replicate),
        "sequence_parallel": several(sequence_parallel),
        "schedules": SCHEDULES if EVERY in every else every,
    }
    pinned = ((name, several(given[name])) for name in PINNED)
    return Question(
        model=shape_named(model),
        accelerator=device,
        num_devices=num_gpus,
        global_batch_size=global_batch_size,
        seq_length=seq_length,
        precision=precision_word(precision),
        micro_batch_sizes=several(micro_batch_size),
        zero_stages=several(zero_stage),
        pinned=tuple((name, sizes) for name, sizes in pinned if sizes),
        order=order,
        predictor=predictor or _predictor(device, order),
        said=Said(stack=stack, date=date, facts=tuple((facts or {}).items())),
        constants=constants,
        hbm_share=memory_share,
        fits_with=fits_with,
        **{name: values for name, values in lists.items() if values},
    )


@called_like(search_question)
def search(**inputs: Any) -> SearchResult:
    """Return the best layouts of a model on some devices, what ties, and why the rest fall out.

    Args:
        **inputs: As in `search_question`.

    Raises:
        ConfigError: If an input cannot be used.

    Example:
        >>> import steptime
        >>> found = steptime.search(
        ...     model="llama3-8b", accelerator="h100", num_gpus=16, tp=(1, 2), cp=1,
        ...     seq_length=8192, global_batch_size=64,
        ... )
        >>> found.best[0].layout.num_devices, found.best[0].layout.tp in (1, 2)
        (16, True)
    """
    return search_of(search_question(**inputs), keep=KEPT)
