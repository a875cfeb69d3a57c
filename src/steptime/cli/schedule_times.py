"""The times that `steptime schedule` is told: one by one, by stage, or by a paper's name."""

from __future__ import annotations

import math
from typing import Any

from steptime.inputs.errors import ConfigError, check_count, check_number
from steptime.inputs.schedule_name import check_schedule_name, searched_name
from steptime.pipeline.schedules import default_chunks
from steptime.pipeline.stage_times import stage_times_named


def preset_times(
    times: str | None,
    name: str | None,
    sizes: tuple[int, int | None],
    lengths: dict[str, Any],
    send_latency: float,
    unit_seconds: float | None,
) -> tuple[dict[str, Any], float, float | None, float]:
    """Return the times of a chunk, of a send, the seconds in their unit, and a chunk's activations.

    Args:
        times: Name of the stage times; None for those told one by one.
        name: Of the schedule.
        sizes: Ranks of the pipeline, and the chunks that each holds, if told.
        lengths: Times told one by one.
        send_latency: Likewise.
        unit_seconds: Likewise.

    Raises:
        ConfigError: If both are told, or the schedule is not.
    """
    if unit_seconds is not None:
        check_number("--unit-seconds", unit_seconds)
    if times is None:
        return lengths, send_latency, unit_seconds, 0.0
    preset = stage_times_named(times)
    if lengths or send_latency:
        raise ConfigError(f"--times {times} has all times; leave out --forward and the like")
    if name is None:
        raise ConfigError("--times needs the name of a schedule, whose chunks share a rank's time")
    if preset.seconds and unit_seconds is not None:
        raise ConfigError(f"--times {times} is in seconds; leave out --unit-seconds")
    named = searched_name(name) or check_schedule_name(name)
    stages, chunks = sizes
    held = chunks if chunks is not None else default_chunks(named, stages)
    work = preset.work(check_count("chunks", held))
    fields = ("forward", "backward_input", "backward_weight")
    found = {field: getattr(work, field) for field in fields}
    seconds = 1.0 if preset.seconds else unit_seconds
    return found, work.send_latency, seconds, preset.activation_bytes / held


def durations_told(
    forward: str | None, backward: str | None, inputs: str | None, weights: str | None
) -> dict[str, Any]:
    """Return the times that are told one by one, by the names of `Work`.

    Args:
        forward: Of F, as told.
        backward: Of B.
        inputs: Of I.
        weights: Of W.

    Raises:
        ConfigError: If one is no number, or halves do not make their whole.
    """
    given = {"forward": forward, "backward": backward}
    given |= {"backward_input": inputs, "backward_weight": weights}
    lengths = {
        key: _times("--" + key.removeprefix("backward_"), text)
        for key, text in given.items()
        if text is not None
    }
    _check_halves(lengths)
    return lengths


def _check_halves(lengths: dict[str, Any]) -> None:
    """Refuse two parts of a backward that do not make the whole that is stated beside them."""
    whole = lengths.get("backward")
    if whole is None or not ("backward_input" in lengths or "backward_weight" in lengths):
        return
    halves = [lengths.get(key) for key in ("backward_input", "backward_weight")]
    if None in halves or not _adds_up(whole, *halves):
        raise ConfigError(
            "--backward is --input and --weight together, and these do not make "
            f"{_text(whole)}; give the two, or --backward alone"
        )


def _adds_up(whole: Any, *halves: Any) -> bool:
    rows = [one if isinstance(one, tuple) else (one,) for one in (whole, *halves)]
    most = max(map(len, rows))
    wide = [row * most if len(row) == 1 else row for row in rows]
    return all(math.isclose(a, b + c) for a, b, c in zip(*wide, strict=False))


def _text(times: Any) -> str:
    return ",".join(f"{one:g}" for one in (times if isinstance(times, tuple) else (times,)))


def _times(option: str, text: str) -> float | tuple[float, ...]:
    parts = numbers_told(option, text)
    return parts if len(parts) > 1 else parts[0]


def numbers_told(option: str, text: str) -> tuple[float, ...]:
    """Return numbers with commas between.

    Args:
        option: That tells them.
        text: As told.

    Raises:
        ConfigError: If one of them is none.
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(
            f"{option} must be a number, or numbers with commas between, got {text[:60]!r}"
        ) from None


def transfer_time(message_bytes: float | None, bandwidth: float | None) -> float:
    """Return how long a message's bytes hold its sender's port.

    Args:
        message_bytes: Of one message, if told.
        bandwidth: Bytes per unit of time, if told.

    Raises:
        ConfigError: If one is told without the other, or it is not above 0.
    """
    if bandwidth is None:
        if message_bytes:
            raise ConfigError("--message-bytes needs --bandwidth, in bytes per unit of time")
        return 0.0
    if not bandwidth > 0:
        raise ConfigError(f"--bandwidth must be > 0, got {bandwidth:g}")
    if message_bytes is None:
        raise ConfigError("--bandwidth needs --message-bytes, what one message holds")
    return message_bytes / bandwidth
