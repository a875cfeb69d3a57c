"""`steptime sweep`: many searches, here, on processes, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steptime.cli import options as opt
from steptime.cli.output import console, print_json
from steptime.cli.sweep_plan import plan_of
from steptime.inputs.errors import ConfigError, check_count

if TYPE_CHECKING:
    from concurrent.futures import Executor

EXAMPLES = """
A plan lists what to combine:

    models = ["llama3-8b", "llama3-70b"]
    accelerators = ["h100", "gb200"]
    gpus = [256, 512, 1024]
    global_batch_sizes = [1024]
    seq_lengths = ["8k", "32k"]

(`nodes` may stand in place of `gpus`), and what `search` takes besides, for all of them, under
Python's names:

    tp = [4, 8]
    precision = "fp8"
    schedule = "all"
    tokens = "15T"
    price_per_gpu_hour = 2.5
    goodput = true

Examples:

- `steptime sweep plan.toml --out answers --processes 2`

- `steptime sweep plan.toml --out answers --scheduler tcp://10.0.0.1:8786`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the application.

    Args:
        app: The application.
    """
    app.command("sweep", epilog=EXAMPLES)(sweep_command)


@contextlib.contextmanager
def executor_for(processes: int, scheduler: str | None) -> Iterator[Executor | None]:
    """Yield where the work is done, and close it afterwards.

    Args:
        processes: Of this machine; 1 for no executor at all.
        scheduler: Address of a Dask scheduler.
    """
    if scheduler is not None:
        import distributed

        connect: Any = distributed.Client
        try:
            client = connect(scheduler, timeout=10)
        except (OSError, ValueError) as error:
            raise ConfigError(f"no Dask scheduler at {scheduler}: {error}") from None
        with client:
            yield client.get_executor()
    elif processes > 1:
        from steptime.planning.workers import ProcessPool

        with ProcessPool(processes) as executor:
            yield executor
    else:
        yield None


@opt.takes_how
def sweep_command(
    how: opt.How,
    plan: Annotated[Path, typer.Argument(help="TOML file with the lists to combine.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the Parquet files.", writable=True)
    ],
    processes: Annotated[int, typer.Option("--processes", help="Of this machine.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, no progress.")] = False,
) -> None:
    """Search every combination of a plan; a second start skips what is there."""
    from rich.console import Console
    from rich.progress import Progress

    from steptime.planning.sweep import run_sweep

    check_count("processes", processes, most=1024)
    questions, whole = plan_of(plan, how)
    with (
        executor_for(processes, scheduler) as executor,
        Progress(console=Console(stderr=True), disable=as_json or not sys.stderr.isatty()) as bar,
    ):
        task = bar.add_task("questions", total=len(questions))

        def show(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        report = run_sweep(questions, out, executor=executor, progress=show, whole=whole)
    told = {"done": report.done, "skipped": report.skipped, "failed": dict(report.failed)}
    told["others"] = report.others
    if as_json:
        print_json({**told, "folder": str(out)})
        return
    console().print(f"{report.done} answered, {report.skipped} were there already, in {out}")
    if report.done or report.skipped:
        console().print(
            f"to read them: pandas.read_parquet({str(out)!r}), a row a layout, rank 1 the best",
            markup=False,
        )
    if report.others:
        console().print(
            f"{report.others} other answers lie there too, of another plan or by other constants, "
            "code or data: the column answered_by tells them apart"
        )
    for key, reason in report.failed:
        console().print(f"failed {key}: {reason}", markup=False)
