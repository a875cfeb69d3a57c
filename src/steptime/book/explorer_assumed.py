"""What the page knows of what an answer takes for granted, and of what a question leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from steptime.answer import reach, remarks
from steptime.answer.choices import months_of
from steptime.answer.known import known_of
from steptime.answer.limits import NOT_MODELLED, limits
from steptime.answer.predictor import PREDICTORS
from steptime.answer.unused import UNUSED
from steptime.book.decided import Decisions, Input, Values
from steptime.book.explorer_software import GENERATION, MAYBE, NAME, said_of
from steptime.book.explorer_state import FIELD_KEYS
from steptime.inputs import ability
from steptime.inputs.assumed import Assumed
from steptime.inputs.context_kind import CONTEXT_KIND, context_kinds, windows_refused
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fact import Fact
from steptime.inputs.fields import BY_NAME, SIZES
from steptime.inputs.layout import BATCH_FIELDS
from steptime.inputs.precision import precisions
from steptime.inputs.presets import accelerator, accelerator_names, model, model_names
from steptime.inputs.said import NOTHING_SAID
from steptime.inputs.software_taken import ALL_KERNELS, HOW_PAST, PAST
from steptime.inputs.usual import network_taken

DEVICE = Input(name="gpu", options=tuple(accelerator_names()))
PAGE_MODELS = tuple(name for name, one in PREDICTORS.items() if not one.most_chunks)
BY = Input(name="by", options=PAGE_MODELS)
BITS = Input(name="precision", options=tuple(precisions()))
_FORMATS = (":,.2f", ":,.0f", ":,")
"""How Python writes numbers into sentences; the page does so itself."""


def as_lists(records: Sequence[Assumed]) -> list[list[str]]:
    """Return records as the page has them: what, value, why, how.

    Args:
        records: Of an answer.
    """
    return [[one.what, one.value, one.why, one.how] for one in records]


def _plain(sentence: str) -> str:
    for one in _FORMATS:
        sentence = sentence.replace(one, "")
    return sentence


def _device_records(values: Values) -> dict[str, Any]:
    """Return what is taken of a device, by one predictor; nothing where it says nothing of it."""
    device, shape = accelerator(values["gpu"]), model("llama3-8b")
    try:
        known = known_of(shape, device, values["precision"], NOTHING_SAID, values["by"])
    except ConfigError:
        return {}
    return {"records": as_lists(known.assumed)}


def _dates(generation: str) -> dict[str, Any]:
    """Return the first and the last month of runs, with the sentence beyond each."""
    early, late = reach.dates_told(generation)
    return {"dates": reach.dates_seen(generation), "earlier": early, "later": late}


def _reaches() -> dict[str, Any]:
    """Return by generation what published runs on it were, with the sentence beyond each."""
    cells = {
        reach.cell_of(mixed, name): reach.UNSEEN_CELL.format(cell=reach.cell_of(mixed, name))
        for mixed in (False, True)
        for name in precisions()
    }
    return {
        "cells": cells,
        "cell_of": [{name: reach.cell_of(m, name) for name in precisions()} for m in (False, True)],
        "generations": {
            name: {
                **_dates(name),
                "rates": one.rates,
                "cells": one.cells,
                "most_devices": one.most_devices,
                "more_devices": reach.MORE_DEVICES.format(most=one.most_devices),
                "most_parameters": one.most_parameters,
                "more_parameters": reach.MORE_PARAMETERS.format(most=one.most_parameters / 1e9),
            }
            for name, one in reach.reaches().items()
        },
        **_dates(""),
        "unseen_device": reach.UNSEEN_DEVICE,
        "no_generation": reach.NO_GENERATION,
        "longest": reach.longest_seen(),
        "longer": reach.LONGER.format(most=reach.longest_seen()),
        "shortest_s": reach.shortest_seen_s(),
        "shorter": reach.SHORTER.format(least=1e3 * reach.shortest_seen_s()),
        "how_shorter": reach.HOW_SHORTER,
        "most_attention": reach.MOST_ATTENTION,
        "mostly_attention": reach.MOSTLY_ATTENTION,
        "what": reach.BEYOND,
    }


def _abilities(tables: Decisions) -> dict[str, Any]:
    """Return every limit of what software runs, and where it is told which hold."""
    every: list[ability.Limit] = []

    def held(values: Values) -> dict[str, Any]:
        limits = ability.ability_of(said_of(values)).limits
        # What the page cannot state keeps its default, which all software runs.
        found = [one for one in limits if one.of in FIELD_KEYS or one.counts]
        every.extend(one for one in found if one not in every)
        return {"limits": [every.index(one) for one in found]}

    place = tables.add([NAME, MAYBE], held)
    return {"what": ability.NOT_RUN, "place": place, "limits": [_limit(one) for one in every]}


def _limit(one: ability.Limit) -> dict[str, Any]:
    """Return a limit with its sentence, in which the page puts software and values."""
    named = (one.of, *one.where, *SIZES, *BATCH_FIELDS, "zero_stage", "micro")
    words = {name: f"{{{name}}}" for name in named}
    numbers = {"of": one.of, "least": one.least, "most": one.most, "one_of": one.one_of}
    return numbers | {
        "where": one.above,
        "counts": one.counts,
        "asked": one.asked(words),
        "text": one.sentence("{stack}", words),
        "how": one.how,
    }


def _windows() -> list[str]:
    """Return the ways to share context whose software refuses sliding windows."""
    lines = {
        kind: {CONTEXT_KIND: Fact(name=CONTEXT_KIND, value=kind, kind="stated", source="")}
        for kind in context_kinds()
    }
    return [kind for kind, line in lines.items() if windows_refused(line)]


def _months(values: Values) -> dict[str, Any]:
    """Return the months that are tried of software that is not stated exactly."""
    said = said_of(values)
    return {"months": [] if said.exact else months_of(said, values["generation"])}


def _networks() -> dict[str, dict[str, Any]]:
    """Return for each device the network that is taken, as the answer says it, and those tried."""
    found = {}
    for name in accelerator_names():
        device = accelerator(name)
        taken = network_taken(device, device.nvlink_domain + 1)
        own_gbit = device.network_bytes_per_s * 8.0 / 1e9
        seen = reach.networks_seen(device.generation, own_gbit)
        found[name] = {"records": as_lists(taken), "tried": seen}
    return found


def assumed_data(tables: Decisions) -> dict[str, Any]:
    """Return what the lists of what was assumed and of what is open are made of.

    Args:
        tables: Gets what is looked up.
    """
    shapes = {name: model(name) for name in model_names()}
    fields = {one.name for one in limits() if one.place == "model"}
    words = data_table("open_things.toml")
    return {
        "device_records": tables.add([DEVICE, BY, BITS], _device_records),
        "networks": _networks(),
        "reach": _reaches(),
        "abilities": _abilities(tables),
        "positions": {name: one.max_positions for name, one in shapes.items() if one.max_positions},
        "shapes": {
            name: {field: getattr(one, field) for field in fields}
            for name, one in shapes.items()
            if any(getattr(one, field) for field in fields)
        },
        "limits": [asdict(one) | {"value": NOT_MODELLED} for one in limits() if one.place],
        "windows": _windows(),
        "remarks": {
            name.lower(): _plain(getattr(remarks, name))
            for name in (
                *("UNUSED_LAYERS", "ONE_RANK", "NO_WINDOWS", "TOO_LONG", "HOLDS_MORE"),
                *("WHOLE_LAYER", "OTHER_SOFTWARE", "SHARDING", "SEQUENCE", "OVERLAP"),
                *("NO_DOMAIN", "NO_SPLIT"),
            )
        }
        | {"unused": UNUSED, "all_kernels": ALL_KERNELS.why, "how_kernel": ALL_KERNELS.how}
        | {"past": PAST, "how_past": HOW_PAST},
        "open": {name: words[name] for name in ("fields", "facts", "memory")},
        "how": {name: BY_NAME[name].typed for name in ("stack", "date", "network_gbit")},
        "seen": data_table("reach.toml")["families"],
        "tried_months": tables.add([NAME, GENERATION], _months, date=""),
    }
