"""What is usual of a layout where nobody states it, each with the sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.formulas.schedule_rules import chunks_held
from steptime.inputs.ability import ability_of
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.fields import LAYOUT_FIELDS, StepInputs
from steptime.inputs.habits import usual_recompute, usual_stack, usual_zero_stage
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.model import ModelShape
from steptime.inputs.said import Said

NO_RECOMPUTATION = "none"
USUAL_SCHEDULE, USUAL_INTERLEAVED = "1f1b", "interleaved-1f1b"


def usual_layout(
    inputs: StepInputs, shape: ModelShape, said: Said, assumed: list[Assumed]
) -> dict[str, Any]:
    """Return the fields of a layout: what is stated, and what is usual where nothing is.

    Args:
        inputs: What is stated.
        shape: The model.
        said: Of the software, in its time.
        assumed: Gets what is taken.

    Raises:
        ConfigError: If sizes are no counts or do not fit the devices.
    """
    given: Mapping[str, Any] = inputs
    found = {name: given[name] for name in LAYOUT_FIELDS}
    tp, cp, pp = (check_count(name, found[name], most=10**7) for name in ("tp", "cp", "pp"))
    found["dp"] = dp_of(found["dp"], inputs["num_gpus"], (tp, cp, pp))
    # In this order: what comes later depends on what was taken before.
    if found["vpp"] is None:
        found["vpp"] = usual_chunks(shape, pp, found["schedule"], assumed)
    if found["schedule"] is None:
        found["schedule"] = usual_schedule(found["vpp"], pp, said, assumed)
    if found["zero_stage"] is None:
        found["zero_stage"] = zero_stage_taken(shape, (pp, found["dp"], cp), said, assumed)
    if found["etp"] is None:
        found["etp"] = usual_etp(shape, tp, assumed)
    if found["sequence_parallel"] is None:
        found["sequence_parallel"] = sequence_parallel_taken(tp, said, assumed)
    if found["recompute"] is None:
        found["recompute"] = recompute_taken(said, assumed)
    return found


def dp_of(dp: int | None, num_gpus: int | None, sizes: tuple[int, int, int]) -> int:
    """Return the data-parallel size: what is stated, or what the devices leave for it.

    Args:
        dp: What is stated.
        num_gpus: Devices in the job, where they are.
        sizes: Tensor, context and pipeline size.

    Raises:
        ConfigError: If the devices do not divide, or are not those of the sizes.
    """
    tp, cp, pp = sizes
    rest = tp * cp * pp
    if num_gpus is None:
        return 1 if dp is None else dp
    check_count("num_gpus", num_gpus, most=10**9)
    if num_gpus % rest:
        raise ConfigError(
            f"num_gpus={num_gpus} does not divide by tp x cp x pp = {rest}; "
            f"the nearest that does is {max(rest, round(num_gpus / rest) * rest)}"
        )
    if dp is not None and dp * rest != num_gpus:
        raise ConfigError(
            f"num_gpus={num_gpus}, but tp x cp x pp x dp = {dp * rest}; leave out dp, "
            f"which is {num_gpus // rest} then, or num_gpus"
        )
    return num_gpus // rest


def network_taken(device: Accelerator, num_devices: int) -> tuple[Assumed, ...]:
    """Return what is taken for the network where nobody states it and the job needs one.

    Args:
        device: Has a share of its own.
        num_devices: Of the job; those of one NVLink domain need no network.
    """
    if device.network_stated or num_devices <= device.nvlink_domain:
        return ()
    share = f"{device.network_bytes_per_s * 8.0 / 1e9:g} Gb/s per device"
    return (taken("network", share, "", "--network-gbit N"),)


def zero_stage_taken(
    shape: ModelShape, sizes: tuple[int, int, int], said: Said, assumed: list[Assumed]
) -> int:
    """Return what data and context ranks shard where nobody says it: what is usual.

    Args:
        shape: Its own report may say.
        sizes: Pipeline, data-parallel and context-parallel size.
        said: Of the software, in its time.
        assumed: Gets what is taken.
    """
    pp, dp, cp = sizes
    if dp == cp == 1:
        return 0
    stage, why = usual_zero_stage(said, shape, pp)
    assumed.append(taken("zero", str(stage), why, "--zero N"))
    return stage


def sequence_parallel_taken(tp: int, said: Said, assumed: list[Assumed]) -> bool:
    """Return whether tensor ranks share norms where nobody says it: as is usual.

    Args:
        tp: Tensor-parallel size.
        said: Of the software, in its time.
        assumed: Gets what is taken where it is off: on is what tensor ranks mostly have.
    """
    stack = usual_stack(said)
    if tp > 1 and not stack.sequence_parallel:
        why = f"usual with {stack.name}"
        assumed.append(taken("sequence_parallel", "off", why, "--sequence-parallel"))
    return tp > 1 and stack.sequence_parallel


def recompute_taken(said: Said, assumed: list[Assumed]) -> str:
    """Return what is recomputed where nobody says it.

    Args:
        said: Of the software, in its time.
        assumed: Gets what is taken.

    Raises:
        ConfigError: If the software has no usual mode.
    """
    mode = usual_recompute(said)
    if mode != NO_RECOMPUTATION:
        why = f"usual with {usual_stack(said).name}"
        assumed.append(taken("recompute", mode, why, "--recompute MODE"))
    return mode


def usual_etp(shape: ModelShape, tp: int, assumed: list[Assumed]) -> int:
    """Return the tensor-parallel size inside an expert where nobody says it: 1.

    Args:
        shape: Whether it has experts.
        tp: Tensor-parallel size.
        assumed: Gets what is taken.
    """
    if shape.experts is not None and tp > 1:
        why = "Megatron-LM's own default is tp"
        assumed.append(taken("etp", "1", why, "--etp N"))
    return 1


def usual_schedule(chunks: int, pp: int, said: Said, assumed: list[Assumed]) -> str:
    """Return the schedule of the pipeline where nobody says it: 1F1B with as many chunks.

    Software that does not run it takes the first of its own that holds as many.

    Args:
        chunks: Model chunks a device.
        pp: Pipeline stages.
        said: Of the software.
        assumed: Gets what is taken.
    """
    usual = USUAL_INTERLEAVED if chunks != 1 and pp > 1 else USUAL_SCHEDULE
    runs = ability_of(said)
    if runs.limits and not runs.runs("schedule", usual):
        alike = chunks_held(float(SCHEDULES.index(usual)))
        own = (name for name in SCHEDULES if runs.runs("schedule", name))
        held = (name for name in own if chunks_held(float(SCHEDULES.index(name))) == alike)
        usual = next(held, usual)
    if pp > 1:
        assumed.append(taken("schedule", usual, "", "--schedule NAME"))
    return usual


def usual_chunks(shape: ModelShape, pp: int, schedule: str | None, assumed: list[Assumed]) -> int:
    """Return the model chunks a device holds where nobody says it.

    Args:
        shape: Its layers.
        pp: Pipeline stages.
        schedule: What is stated of it.
        assumed: Gets what is taken.
    """
    if pp == 1:
        return 1
    known = schedule if schedule in SCHEDULES else USUAL_SCHEDULE
    held = int(chunks_held(float(SCHEDULES.index(known))))
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
