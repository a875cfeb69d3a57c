"""`steptime search`: which layout for this model, on these GPUs, with this batch."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steptime.cli import options as opt
from steptime.cli.output import console, percent, print_json, print_table, seconds
from steptime.inputs.errors import ConfigError, check_choice, check_count
from steptime.inputs.presets import accelerator as accelerator_preset
from steptime.inputs.training_step import shape_named
from steptime.planning.cost import Run, run_cost
from steptime.planning.emit import FORMATS, emitted
from steptime.planning.question import PREDICTORS, Question, default_predictor

if TYPE_CHECKING:
    from steptime.planning.result import Candidate, SearchResult

EXAMPLES = """
Examples:

- `steptime search --model llama3-70b --accelerator h100 --gpus 512
  --global-batch-size 1024 --seq-length 8192 --tokens 15e12 --price-per-gpu-hour 2.5`

- `steptime search -m llama3-405b -a h100 --gpus 16384 -B 2048 -s 8192 --emit megatron`

- `steptime search -m config.json -a gb200 --gpus 576 -B 1152 -s 8192 --front --json`
"""

LAYOUT_COLUMNS = ("tp", "cp", "pp", "vpp", "dp", "ep", "etp")


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("search", epilog=EXAMPLES)(search_command)


def candidate_dict(question: Question, one: Candidate, run: Run | None) -> dict[str, Any]:
    """Return one layout as JSON and CSV hold it, without nesting.

    Args:
        question: What was asked.
        one: The layout.
        run: What the whole training takes at this speed, if that was asked.
    """
    layout = one.layout
    row: dict[str, Any] = {name: getattr(layout, name) for name in LAYOUT_COLUMNS}
    row |= {
        "micro_batch_size": one.batch.micro_batch_size,
        "sequence_parallel": layout.sequence_parallel,
        "zero_stage": layout.zero_stage,
        "recompute": layout.recompute,
        "schedule": layout.schedule,
        "step_time_s": one.step_time_s,
        "memory_bytes": one.memory_bytes,
        "headroom_bytes": one.headroom_bytes,
        "tokens_per_s": question.global_batch_size * question.seq_length / one.step_time_s,
    }
    if run is not None:
        row |= {
            "days": run.days,
            "gpu_hours": run.gpu_hours,
            "cost": run.cost,
            "energy_mwh": run.energy_mwh,
        }
    return row


def layout_text(one: Candidate) -> str:
    """Return a layout in one line, as a sentence would name it.

    Args:
        one: The layout.
    """
    layout = one.layout
    parts = [f"tp {layout.tp}", f"cp {layout.cp}", f"pp {layout.pp}", f"dp {layout.dp}"]
    if layout.vpp > 1:
        parts.insert(3, f"vpp {layout.vpp}")
    if layout.ep > 1:
        parts.append(f"ep {layout.ep} x etp {layout.etp}")
    parts.append(f"micro-batch {one.batch.micro_batch_size}")
    parts.append(f"ZeRO-{layout.zero_stage}")
    parts.append(f"recompute {layout.recompute}")
    if layout.sequence_parallel:
        parts.append("sequence parallel")
    return ", ".join(parts)


def print_result(result: SearchResult, shown: list[Candidate], runs: list[Run | None]) -> None:
    """Print a search's best layouts, and what became of the rest.

    Args:
        result: The search.
        shown: The layouts to print.
        runs: What the training takes with each, or None.
    """
    question = result.question
    title = (
        f"{question.model.name} on {question.num_devices} x {question.accelerator.name}, "
        f"batch {question.global_batch_size} x {question.seq_length} ({question.predictor} model)"
    )
    sizes = [name for name in LAYOUT_COLUMNS[:6] if name != "ep" or question.model.experts]
    heads = ["step", *sizes, "mb", "SP", "ZeRO", "recomp", "GB", "full"]
    if runs and runs[0] is not None:
        heads += ["days", "cost", "MWh"]
    tie = shown[0].step_time_s * (1.0 + result.tie_fraction)
    rows = []
    for one, run in zip(shown, runs, strict=True):
        layout = one.layout
        mark = "= " if one.step_time_s <= tie and one is not shown[0] else ""
        row = [mark + seconds(one.step_time_s)]
        row += [str(getattr(layout, name)) for name in sizes]
        row += [str(one.batch.micro_batch_size), "yes" if layout.sequence_parallel else "no"]
        row += [str(layout.zero_stage), layout.recompute[:6], f"{one.memory_bytes / 1e9:.1f}"]
        row.append(percent(one.memory_bytes / question.accelerator.hbm_bytes, 0))
        if run is not None:
            row += [f"{run.days:.1f}", _amount(run.cost), _amount(run.energy_mwh)]
        rows.append(row)
    columns = [(head, "right") for head in heads]
    print_table(title, columns, rows)
    out = console()
    at_least = "at least " if result.num_ties == len(result.best) > 1 else ""
    out.print(
        f"= cannot be told from the best: within {percent(result.tie_fraction)} of its time; "
        f"{at_least}{result.num_ties:,} layouts are"
    )
    out.print(
        f"{result.num_evaluated:,} layouts timed in {seconds(result.elapsed_s)} "
        f"({result.layouts_per_s:,.0f} a second), {result.num_fitting:,} fit in memory; "
        f"{len(result.front)} on the front of time and memory"
    )
    for reason, count in result.dropped.items():
        out.print(f"  dropped {count:,}: {reason}")


def _amount(value: float | None) -> str:
    """Return a large amount for the eye: in millions from ten million on."""
    if value is None:
        return "-"
    return f"{value / 1e6:,.2f} M" if value >= 1e7 else f"{value:,.0f}"


def refuse_without_layout(result: SearchResult) -> None:
    """Refuse with the nearest question that has an answer.

    Args:
        result: A search that found nothing.

    Raises:
        ConfigError: Always.
    """
    from steptime.planning.nearest import nearest

    help_ = nearest(result)
    words = [f"no layout of {result.question.num_devices} GPUs works: {help_.reason}"]
    if help_.leanest is not None:
        words.append(f"the leanest is {layout_text(help_.leanest)}")
    if help_.found is not None:
        words.append(f"with {help_.more_devices} GPUs the best fits: {layout_text(help_.found)}")
    if help_.batch is not None:
        words.append(f"with --global-batch-size {help_.batch} it can be cut")
    raise ConfigError("; ".join(words))


def search_command(
    model: opt.ModelName,
    accelerator: opt.AcceleratorName,
    gpus: Annotated[int, typer.Option("--gpus", "-n", help="GPUs in the job.")],
    global_batch_size: opt.GlobalBatchSize,
    seq_length: opt.SeqLength,
    precision: opt.Precision = "bf16",
    micro_batch_size: Annotated[
        list[int] | None,
        typer.Option("--micro-batch-size", "-b", help="To try; repeat it. Default: 1 to 64."),
    ] = None,
    recompute: Annotated[
        list[str] | None, typer.Option("--recompute", help="To try; repeat it. Default: all.")
    ] = None,
    zero: Annotated[
        list[int] | None, typer.Option("--zero", help="To try; repeat it. Default: 0 to 3.")
    ] = None,
    schedule: Annotated[
        list[str] | None,
        typer.Option("--schedule", help="To try; repeat it. Default: 1f1b, interleaved-1f1b."),
    ] = None,
    order: Annotated[
        str, typer.Option("--order", help="Rank order: megatron, llama3, or tp-cp-dp-pp...")
    ] = "megatron",
    predictor: Annotated[
        str | None, typer.Option("--predictor", help="Which model: " + " or ".join(PREDICTORS))
    ] = None,
    hbm_share: Annotated[
        float, typer.Option("--memory-share", help="Share of the memory that may be used.")
    ] = 1.0,
    top: Annotated[int, typer.Option("--top", help="Layouts to print.")] = 10,
    front: Annotated[
        bool, typer.Option("--front", help="Print the front of time against memory instead.")
    ] = False,
    tokens: Annotated[
        float | None, typer.Option("--tokens", help="Tokens of the whole run, as 15e12.")
    ] = None,
    price_per_gpu_hour: Annotated[
        float | None, typer.Option("--price-per-gpu-hour", help="In any currency.")
    ] = None,
    emit: Annotated[
        str | None, typer.Option("--emit", help="Print a framework's arguments: megatron...")
    ] = None,
    choice: Annotated[int, typer.Option("--choice", help="Which layout to emit, 1 is best.")] = 1,
    as_json: opt.AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Search all layouts: the best, what ties with it, and why the rest fall out."""
    check_count("top", top, most=100_000)
    if sum((as_json, as_csv, emit is not None)) > 1:
        raise ConfigError("--json, --csv and --emit exclude each other; give one")
    if price_per_gpu_hour is not None and tokens is None:
        raise ConfigError("--price-per-gpu-hour needs --tokens, the length of the run")
    if emit is not None:
        check_choice("format", emit, FORMATS)
    # NumPy is needed from here on: the other commands do without.
    from steptime.planning.search import search

    device = accelerator_preset(accelerator)
    every = Question(
        model=shape_named(model),
        accelerator=device,
        num_devices=gpus,
        global_batch_size=global_batch_size,
        seq_length=seq_length,
        precision=precision,
        micro_batch_sizes=tuple(micro_batch_size or ()),
        order=order,
        predictor=predictor or _predictor(device, order),
        hbm_share=hbm_share,
        **_given(recompute=recompute, zero_stages=zero, schedules=schedule),
    )
    result = search(every, keep=max(top, choice, 1000))
    if not result.best:
        refuse_without_layout(result)
    if emit is not None:
        check_count("choice", choice, most=len(result.best))
        one = result.best[choice - 1]
        typer.echo(emitted(emit, every.model, one.layout, one.batch), nl=False)
        return
    shown = list((result.front if front else result.best)[:top])
    runs = [
        run_cost(every, one.step_time_s, tokens, price_per_gpu_hour) if tokens else None
        for one in shown
    ]
    if as_csv:
        typer.echo(_csv(every, shown, runs), nl=False)
    elif as_json:
        print_json(result_dict(result, shown, runs))
    else:
        print_result(result, shown, runs)


