"""How `steptime trace` shows the log of a run."""

from __future__ import annotations

from typing import Any

from steptime.answer.answer import Prediction
from steptime.cli.explain_measured import comparison_dict, print_comparison
from steptime.cli.output import console, print_json, print_table, seconds
from steptime.cli.predict import as_dict as prediction_dict
from steptime.evidence.trace_contradicts import log_contradiction
from steptime.inputs.constants import RooflineConstants
from steptime.planning.measured import Comparison, compared, measured
from steptime.readers.trace.run_log import RunLog


def show_log(
    log: RunLog,
    told: Prediction | None,
    constants: RooflineConstants | None,
    as_json: bool,
    ruled_out: frozenset[str] = frozenset(),
) -> None:
    """Print a log's steps, beside the answer where there is one, and what a gap could be.

    Args:
        log: As read.
        told: The answer; None without one.
        constants: Of the roofline model; the published ones if None.
        as_json: Whether to print JSON.
        ruled_out: Causes that the launch file rules out.
    """
    logged, said = _numbers(log, told)
    step_s = logged["step_time_s"]
    if told is not None and log.flop_per_s_per_gpu is not None:
        # Refused where no device of the question can be so fast.
        measured(f"{log.flop_per_s_per_gpu / 1e12!r} TFLOP/s", told, "the log's")
    notes, other = _notes(log, told), _other_batch(log, told)
    # The gap between two different runs has no cause to look for.
    found = None
    if told is not None and step_s is not None and not other:
        found = _compared(step_s, told, constants, ruled_out)
    if as_json:
        prediction = None if told is None else prediction_dict(told)
        about: dict[str, Any] = {"software": log.title, "lines": log.lines}
        about |= {"warm_up_lines": log.warm_up_lines, "notes": notes}
        gap = None if found is None else comparison_dict(found)
        print_json(about | logged | {"prediction": prediction, "comparison": gap})
        return
    rows = [
        (
            _LOGGED[name][0],
            _shown(name, value),
            _shown(name, said.get(name)),
            _ratio(value, said.get(name)),
        )
        for name, value in logged.items()
        if value is not None
    ]
    heads = [("", "left"), ("measured", "right"), ("predicted", "right"), ("ratio", "right")]
    title = f"{log.title}: {_lines(log)}"
    print_table(title, heads if told else heads[:2], [row if told else row[:2] for row in rows])
    for note in notes:
        console().print(note, markup=False)
    if told is not None:
        print_interval(step_s, told)
    if found is not None and found.inside is False:
        print_comparison(found)


def _lines(log: RunLog) -> str:
    """Return how many lines of steps a log has, and what became of the first ones."""
    if log.warm_up_lines:
        return f"{log.lines} lines of steps after warm-up, the middle one of each number"
    lines = "1 line of a step" if log.lines == 1 else f"{log.lines} lines of steps"
    return f"{lines}, too few to leave any out as warm-up"


def _notes(log: RunLog, told: Prediction | None) -> list[str]:
    """Return why a log may not be comparable."""
    found = []
    if log.first_alone:
        found.append("only the first step is there, which warms up: later ones are faster")
    other = _other_batch(log, told)
    if told is not None and not other:
        other = log_contradiction(log, told)
    return [*found, other] if other else found


def _other_batch(log: RunLog, told: Prediction | None) -> str:
    """Return that a log is of another batch than the question; nothing where it is not."""
    if told is None or log.global_batch_size in (None, told.step.batch.global_batch_size):
        return ""
    return (
        f"the log says a global batch size of {log.global_batch_size:g}, but the prediction is for "
        f"{told.step.batch.global_batch_size} (-B): their steps are not the same"
    )


def _numbers(
    log: RunLog, told: Prediction | None
) -> tuple[dict[str, float | None], dict[str, float]]:
    """Return what was logged, and the same of the answer."""
    logged: dict[str, float | None] = {
        "step_time_s": log.step_time_s,
        "tokens_per_s_per_gpu": log.tokens_per_s_per_gpu,
        "flop_per_s_per_gpu": log.flop_per_s_per_gpu,
    }
    said: dict[str, float] = {}
    if told is not None:
        said = {
            "step_time_s": told.step_time_s,
            "tokens_per_s_per_gpu": told.tokens_per_s_per_gpu,
            "flop_per_s_per_gpu": told.tflops_per_gpu * 1e12,
        }
        if logged["step_time_s"] is None and log.tokens_per_s_per_gpu:
            batch, layout = told.step.batch, told.step.layout
            tokens = batch.global_batch_size * batch.seq_length / layout.num_devices
            logged["step_time_s"] = tokens / log.tokens_per_s_per_gpu
    return logged, said


def _compared(
    step_s: float, told: Prediction, constants: RooflineConstants | None, ruled_out: frozenset[str]
) -> Comparison:
    return compared(
        measured(f"{step_s!r}s", told, "the log's"),
        told,
        ruled_out=ruled_out,
        software=told.software.stack.family,
        constants=constants,
    )


_LOGGED = {
    "step_time_s": ("step", 1.0, "s"),
    "tokens_per_s_per_gpu": ("tokens/s per GPU", 1.0, ""),
    "flop_per_s_per_gpu": ("FLOP/s per GPU, as each counts", 1e12, "TFLOP/s"),
}


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    _, scale, unit = _LOGGED[name]
    return seconds(value) if unit == "s" else f"{value / scale:,.1f} {unit}".rstrip()


def _ratio(measured: float | None, predicted: float | None) -> str:
    return f"{measured / predicted:.2f}" if measured and predicted else "-"


def print_interval(step_s: float | None, told: Prediction) -> None:
    """Print whether a step lies in the answer's interval.

    Args:
        step_s: As measured; None where the log does not say.
        told: The answer.
    """
    low, high = told.step_time_low_s, told.step_time_high_s
    if step_s is None or low is None or high is None:
        return
    inside = low <= step_s <= high
    place = "inside" if inside else "outside"
    console().print(
        f"measured is {place} the 90 % interval, {seconds(low)} to {seconds(high)}", markup=False
    )
