"""The plan of `steptime sweep`: a file of lists to combine, and of what `search` takes besides."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.cli import options as opt
from steptime.cli.asking import devices
from steptime.inputs.amount import amount, whole, wholes, words
from steptime.inputs.datafiles import read_toml
from steptime.inputs.entries import entries
from steptime.inputs.errors import ConfigError
from steptime.inputs.face import RankedInputs
from steptime.inputs.fields import BY_NAME, FIELDS, SIZES
from steptime.inputs.training_step import shape_named
from steptime.planning.cost import Whole
from steptime.planning.goodput import Failures

if TYPE_CHECKING:
    from steptime.planning.question import Question

COLUMNS = {
    "models": "model",
    "accelerators": "accelerator",
    "gpus": "num_gpus",
    "global_batch_sizes": "global_batch_size",
    "seq_lengths": "seq_length",
}
"""Lists of a plan, and what each is of a question."""
COUNTS = ("gpus", "nodes", "global_batch_sizes", "seq_lengths")
FAILURES = ("device_hours", "checkpoint_s", "restart_minutes")
WHOLE = ("tokens", "price_per_gpu_hour", "goodput", *FAILURES)
"""What is said of the whole run."""
WHOLE_NUMBERS = (*SIZES, "micro_batch_size", "zero_stage")
WORDS = ("recompute", "schedule")
"""What a search may try, as one or as several with commas between."""


def plan_of(path: Path, how: opt.How) -> tuple[list[Question], Whole | None]:
    """Return every combination that a plan asks for, and what it says of the whole run.

    Args:
        path: A TOML file with the lists of `COLUMNS`.
        how: What is said of software, network, model and constants, for all of them.

    Raises:
        ConfigError: If a list is missing, empty, or holds something else.
    """
    table = read_toml(path)
    given = "nodes" if "nodes" in table else "gpus"
    if {"gpus", "nodes"} <= table.keys():
        raise ConfigError(f"{path}: gpus and nodes say the same; give one")
    lists = [given if name == "gpus" else name for name in COLUMNS]
    more = {name: value for name, value in table.items() if name not in lists}
    # What is not known may be a list that is missing, under another name.
    _check_known(path, more)
    for name in lists:
        values = table.get(name)
        if not isinstance(values, list) or not values:
            raise ConfigError(f"{path}: {name} must be a list with at least one value")
    run = _whole({name: more.pop(name) for name in WHOLE if name in more})
    counts = {name: [_count(one) for one in table[name]] for name in COUNTS if name in table}
    return _combined(table, counts, given, more, how), run


def _combined(
    table: dict[str, Any],
    counts: dict[str, list[Any]],
    given: str,
    more: dict[str, Any],
    how: opt.How,
) -> list[Question]:
    """Return the questions of a plan whose keys are checked."""
    from steptime.planning.asked import search_question

    told: dict[str, Any] = {
        "stack": how.said.stack,
        "date": how.said.date,
        "facts": dict(how.said.facts),
    }
    told |= {"predictor": how.predictor, "constants": how.constants}
    told |= {name: _tried(name, value) for name, value in more.items() if name != "nvlink_domain"}
    models = [shape_named(name) for name in table["models"]]
    domain = more.get("nvlink_domain")
    built = [how.device(name, domain) for name in table["accelerators"]]
    sizes = (counts[name] for name in (given, "global_batch_sizes", "seq_lengths"))
    return [
        search_question(
            model=model,
            accelerator=device,
            num_gpus=devices(None, number, device) if given == "nodes" else number,
            global_batch_size=batch,
            seq_length=length,
            **told,
        )
        for device, model, number, batch, length in itertools.product(built, models, *sizes)
    ]


def _check_known(path: Path, more: dict[str, Any]) -> None:
    """Refuse keys that no search takes."""
    known = {field.name for field in FIELDS} - set(COLUMNS.values()) - set(opt.HOW)
    known |= {*COLUMNS, *WHOLE, "nodes", *(field.name for _, field in entries(RankedInputs))}
    for name in more:
        if name in opt.HOW:
            flag = BY_NAME[name].flags[0] if name in BY_NAME else f"--{name}"
            raise ConfigError(
                f"{path}: {name} is said of all of its questions at once; leave it out and say "
                f"{flag} with the command"
            )
        if name not in known:
            raise ConfigError(f"{path}: unknown {name!r}; known: {', '.join(sorted(known))}")


def _count(value: Any) -> Any:
    """Return a count that may be written as on the command line, such as 32k."""
    return whole(value) if isinstance(value, str) else value


def _tried(name: str, value: Any) -> Any:
    """Return what a search shall try, which may be written as on the command line: 2,4."""
    if not isinstance(value, str) or name not in (*WHOLE_NUMBERS, *WORDS):
        return value
    return wholes([value]) if name in WHOLE_NUMBERS else words([value])


def _whole(said: dict[str, Any]) -> Whole | None:
    """Return what is said of the whole run; None where nothing is."""
    if not said:
        return None
    if "tokens" not in said:
        raise ConfigError(f"{next(iter(said))} needs tokens, the length of the run")
    counted = said.get("goodput", False)
    if not isinstance(counted, bool):
        raise ConfigError(f"goodput must be true or false, got {counted!r}")
    failures = Failures(**{name: said[name] for name in FAILURES if name in said})
    tokens = said["tokens"]
    return Whole(
        tokens=amount(tokens) if isinstance(tokens, str) else tokens,
        price_per_gpu_hour=said.get("price_per_gpu_hour"),
        failures=failures if counted or failures != Failures() else None,
    )
