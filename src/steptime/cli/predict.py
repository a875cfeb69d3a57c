"""`steptime predict`: the time of one training step, where it goes, and whether it fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import typer

from steptime.answer.answer import Prediction, answer
from steptime.answer.peak import Memory
from steptime.answer.predictor import PREDICTORS
from steptime.answer.question import Question
from steptime.answer.unstated import Unstated
from steptime.cli import options as opt
from steptime.cli.asking import takes_step
from steptime.cli.output import console, percent, print_json, print_table, seconds
from steptime.cli.run_options import Told, print_run, takes_run
from steptime.inputs.assumed import Assumed
from steptime.inputs.chance import chance_text
from steptime.inputs.fields import BY_NAME, LAYOUT_FIELDS
from steptime.inputs.in_number import counted, in_number
from steptime.inputs.training_step import TrainingStep
from steptime.planning.change import may_run
from steptime.planning.faster import SHOWN, faster
from steptime.planning.remedy import Remedy, remedies
from steptime.planning.tie_fraction import tie_fraction_of

EXAMPLES = """
Examples:

- `steptime predict --model llama3-405b --accelerator h100 --tp 8 --pp 16 --dp 64
  --seq-length 8192 --global-batch-size 2048`

- `steptime predict -m gpt3-175b -a a100 --tp 8 --pp 8 --dp 16 -s 2048 -B 1536
  --recompute full --json`

- `steptime predict -m llama3-70b -a h100 --gpus 512 --tp 8 --pp 4 -s 8k -B 1024 --tokens 15T
  --price-per-gpu-hour 2.5 --goodput`
"""

PART_NAMES = {
    "compute": "compute",
    "recompute": "recomputation",
    "tensor_parallel": "tensor-parallel messages",
    "context_parallel": "context-parallel messages",
    "expert_parallel": "expert-parallel messages",
    "bubble": "pipeline bubble",
    "pipeline_sends": "pipeline sends",
    "data_parallel": "data-parallel messages",
    "optimizer": "optimizer and fixed costs",
}

MOST_NAMED = 3
"""How many things that nobody stated are printed; JSON has all."""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("predict", epilog=EXAMPLES)(predict)


def as_dict(result: Prediction) -> dict[str, Any]:
    """Return a prediction as JSON holds it.

    Args:
        result: The prediction.
    """
    layout, batch = result.step.layout, result.step.batch
    return {
        "predictor": result.predictor,
        "model": result.step.model.name,
        "accelerator": result.step.accelerator.name,
        "num_gpus": layout.num_devices,
        "layout": {name: getattr(layout, name) for name in LAYOUT_FIELDS},
        "seq_length": batch.seq_length,
        "global_batch_size": batch.global_batch_size,
        "micro_batch_size": batch.micro_batch_size,
        "num_microbatches": result.num_microbatches,
        "step_time_s": result.step_time_s,
        "step_time_low_s": result.step_time_low_s,
        "step_time_high_s": result.step_time_high_s,
        "breakdown_s": dict(result.breakdown_s),
        "tflops_per_gpu": result.tflops_per_gpu,
        "mfu_fraction": result.mfu_fraction,
        "mfu_convention": f"model FLOP, attention in full, of the {result.peak_said}",
        "mfu_remark": result.mfu_remark,
        "mfu_causal_fraction": result.mfu_causal_fraction,
        "hfu_fraction": result.hfu_fraction,
        "tokens_per_s": result.tokens_per_s,
        "tokens_per_s_per_gpu": result.tokens_per_s_per_gpu,
        "fits": result.fits,
        "fit_probability": result.fit_probability,
        "memory": memory_dict(result.memory),
        "software": result.software.stack.name,
        "software_known": result.software.known,
        "software_knowledge": result.software.knowledge,
        "assumed": [str(one) for one in result.assumed],
        "assumptions": assumptions(result.assumed),
        "beyond": assumptions(result.beyond),
        "unstated": [asdict(one) for one in result.unstated],
    }


def assumptions(assumed: Iterable[Assumed]) -> list[dict[str, str]]:
    """Return what was taken for granted as JSON holds it: what, its value, why, how to state it.

    Args:
        assumed: Of an answer.
    """
    return [asdict(one) for one in assumed]


def memory_dict(memory: Memory) -> dict[str, Any]:
    """Return the fullest device's memory as JSON holds it.

    Args:
        memory: Of the step.
    """
    return {
        "fits": memory.fits,
        "fit_probability": memory.fit_probability,
        "outlook": memory.outlook,
        "reason": memory.reason,
        "limit_bytes": memory.limit_bytes,
        "total_bytes": memory.total_bytes,
        "rank": memory.fullest.rank,
        "bytes": memory.fullest.parts_bytes,
    }


def verdict(memory: Memory) -> str:
    """Return whether a step fits, what decides, and how sure that is.

    Args:
        memory: Of the step.
    """
    reason = memory.reason[0].upper() + memory.reason[1:]
    if memory.fit_probability is None:
        return reason
    return f"{reason}; the chance that it fits: {chance_text(memory.fit_probability)}"


def print_prediction(result: Prediction) -> None:
    """Print a prediction as a table.

    Args:
        result: The prediction.
    """
    layout = result.step.layout
    title = (
        f"{result.step.model.name} on {layout.num_devices} x {result.step.accelerator.name}: "
        f"{seconds(result.step_time_s)} a step ({PREDICTORS[result.predictor].title})"
    )
    print_time(title, result)
    print_verdict(result)


def print_time(title: str, result: Prediction) -> None:
    """Print where the time of a step goes, and its interval.

    Args:
        title: Line over the table.
        result: The prediction.
    """
    rows = [
        (PART_NAMES.get(part, part), seconds(time_s), percent(time_s / result.step_time_s))
        for part, time_s in result.breakdown_s.items()
        if time_s
    ]
    print_table(title, (("where it goes", "left"), ("time", "right"), ("share", "right")), rows)
    out = console()
    if result.step_time_low_s is not None and result.step_time_high_s is not None:
        low, high = seconds(result.step_time_low_s), seconds(result.step_time_high_s)
        out.print(f"90 % interval: {low} to {high}, of this layout on this network")
    else:
        out.print("no interval: too few runs were compared with this model in the same way")


def print_verdict(result: Prediction) -> None:
    """Print what a step amounts to, whether it fits, and what was assumed.

    Args:
        result: The prediction.
    """
    out = console()
    out.print(
        f"{_tflops(result.tflops_per_gpu)} TFLOP/s per GPU, {utilisation(result)}, "
        f"{result.tokens_per_s:,.0f} tokens/s ({result.tokens_per_s_per_gpu:,.1f} per GPU), "
        f"{counted(result.num_microbatches, 'micro-batches')}"
    )
    out.print(verdict(result.memory))
    for name, why in result.step.layout.idle.items():
        if name in result.step.open:
            continue
        flag = BY_NAME[name].flags[0].partition("/")[0]
        out.print(f"{flag} counts for nothing: {why}", markup=False)
    taken = [str(one) for one in result.assumed if one not in result.beyond]
    if taken:
        out.print("assumed: " + "; ".join(taken), markup=False)
    for one in result.beyond:
        out.print(str(one), markup=False)
    print_unstated(result.unstated)


def _tflops(rate: float) -> str:
    """Return a rate with its digits: a processor's is far below one."""
    return f"{rate:.1f}" if rate >= 1.0 else f"{rate:.3g}"


