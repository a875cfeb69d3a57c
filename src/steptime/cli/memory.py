"""`steptime memory`: bytes on every pipeline rank, whether they fit, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer

from steptime.answer.answer import Prediction, answer
from steptime.answer.peak import RankMemory
from steptime.answer.question import Question
from steptime.answer.unstated import OpenPeak
from steptime.cli import options as opt
from steptime.cli.asking import takes_step
from steptime.cli.output import console, print_json, print_table
from steptime.cli.predict import MOST_NAMED, assumptions, verdict
from steptime.formulas.memory.states import unshared_bytes
from steptime.formulas.memory.total import PARTS
from steptime.formulas.records import Job, MemoryFacts
from steptime.inputs.chance import chance_text
from steptime.inputs.stack import MEMORY_FACTS
from steptime.inputs.training_step import TrainingStep
from steptime.planning.remedy import Remedy, remedies

EXAMPLES = """
Examples:

- `steptime memory --model gpt3-175b --accelerator a100 --tp 8 --seq-length 2048
  --global-batch-size 8`

- `steptime memory -m llama3-405b -a h100 --tp 8 --pp 16 --dp 64 -s 8192 -B 2048 --zero 2 --json`

- `steptime memory -m gpt3-175b -a a100 --tp 8 --pp 8 -s 2048 -B 64 --stack megatron-2021
  --fact dropout=0`

- `steptime memory -m llama3-70b -a h100 --tp 4 --pp 4 --dp 2 -s 8192 -B 64 --recompute full
  --fact recompute_layers=5`: recompute five layers of each stage, keep the others
