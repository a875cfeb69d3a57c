"""`steptime search`: which layout for this model, on these GPUs, with this batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steptime.cli import options as opt
from steptime.cli.asking import takes_question
from steptime.cli.output import print_json, waiting
from steptime.cli.run_options import Told, takes_run
from steptime.cli.search_output import csv_text, layout_text, print_result, result_dict
from steptime.cli.search_table import lines_of
from steptime.inputs.errors import ConfigError, check_choice, check_count, check_number
from steptime.inputs.face import FITS_WITH
from steptime.inputs.in_number import counted
from steptime.planning.cost import Ends, Run, run_cost
from steptime.planning.emit import FORMATS
from steptime.planning.goodput import goodput

if TYPE_CHECKING:
    from steptime.planning.result import Candidate, SearchResult

EXAMPLES = """
Examples:

- `steptime search --model llama3-70b --accelerator h100 --gpus 512
  --global-batch-size 1024 --seq-length 8k --tokens 15T --price-per-gpu-hour 2.5 --goodput`

- `steptime search -m deepseek-v3 -a h100 --nodes 256 -s 4k -B 15360 --pp 8,16 --ep 32,64
  --schedule all --precision fp8`

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
    words = [f"no layout of {counted(result.question.num_devices, 'GPUs')} works: {help_.reason}"]
    if help_.leanest is not None:
        words.append(f"the leanest is {layout_text(help_.leanest)}")
    if help_.found is not None:
        words.append(f"with {help_.more_devices} GPUs the best fits: {layout_text(help_.found)}")
    if help_.batch is not None:
        words.append(f"with --global-batch-size {help_.batch} it can be cut")
    raise ConfigError("; ".join(words))


@takes_question
@takes_run
def search_command(
    asked: dict[str, Any],
    run: Told,
    memory_share: Annotated[
        float, opt.alone("--memory-share", help="Share of the memory that may be used.")
    ] = 1.0,
    fits_with: Annotated[
        float,
        opt.alone("--fits-with", help="Rank only what fits with this chance; 0 for any."),
    ] = FITS_WITH,
    top: Annotated[int, typer.Option("--top", help="Layouts to print.")] = 10,
    front: Annotated[
        bool, typer.Option("--front", help="Print the front of time against memory instead.")
    ] = False,
    emit: Annotated[
        str | None,
        typer.Option("--emit", help=f"Print a framework's arguments: {' or '.join(FORMATS)}."),
    ] = None,
    choice: Annotated[
        int | None,
        typer.Option("--choice", help="Which layout to emit, 1 is best; else the best it can run."),
    ] = None,
    as_json: opt.AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Search all layouts: the best, what ties with it, and why the rest fall out."""
    check_count("top", top, most=100_000)
    _check_forms(emit, front or run.more, (as_json, as_csv))
    if choice is not None and emit is None:
        raise ConfigError(f"--choice {choice} says which layout --emit writes; give --emit too")
    # NumPy is needed from here on: the other commands do without.
    from steptime.planning.asked import search_question
    from steptime.planning.search import search

    share = check_number("--memory-share", memory_share, most=1.0)
    question = search_question(**asked, memory_share=share, fits_with=fits_with)
    with waiting("searching layouts") as seen:
        result = search(question, keep=max(top, choice or 1, 1000), seen=seen)
    if not result.best:
        refuse_without_layout(result)
    if emit is not None:
        _print_emission(emit, result, choice, run.tokens)
        return
    every = result.front if front else result.best
    lines = lines_of(every, result.tie_fraction, top)
    shown = list(every[:top]) if as_json or as_csv else [line.one for line in lines]
    costs = _costs(result, shown, run)
    if as_csv:
        typer.echo(csv_text(question, shown, costs), nl=False)
    elif as_json:
        print_json(result_dict(result, shown, costs))
    else:
        print_result(result, lines, costs)


def _costs(result: SearchResult, shown: Sequence[Candidate], run: Told) -> list[Run | None]:
    """Return what the whole run takes with each layout; None where nothing is told of it."""
    if run.tokens is None:
        return [None] * len(shown)
    asked, price = result.question, run.price_per_gpu_hour
    stops = goodput(asked, run.failures) if run.failures else None
    return [
        run_cost(asked, one.step_time_s, run.tokens, price, ends(result, one), stops)
        for one in shown
    ]


def ends(result: SearchResult, one: Candidate) -> Ends:
    """Return the ends of a layout's interval.

    Args:
        result: The search.
        one: A layout of it.
    """
    from steptime.planning.result import answered

    found = answered(result.question, one)
    return found.step_time_low_s, found.step_time_high_s


def _check_forms(emit: str | None, more: bool, forms: tuple[bool, bool]) -> None:
    """Refuse forms that exclude each other, and a file with what no file can say."""
    if sum((*forms, emit is not None)) > 1:
        raise ConfigError("--json, --csv and --emit exclude each other; give one")
    if emit is not None:
        check_choice("format", emit, FORMATS)
        if more:
            raise ConfigError(
                "--emit writes no price, no failures and no front; leave those options out"
            )


def _print_emission(
    emit: str, result: SearchResult, choice: int | None, tokens: float | None
) -> None:
    """Print the file, and on stderr what its user must know of it."""
    from steptime.planning.emit.best import emission

    with waiting(f"writing for {emit}"):
        found = emission(emit, result, choice, tokens)
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(found.text, nl=False)
