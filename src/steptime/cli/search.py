"""`steptime search`: which layout for this model, on these GPUs, with this batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from steptime.answer.known import WITHOUT_RATES, default_predictor
from steptime.answer.predictor import PREDICTORS
from steptime.cli import options as opt
from steptime.cli.output import print_json
from steptime.cli.search_output import csv_text, layout_text, print_result, result_dict
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_choice, check_count, check_number
from steptime.inputs.rank_order import ORDERS, rank_order
from steptime.inputs.training_step import shape_named
from steptime.planning.cost import Run, run_cost
from steptime.planning.emit import FORMATS, emitted
from steptime.planning.question import FITS_WITH, Question

if TYPE_CHECKING:
    from steptime.planning.result import Candidate, SearchResult

EXAMPLES = """
Examples:

- `steptime search --model llama3-70b --accelerator h100 --gpus 512
  --global-batch-size 1024 --seq-length 8192 --tokens 15e12 --price-per-gpu-hour 2.5`

- `steptime search -m llama3-405b -a h100 --gpus 16384 -B 2048 -s 8192 --emit megatron`

- `steptime search -m config.json -a gb200 --gpus 576 -B 1152 -s 8192 --front --json`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("search", epilog=EXAMPLES)(search_command)


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


@opt.takes_how
def search_command(
    how: opt.How,
    model: opt.field("model"),  # type: ignore[valid-type]
    accelerator: opt.field("accelerator"),  # type: ignore[valid-type]
    gpus: opt.Gpus,
    seq_length: opt.field("seq_length"),  # type: ignore[valid-type]
    global_batch_size: opt.field("global_batch_size"),  # type: ignore[valid-type]
    micro_batch_size: opt.tried("micro_batch_size", int) = None,  # type: ignore[valid-type]
    zero: opt.tried("zero_stage", int) = None,  # type: ignore[valid-type]
    dp_replicate: opt.tried("dp_replicate", int) = None,  # type: ignore[valid-type]
    recompute: opt.tried("recompute", str) = None,  # type: ignore[valid-type]
    precision: opt.field("precision") = "bf16",  # type: ignore[valid-type]
    schedule: opt.tried("schedule", str) = None,  # type: ignore[valid-type]
    order: opt.field("order") = "megatron",  # type: ignore[valid-type]
    nvlink_domain: opt.field("nvlink_domain") = None,  # type: ignore[valid-type]
    memory_share: Annotated[
        float, opt.alone("--memory-share", help="Share of the memory that may be used.")
    ] = 1.0,
    fits_with: Annotated[
        float,
        opt.alone("--fits-with", help="Rank only what fits with this chance, such as 0.9."),
    ] = FITS_WITH,
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
        str | None,
        typer.Option("--emit", help=f"Print a framework's arguments: {' or '.join(FORMATS)}."),
    ] = None,
    choice: Annotated[int, typer.Option("--choice", help="Which layout to emit, 1 is best.")] = 1,
    as_json: opt.AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Search all layouts: the best, what ties with it, and why the rest fall out."""
    check_count("top", top, most=100_000)
    _check_forms(emit, as_json=as_json, as_csv=as_csv)
    _check_price(tokens, price_per_gpu_hour)
    # NumPy is needed from here on: the other commands do without.
    from steptime.planning.search import search

    device = how.device(accelerator, nvlink_domain)
    every = Question(
        model=shape_named(model),
        accelerator=device,
        num_devices=gpus,
        global_batch_size=global_batch_size,
        seq_length=seq_length,
        precision=precision,
        micro_batch_sizes=tuple(micro_batch_size or ()),
        order=order,
        predictor=how.predictor or _predictor(device, order),
        said=how.said,
        constants=how.constants,
        hbm_share=check_number("--memory-share", memory_share, most=1.0),
        fits_with=fits_with,
        **_given(
            recompute=recompute,
            zero_stages=zero,
            dp_replicates=dp_replicate,
            schedules=schedule,
        ),
    )
    result = search(every, keep=max(top, choice, 1000))
    if not result.best:
        refuse_without_layout(result)
    if emit is not None:
        typer.echo(_emitted(emit, result, choice), nl=False)
        return
    shown = list((result.front if front else result.best)[:top])
    costs = _costs(every, shown, tokens, price_per_gpu_hour)
    _show(result, shown, costs, as_json=as_json, as_csv=as_csv)


def _show(
    result: SearchResult,
    shown: list[Candidate],
    costs: list[Run | None],
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    if as_csv:
        typer.echo(csv_text(result.question, shown, costs), nl=False)
    elif as_json:
        print_json(result_dict(result, shown, costs))
    else:
        print_result(result, shown, costs)


def _check_forms(emit: str | None, *, as_json: bool, as_csv: bool) -> None:
    if sum((as_json, as_csv, emit is not None)) > 1:
        raise ConfigError("--json, --csv and --emit exclude each other; give one")
    if emit is not None:
        check_choice("format", emit, FORMATS)


def _costs(
    question: Question, shown: list[Candidate], tokens: float | None, price: float | None
) -> list[Run | None]:
    return [run_cost(question, one.step_time_s, tokens, price) if tokens else None for one in shown]


def _check_price(tokens: float | None, price_per_gpu_hour: float | None) -> None:
    if price_per_gpu_hour is not None and tokens is None:
        raise ConfigError("--price-per-gpu-hour needs --tokens, the length of the run")


def _emitted(emit: str, result: SearchResult, choice: int) -> str:
    check_count("choice", choice, most=len(result.best))
    one = result.best[choice - 1]
    return emitted(emit, result.question.model, one.layout, one.batch)


def _predictor(device: Accelerator, order: str) -> str:
    name = default_predictor(device)
    known = PREDICTORS[name].any_order or rank_order(order) == ORDERS["megatron"]
    return name if known else WITHOUT_RATES


def _given(**lists: list[Any] | None) -> dict[str, Any]:
    return {name: tuple(values) for name, values in lists.items() if values}