def _predictor(device: Any, order: str) -> str:
    return default_predictor(device) if order == "megatron" else "baseline"


def _given(**lists: list[Any] | None) -> dict[str, Any]:
    return {name: tuple(values) for name, values in lists.items() if values}


def _csv(question: Question, shown: list[Candidate], runs: list[Run | None]) -> str:
    """Return the layouts as CSV, floats in full."""
    rows = [candidate_dict(question, one, run) for one, run in zip(shown, runs, strict=True)]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def result_dict(
    result: SearchResult, shown: list[Candidate], runs: list[Run | None]
) -> dict[str, Any]:
    """Return a search as JSON holds it.

    Args:
        result: The search.
        shown: The layouts to list.
        runs: What the training takes with each, or None.
    """
    from steptime.planning.result import memory_parts, step_parts

    question = result.question
    best = result.best[0]
    return {
        "model": question.model.name,
        "accelerator": question.accelerator.name,
        "num_gpus": question.num_devices,
        "global_batch_size": question.global_batch_size,
        "seq_length": question.seq_length,
        "precision": question.precision,
        "predictor": question.predictor,
        "order": question.order,
        "num_evaluated": result.num_evaluated,
        "num_fitting": result.num_fitting,
        "elapsed_s": result.elapsed_s,
        "layouts_per_s": result.layouts_per_s,
        "tie_fraction": result.tie_fraction,
        "num_ties": result.num_ties,
        "dropped": result.dropped,
        "best_breakdown_s": step_parts(question, best),
        "best_memory_bytes": memory_parts(question, best),
        "layouts": [
            candidate_dict(question, one, run) for one, run in zip(shown, runs, strict=True)
        ],
    }