def print_unstated(unstated: Sequence[Unstated]) -> None:
    """Print what is worth naming: what could change the answer most, first.

    Args:
        unstated: What a question left open, ranked.
    """
    out = console()
    for place, one in enumerate(unstated[:MOST_NAMED]):
        would = " would narrow this most" if place == 0 else ""
        low, high = (
            f"{seconds(one.low_s)} ({one.fastest})",
            f"{seconds(one.high_s)} ({one.slowest})",
        )
        rare = f"; {one.outside} of {one.choices} outside the interval" if one.outside else ""
        out.print(f"naming {one.says}{would}: {one.how}; {low} to {high}{rare}", markup=False)


def utilisation(result: Prediction) -> str:
    """Return the MFU by its convention, and by the other usual one where that differs.

    Args:
        result: The prediction.
    """
    full, causal = percent(result.mfu_fraction), percent(result.mfu_causal_fraction)
    other = "" if full == causal else f" ({causal} causal)"
    remark = f" ({result.mfu_remark})" if result.mfu_remark else ""
    return f"MFU {full} of the {result.peak_said} with attention in full{other}{remark}"


def _way(way: Remedy, result: Prediction) -> str:
    """Return a change that makes a step fit, with its devices where they are others."""
    sure = "" if way.fit_probability is None else f" ({chance_text(way.fit_probability)})"
    grown = way.num_devices != result.step.layout.num_devices
    devices = f" on {way.num_devices:,} {in_number(way.num_devices, 'GPUs')}" if grown else ""
    return f"{way.change}{devices}: {way.total_bytes / 1e9:.1f} GB, {way.outlook}{sure}"


def print_faster(result: Prediction, question: Question) -> None:
    """Print the changes that would make the step fit, and those that would save the most time.

    Args:
        result: The prediction.
        question: That it answers.
    """
    out = console()
    ways = [way for way in remedies(result) if way.enough]
    for way in ways[:SHOWN]:
        out.print(f"to fit: {_way(way, result)}", markup=False)
    if not may_run(result):
        if not ways:
            out.print("to fit: none of the changes that are tried makes it fit")
        return
    helps = faster(result, question)
    for one in helps:
        out.print(
            f"to be faster: {one.change}: {seconds(one.found.step_time_s)} "
            f"({percent(one.gain_fraction)} less), {one.found.total_bytes / 1e9:.1f} GB",
            markup=False,
        )
    if helps:
        share = percent(tie_fraction_of(result.predictor), 0)
        out.print(f"under {share} the model cannot tell; `steptime search` tries all layouts")


@takes_step
@takes_run
def predict(
    step: TrainingStep,
    how: opt.How,
    run: Told,
    as_json: opt.AsJson = False,
) -> None:
    """Predict the time of one training step, and where it goes."""
    question = Question(step=step, predictor=how.predictor, constants=how.constants)
    result = answer(question)
    whole = run.of(result)
    if as_json:
        print_json(as_dict(result) | ({} if whole is None else {"run": asdict(whole)}))
        return
    print_prediction(result)
    if whole is not None:
        print_run(whole)
    print_faster(result, question)