"""

MOST_RANKS_SHOWN = 16
SHORT = {"gradients": "grads", "optimizer": "optim.", "activations": "activ."}


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("memory", epilog=EXAMPLES)(memory)


def _gbyte(value: float) -> str:
    return f"{value / 1e9:.2f}" if value < 1e11 else f"{value / 1e9:,.0f}"


def rank_dict(rank: RankMemory) -> dict[str, Any]:
    """Return one rank as JSON holds it.

    Args:
        rank: The rank.
    """
    return {
        "rank": rank.rank,
        "num_layers": rank.num_layers,
        "parameters": rank.parameters,
        "micro_batches_in_flight": rank.in_flight,
        "total_bytes": rank.total_bytes,
        "bytes": rank.parts_bytes,
    }


def remedy_dict(remedy: Remedy) -> dict[str, Any]:
    """Return one change as JSON holds it.

    Args:
        remedy: The change.
    """
    return {
        "change": remedy.change,
        "num_gpus": remedy.num_devices,
        "total_bytes": remedy.total_bytes,
        "fits": remedy.fits,
        "outlook": remedy.outlook,
        "fit_probability": remedy.fit_probability,
    }


def as_dict(found: Prediction, helps: tuple[Remedy, ...]) -> dict[str, Any]:
    """Return the memory of a step as JSON holds it.

    Args:
        found: The answer.
        helps: From `steptime.planning.remedy.remedies`.
    """
    step, result = found.step, found.memory
    nearest = helps[0] if helps and helps[0].enough else None
    return {
        "model": step.model.name,
        "accelerator": step.accelerator.name,
        "num_gpus": step.layout.num_devices,
        "fits": result.fits,
        "tight": result.tight,
        "fit_probability": result.fit_probability,
        "outlook": result.outlook,
        "reason": result.reason,
        "limit_bytes": result.limit_bytes,
        "total_bytes": result.total_bytes,
        "headroom_bytes": result.limit_bytes - result.total_bytes,
        "rank": result.fullest.rank,
        "bytes": result.fullest.parts_bytes,
        "activations_bytes": dict(result.activations_bytes),
        "ranks": [rank_dict(rank) for rank in result.ranks],
        "nearest": None if nearest is None else remedy_dict(nearest),
        "would_help": [remedy_dict(remedy) for remedy in helps],
        "stack": found.software.stack.name,
        "facts": {name: getattr(result.facts, name) for name in MEMORY_FACTS},
        "assumed": [str(one) for one in found.assumed],
        "assumptions": assumptions(found.assumed),
        "unstated": [asdict(one) for one in found.unstated_of_memory],
    }


def _shown(ranks: tuple[RankMemory, ...], fullest: int) -> list[RankMemory]:
    if len(ranks) <= MOST_RANKS_SHOWN:
        return list(ranks)
    keep = {0, 1, 2, fullest, ranks[-1].rank}
    return [rank for rank in ranks if rank.rank in keep]


def print_memory(found: Prediction, helps: tuple[Remedy, ...]) -> None:
    """Print the memory of a step as tables.

    Args:
        found: The answer.
        helps: Changes that lower it.
    """
    step, result = found.step, found.memory
    title = f"{step.model.name} on {step.layout.num_devices} x {step.accelerator.name}, GB a device"
    heads = ("rank", "layers", "held", *(SHORT.get(part, part) for part in PARTS), "total")
    columns = [(head, "right") for head in heads]
    rows = [
        (
            f"{rank.rank}{' *' if rank.rank == result.fullest.rank else ''}",
            f"{rank.num_layers:g}",
            f"{rank.in_flight:.4g}",
            *(_gbyte(rank.parts_bytes[part]) for part in PARTS),
            _gbyte(rank.total_bytes),
        )
        for rank in _shown(result.ranks, result.fullest.rank)
    ]
    print_table(title, columns, rows)
    out = console()
    out.print(verdict(result))
    if helps:
        _print_helps(helps)
    out.print(software(step.job(), result.facts))
    if found.assumed:
        out.print("assumed: " + "; ".join(map(str, found.assumed)), markup=False)
    _print_open(found.unstated_of_memory)


def _print_open(unstated: Sequence[OpenPeak]) -> None:
    out = console()
    for place, one in enumerate(unstated[:MOST_NAMED]):
        would = " would settle this most" if place == 0 else ""
        low, high = _gbyte(one.low_bytes), _gbyte(one.high_bytes)
        sizes = f"{low} GB ({one.leanest}) to {high} GB ({one.fullest})"
        out.print(f"naming {one.says}{would}: {one.how}; {sizes}", markup=False)


def _print_helps(helps: tuple[Remedy, ...]) -> None:
    heads = ("change", "GPUs", "GB", "fits", "chance")
    sides = ("left", "right", "right", "left", "right")
    rows = [
        (
            one.change,
            f"{one.num_devices:,}",
            _gbyte(one.total_bytes),
            one.outlook,
            chance_text(one.fit_probability),
        )
        for one in helps
    ]
    print_table("What would help", list(zip(heads, sides, strict=True)), rows)


def software(job: Job, facts: MemoryFacts) -> str:
    """Return one line on what the software is taken to keep.

    Args:
        job: The flat record: below 16 bits, weights have narrower copies.
        facts: Of the stack; those of software that nobody names are means, and have many digits.
    """
    states = unshared_bytes(job, facts)
    attention = "flash attention" if facts.flash else "attention scores in memory"
    return (
        f"an estimate: {states:.3g} bytes a parameter before sharding, {attention}, "
        f"{'dropout' if facts.dropout else 'no dropout'}, {facts.logit_bytes:.3g} bytes a logit, "
        f"{facts.reserve_bytes / 1e9:.2g} GB reserved; --stack and --fact change it"
    )


@takes_step
def memory(step: TrainingStep, how: opt.How, as_json: opt.AsJson = False) -> None:
    """Count the memory of every pipeline rank, and say whether it fits."""
    result = answer(Question(step=step, predictor=how.predictor, constants=how.constants))
    helps = remedies(result)
    if as_json:
        print_json(as_dict(result, helps))
    else:
        print_memory(result, helps)
