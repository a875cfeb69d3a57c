"""Many searches: models x clusters x batches, on any executor, resumable.

Each question that is done becomes one Parquet file, so a second start asks only what is
not there yet. The executor may be of ``concurrent.futures`` or Dask's:
``distributed.Client(...).get_executor()``.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.parquet import all_keys, finished_keys, write_rows
from steptime.inputs.said import NOTHING_SAID, Said
from steptime.planning.cost import Whole
from steptime.planning.gather import PATIENCE_S, NoWorkersError, gathered
from steptime.planning.question import Question
from steptime.planning.search import search
from steptime.planning.sweep_rows import KINDS, rows_of
from steptime.planning.task import OtherSteptimeError, Task, check_same, task_of

KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """What became of a sweep.

    Attributes:
        done: Questions answered by this start.
        skipped: Questions whose answer was there already.
        failed: Key and reason of each question that could not be asked.
        others: Answers in the folder that are of another plan, or that other constants, code
            or data gave.
    """

    done: int
    skipped: int
    failed: tuple[tuple[str, str], ...]
    others: int


def questions_of(
    *,
    models: Sequence[ModelShape],
    accelerators: Sequence[Accelerator],
    gpus: Sequence[int],
    global_batch_sizes: Sequence[int],
    seq_lengths: Sequence[int],
    said: Said = NOTHING_SAID,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
) -> list[Question]:
    """Return every combination of models, devices, clusters and batches.

    Args:
        models: Shapes.
        accelerators: Devices.
        gpus: Sizes of the cluster.
        global_batch_sizes: Sequences per step.
        seq_lengths: Tokens per sequence.
        said: What is said of the software, for all of them.
        predictor: Model of the step time; the better one that knows the device if None.
        constants: Of the roofline model; the published ones if None.

    Raises:
        ConfigError: If a combination is out of range.
    """
    every = itertools.product(accelerators, models, gpus, global_batch_sizes, seq_lengths)
    return [
        Question(
            model=model,
            accelerator=device,
            num_devices=number,
            global_batch_size=batch,
            seq_length=length,
            said=said,
            predictor=predictor,
            constants=constants,
        )
        for device, model, number, batch, length in every
    ]


def answer(task: Task) -> list[dict[str, Any]]:
    """Return the rows of one question: its best layouts, or one row without any.

    This is what workers run: it takes and returns plain data.

    Args:
        task: The question with what it depends on.

    Raises:
        OtherSteptimeError: If this worker has other code or data than the asker.
    """
    check_same(task)
    return rows_of(task, search(task.question, keep=KEPT))


def run_sweep(
    questions: Iterable[Question],
    folder: Path,
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    patience_s: float = PATIENCE_S,
    whole: Whole | None = None,
) -> SweepReport:
    """Answer every question that the folder does not hold yet.

    Args:
        questions: What to ask; the same question twice is asked once.
        folder: Where the answers go, one Parquet file each.
        executor: Where the work is done; here, one after another, if None.
        progress: Called with the questions settled and all of them.
        patience_s: How long to wait for a worker where an executor of Dask has none.
        whole: What is said of the whole run, for days and cost of each layout; None without.

    Returns:
        The counts; answers are read with `steptime.inputs.parquet.read_rows`.

    Raises:
        ConfigError: If the folder cannot be written, or the executor's workers are lost for
            good: what was answered stays, and a second start goes on from there.
    """
    tasks = (replace(task_of(question), whole=whole) for question in questions)
    wanted = {task.key: task for task in tasks}
    there = finished_keys(folder, wanted)
    todo = [key for key in wanted if key not in there]
    settled = len(there)
    failed: list[tuple[str, str]] = []
    if progress:
        progress(settled, len(wanted))

    def keep(key: str, rows: Callable[[], list[dict[str, Any]]]) -> None:
        nonlocal settled
        try:
            found = rows()
        except ConfigError as error:
            failed.append((key, str(error)))
        else:
            write_rows(folder, key, found, KINDS)
        settled += 1
        if progress:
            progress(settled, len(wanted))

    if executor is None:
        for key in todo:
            keep(key, lambda key=key: answer(wanted[key]))  # type: ignore[misc]
    else:
        _on_executor(executor, {key: wanted[key] for key in todo}, keep, patience_s)
    return SweepReport(
        done=len(todo) - len(failed),
        skipped=len(there),
        failed=tuple(failed),
        others=len(all_keys(folder) - wanted.keys()),
    )


def _on_executor(
    executor: Executor,
    todo: dict[str, Task],
    keep: Callable[[str, Callable[[], list[dict[str, Any]]]], None],
    patience_s: float,
) -> None:
    """Have all questions answered and keep the answers as they come."""
    left = len(todo)
    try:
        with contextlib.closing(gathered(executor, answer, todo, patience_s=patience_s)) as found:
            for key, rows in found:
                keep(key, rows)
                left -= 1
    except ConfigError:
        raise
    except OtherSteptimeError as error:
        raise ConfigError(str(error)) from None
    except NoWorkersError as error:
        raise ConfigError(
            f"{error} with {left} questions open; what was answered is kept: start workers, then "
            "the sweep again to go on"
        ) from None
    except Exception as error:
        raise ConfigError(
            f"a worker was lost ({type(error).__name__}) with {left} questions open; what was "
            "answered is kept: start again to go on"
        ) from error
