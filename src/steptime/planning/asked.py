"""A search, asked by name: what the commands and Python share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, Unpack

from steptime.inputs.ability import ability_of
from steptime.inputs.constants import constants_named
from steptime.inputs.entries import entries
from steptime.inputs.errors import ConfigError, check_choice, check_count, check_number
from steptime.inputs.face import EmitInputs, SearchedAndEmitted, SearchInputs
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.precision import precision_word
from steptime.inputs.said import Said, fact_pairs
from steptime.inputs.schedule_name import schedule_meant
from steptime.inputs.signed import checked_names
from steptime.inputs.training_step import device_named, shape_named
from steptime.inputs.written import output_path, write_output
from steptime.planning.cost import MOST_TOKENS
from steptime.planning.emit import FORMATS, suffix_of
from steptime.planning.question import Question
from steptime.planning.result import SearchResult
from steptime.planning.search import search as search_of

KEPT = 1000
EVERY = "all"
MOST_CHOICE = 100_000
EMITTED = tuple(field.name for _, field in entries(EmitInputs))
One = TypeVar("One", int, str, bool)


def several(name: str, value: One | Iterable[One] | None) -> tuple[One, ...]:
    """Return what a search shall try, given as one value, several, or none.

    Args:
        name: Of the input.
        value: As it came in.

    Raises:
        ConfigError: If there is nothing to try.
    """
    if value is None:
        return ()
    if isinstance(value, (str, int)):
        return (value,)
    if not isinstance(value, Iterable):
        raise ConfigError(f"{name} must be one value or several to try, got {value!r:.60}")
    found = tuple(dict.fromkeys(value))
    if not found:
        raise ConfigError(f"{name} is empty: give at least one value to try, or leave it out")
    return found


@checked_names
def search_question(**inputs: Unpack[SearchInputs]) -> Question:
    """Return a checked question: which layout for this model, on these devices?

    Args:
        **inputs: As in `steptime.inputs.face.SearchInputs`.

    Raises:
        ConfigError: If an input cannot be used.
    """
    given: dict[str, Any] = {**inputs}
    device = device_named(inputs["accelerator"], inputs["nvlink_domain"], inputs["network_gbit"])
    every = tuple(map(schedule_meant, several("schedule", inputs["schedule"])))
    said = Said(stack=inputs["stack"], date=inputs["date"], facts=fact_pairs(inputs["facts"]))
    runs = ability_of(said)
    of_software = tuple(name for name in SCHEDULES if runs.runs("schedule", name))
    lists: dict[str, Any] = {
        "recompute": several("recompute", inputs["recompute"]),
        "sequence_parallel": several("sequence_parallel", inputs["sequence_parallel"]),
        "schedules": of_software if EVERY in every else every,
    }
    pinned = ((name, several(name, given[name])) for name in SIZES)
    return Question(
        model=shape_named(inputs["model"]),
        accelerator=device,
        num_devices=inputs["num_gpus"],
        global_batch_size=inputs["global_batch_size"],
        seq_length=inputs["seq_length"],
        precision=precision_word(inputs["precision"]),
        micro_batch_sizes=several("micro_batch_size", inputs["micro_batch_size"]),
        zero_stages=several("zero_stage", inputs["zero_stage"]),
        pinned=tuple((name, sizes) for name, sizes in pinned if sizes),
        order=inputs["order"],
        first_stage_layers=inputs["first_stage_layers"],
        last_stage_layers=inputs["last_stage_layers"],
        predictor=inputs["predictor"],
        said=said,
        constants=constants_named(inputs["constants"]),
        hbm_share=inputs["memory_share"],
        fits_with=inputs["fits_with"],
        **{name: values for name, values in lists.items() if values},
    )


@checked_names
def search(**inputs: Unpack[SearchedAndEmitted]) -> SearchResult:
    """Return the best layouts of a model on some devices, what ties, and why the rest fall out.

    Args:
        **inputs: As in `steptime.inputs.face.SearchedAndEmitted`.

    Raises:
        ConfigError: If an input cannot be used.

    Example:
        >>> import steptime
        >>> found = steptime.search(
        ...     model="llama3-8b", accelerator="h100", num_gpus=16, tp=(1, 2), cp=1,
        ...     seq_length=8192, global_batch_size=64,
        ... )
        >>> found.best[0].layout.num_devices, found.best[0].layout.tp in (1, 2)
        (16, True)
    """
    given: dict[str, Any] = {**inputs}
    emitted: Any = {name: given.pop(name) for name in EMITTED}
    path = _checked_emission(emitted, given)
    result = search_of(search_question(**given), keep=max(KEPT, emitted["choice"] or 1))
    if emitted["emit"] is None:
        return result
    # All that reads and writes files of frameworks comes with it.
    from steptime.planning.emit.best import emission

    found = emission(emitted["emit"], result, emitted["choice"], emitted["tokens"])
    if path is not None:
        write_output("emit_to", path, found.text)
    return replace(result, emission=found)


def _checked_emission(emitted: EmitInputs, given: Mapping[str, Any]) -> Path | None:
    """Return where a file goes, if one is asked for; refuse what belongs to none."""
    kind, path = emitted["emit"], emitted["emit_to"]
    if kind is None:
        stated = [name for name, value in emitted.items() if value is not None]
        if stated:
            raise ConfigError(f"{stated[0]} belongs to a framework's file; give emit=… too")
        return None
    if emitted["tokens"] is not None:
        check_number("tokens", emitted["tokens"], most=MOST_TOKENS)
    check_choice("format", kind, FORMATS)
    if emitted["choice"] is not None:
        check_count("choice", emitted["choice"], most=MOST_CHOICE)
    if path is None:
        return None
    _check_suffix(kind, path)
    return output_path("emit_to", path, model=given["model"], accelerator=given["accelerator"])


def _check_suffix(kind: str, path: object) -> None:
    """Refuse a name by which a framework's file would not be read back."""
    from steptime.readers.configured import SYNTAX

    own = suffix_of(kind)
    suffix = Path(str(path)).suffix.lower()
    right = SYNTAX.get(suffix) == SYNTAX.get(own) and suffix != ".py"
    if not right:
        named = Path(str(path)).with_suffix(own) if suffix else f"{path}{own}"
        raise ConfigError(
            f"emit_to {str(path)[:200]}: what {kind} reads ends in {own}, and could not be read "
            f"back by another name; write {str(named)[:200]}"
        )
