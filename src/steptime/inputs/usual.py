"""What a training step does where nobody says it: each choice that is taken says so."""

from __future__ import annotations

from steptime.formulas.schedule_rules import chunks_held
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.errors import check_count
from steptime.inputs.habits import check_zero_stage, usual_recompute, usual_stack, usual_zero_stage
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.model import ModelShape
from steptime.inputs.said import Said

NO_RECOMPUTATION = "none"
USUAL_SCHEDULE, USUAL_INTERLEAVED = "1f1b", "interleaved-1f1b"


def usual_network(
    device: Accelerator, num_devices: int, network_gbit: float | None
) -> tuple[Assumed, ...]:
    """Return what is taken for the network where nobody states it and the job needs one.

    Args:
        device: The accelerator.
        num_devices: Of the job.
        network_gbit: As stated.
    """
    if network_gbit is not None or num_devices <= device.nvlink_domain:
        return ()
    share = f"{device.network_bytes_per_s * 8.0 / 1e9:g} Gb/s per device"
    return (taken("network", share, "", "--network-gbit N"),)


def usual_zero(
    stage: int | None,
    shape: ModelShape,
    layout: tuple[int, int, int],
    said: Said,
    assumed: list[Assumed],
) -> int:
    """Return what data and context ranks shard: what is stated, or else what is usual.

    Args:
        stage: As stated.
        shape: A model's own report may say it.
        layout: Stages, data- and context-parallel sizes.
        said: Of the software, dated.
        assumed: Takes a line if it is not stated.

    Raises:
        ConfigError: If there is no such stage, or the software has none.
    """
    if stage is not None:
        check_count("zero_stage", stage, least=0, most=3)
        check_zero_stage(said, stage)
        return stage
    pp, dp, cp = layout
    if dp == cp == 1:
        return 0
    stage, why = usual_zero_stage(said, shape, pp)
    assumed.append(taken("zero", str(stage), why, "--zero N"))
    return stage


def usual_split(stated: bool | None, said: Said, tp: int) -> bool:
    """Return whether norms are split over tensor ranks.

    Args:
        stated: As stated.
        said: Of the software, dated.
        tp: Tensor-parallel size.
    """
    return stated if stated is not None else tp > 1 and usual_stack(said).sequence_parallel


def usual_recomputation(said: Said, assumed: list[Assumed]) -> str:
    """Return what is recomputed where nobody says it.

    Args:
        said: Of the software, dated.
        assumed: Takes a line if it is not stated.
    """
    mode = usual_recompute(said)
    if mode != NO_RECOMPUTATION:
        why = f"usual with {usual_stack(said).name}"
        assumed.append(taken("recompute", mode, why, "--recompute MODE"))
    return mode


def usual_etp(shape: ModelShape, tp: int, assumed: list[Assumed]) -> int:
    """Return the tensor-parallel size inside an expert where nobody says it.

    Args:
        shape: The model.
        tp: Tensor-parallel size outside.
        assumed: Takes a line if it is not stated.
    """
    if shape.experts is not None and tp > 1:
        why = "Megatron-LM's own default is tp"
        assumed.append(taken("etp", "1", why, "--etp N"))
    return 1


def usual_schedule(stated: str | None, chunks: int, pp: int, assumed: list[Assumed]) -> str:
    """Return the schedule: what is stated, or else 1F1B, interleaved with several chunks.

    Args:
        stated: As stated.
        chunks: That a device holds.
        pp: Pipeline stages.
        assumed: Takes a line if it is not stated.
    """
    if stated is not None:
        return stated
    usual = USUAL_INTERLEAVED if chunks != 1 and pp > 1 else USUAL_SCHEDULE
    if pp > 1:
        assumed.append(taken("schedule", usual, "", "--schedule NAME"))
    return usual


def usual_chunks(shape: ModelShape, pp: int, schedule: str | None, assumed: list[Assumed]) -> int:
    """Return the chunks a device holds where nobody says it: one, or what the schedule needs.

    Args:
        shape: The model.
        pp: Pipeline stages.
        schedule: As stated.
        assumed: Takes a line if it is not stated.
    """
    known = schedule if schedule in SCHEDULES else USUAL_SCHEDULE
    held = int(chunks_held(float(SCHEDULES.index(known))))
    if pp == 1:
        return held or 1
    if held:
        if schedule is None:
            assumed.append(taken("vpp", str(held), "", "--vpp N"))
        return held
    layers = shape.num_layers
    most = -(-layers // pp)
    chunks, why = most, f"the most that {layers} layers allow"
    if most > 1 and (layers % (2 * pp) == 0 or (layers + 2) % (2 * pp) == 0):
        chunks, why = 2, "more chunks leave less bubble and send more"
    assumed.append(taken("vpp", str(chunks), why, "--vpp N"))
    return chunks
