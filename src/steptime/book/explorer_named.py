"""The tables by which the page answers for named software, a month or single facts."""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, replace
from typing import Any

from steptime.answer.heads import HEADS_LEFT
from steptime.answer.known import doubtful_share
from steptime.answer.width import KEYS, KINDS, kept_width, widened
from steptime.book.decided import Decisions, Input
from steptime.book.explorer_assumed import assumed_data
from steptime.book.explorer_software import (
    GENERATION,
    KIND,
    LATENT,
    MAYBE,
    NAME,
    NOBODY,
    PRECISION,
    SHARDED,
    STATED,
    ZERO,
    bits_refused,
    date_refused,
    device_of,
    era_taken,
    facts_of_stack,
    facts_trained,
    known_months,
    records_assumed,
    sharding_refused,
    stack_taken,
    starts_refused,
)
from steptime.formulas.records import MemoryFacts, TimeFacts, Width
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import published_constants
from steptime.inputs.context_kind import CONTEXT_KIND, context_kinds
from steptime.inputs.errors import ConfigError
from steptime.inputs.fact_kinds import LAYERS, fact_kinds
from steptime.inputs.generation import ANY, STORED, generations, kernel_named
from steptime.inputs.precision import precisions
from steptime.inputs.presets import accelerator, accelerator_names, model, model_names
from steptime.inputs.said import KNOWLEDGE, Said
from steptime.inputs.software import TOO_MANY_LAYERS, knows, power_scale, relative_rate
from steptime.inputs.software_taken import MIXTURES
from steptime.inputs.stack import FACT_NAMES, KERNEL, Stack, families, last_of, months, stacks

TRAINED = Input(
    name="model", options=(NOBODY, *(one for one in model_names() if model(one).trained_with))
)
"""Models whose own report says what trained them."""
DATED, EXACTLY = (Input(name=name, options=("0", "1")) for name in ("dated", "exact"))
STACK = Input(name="stack", options=tuple(stacks()))
OPEN_KIND, OPEN_GENERATION = (
    replace(one, only_beside=("date", NOBODY)) for one in (KIND, GENERATION)
)
"""What of a family is said to change with the month depends on these, and only if it is open."""


def _of_stack(tables: Decisions, stack: Stack) -> dict[str, Any]:
    """Return what a stack is called and the places of what it does, asked for what it depends on.

    Args:
        tables: Gets them.
        stack: The stack.
    """
    when = {word for fact in stack.facts for word in fact.when}
    words = {
        "latent": {"latent attention"},
        "precision": {*precisions(), "16 bits", "8 bits and below"},
        "generation": {*generations(), "kernels counted"},
        "kind": {"experts", "dense"},
        "dated": {"undated"},
    }
    every = (KIND, PRECISION, GENERATION, LATENT, DATED)
    inputs = [one for one in every if words[one.name] & when]
    settled = {one.name: one.options[0] for one in every} | {"stack": stack.name}
    changes = sorted({fact.before for fact in stack.facts if fact.before})
    date = Input(name="date", options=(known_months()[0], *changes), ordered=True)
    return {
        "title": stack.title,
        "family": stack.family,
        "since": stack.since,
        "last": last_of(stack),
        "lasts": bool(stack.of),
        "zero": list(stack.zero_stages),
        "new": tables.add(inputs, lambda own: facts_of_stack({**settled, "date": NOBODY, **own})),
        "dated": tables.add([date, *inputs], lambda own: facts_of_stack({**settled, **own})),
    }


def _assumed_places(tables: Decisions) -> dict[str, int]:
    """Return the places of what is said of software that is not stated in full."""
    learnt = Input(name="learnt", options=(NOBODY, *ZERO.options))
    usual = {"learnt": NOBODY, "sharded": "0", "kind": "dense", "model": NOBODY}
    usual |= {"precision": "bf16", "dated": "0", "date": NOBODY}
    exact = tuple(name for name in NAME.options if Said(stack=name or None).exact)
    whole = tuple(name for name in NAME.options if name and name not in exact)

    def records(own: Any) -> Any:
        return records_assumed({**usual, **own})

    inputs = {
        "unnamed": ((NOBODY,), [TRAINED, DATED, MAYBE, SHARDED, KIND, GENERATION]),
        "family": (whole, [DATED, MAYBE, learnt, OPEN_KIND, OPEN_GENERATION]),
        "exact": (exact, [KIND, GENERATION]),
    }
    return {
        kind: tables.add([Input(name="name", options=names), *more], records)
        for kind, (names, more) in inputs.items()
    }


def _kernels(device: Accelerator) -> dict[str, float] | None:
    """Return the rate of each attention kernel on a device, None where it is not known."""
    if not knows(device):
        return None
    rates = generations()[device.generation].kernels
    return {name: one.flop_per_s * relative_rate(device) for name, one in rates.items()}


def _flash(device: Accelerator) -> dict[str, float]:
    """Return the share of software that stores no scores, of each kernel that is several."""
    if not knows(device):
        return {}
    rates = generations()[device.generation].kernels
    return {name: one.flash for name, one in rates.items() if one.flash not in (0.0, 1.0)}


def _device(device: Accelerator) -> dict[str, Any]:
    known = knows(device)
    return {
        "generation": device.generation if device.generation in generations() else NOBODY,
        "kin": device.generation,
        "power_scale": power_scale(device) if known else None,
        "kernels": _kernels(device),
        "flash": _flash(device),
    }


def _kernel_faults() -> dict[str, dict[str, str]]:
    """Return by generation why a kernel is none there."""
    found: dict[str, dict[str, str]] = {}
    for generation in generations().values():
        faults = found[generation.name] = {}
        for name in sorted({*_kernel_words()} - {*generation.kernels}):
            try:
                kernel_named(generation, name)
            except ConfigError as error:
                faults[name] = str(error)
    return found


def _kernel_words() -> list[str]:
    return sorted({name for one in generations().values() for name in one.kernels})


def _kinds() -> dict[str, Any]:
    """Return the range of each kind of fact, and which kind each fact is of."""
    kinds = {one.name: one for one in fact_kinds().values()}

    def bound(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "kinds": {
            name: {
                "title": one.title,
                "least": bound(one.least),
                "above": one.above,
                "most": bound(one.most),
                "whole": one.whole,
            }
            for name, one in kinds.items()
        },
        "kind_of": {fact: one.name for fact, one in fact_kinds().items() if fact in FACT_NAMES},
    }


def _widths(knowledge: str) -> dict[str, Width]:
    found = {KEYS[kind]: kept_width(kind, knowledge) for kind in KINDS}
    return {key: one for key, one in found.items() if one is not None}


def _bases(knowledge: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return by generation and bits the base of intervals where no run stands behind a share."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in generations():
        for bits in {one.bits for one in precisions().values()}:
            share = doubtful_share(device_of(name), bits, published_constants())
            if share is not None:
                wider = {k: widened(one, share.doubt) for k, one in _widths(knowledge).items()}
                found.setdefault(name, {})[str(bits)] = {k: float(w.base) for k, w in wider.items()}
    return found


def _names() -> dict[str, dict[str, Any]]:
    """Return how much each name says of the software."""
    said = {name: Said(stack=name or None) for name in NAME.options}
    return {n: {"knowledge": one.knowledge, "exact": one.exact} for n, one in said.items()}


def _facts_known() -> dict[str, Any]:
    """Return what is known of facts: usual values, words, ranges, and which are of layers."""
    return {
        "time": asdict(TimeFacts()),
        "memory": asdict(MemoryFacts()),
        "words": {"kernel": KERNEL, "context": CONTEXT_KIND, "stored": STORED, "any": ANY},
        "words_of": {KERNEL: _kernel_words(), CONTEXT_KIND: list(context_kinds())},
        "context": {
            name: {fact.name: fact.value for fact in facts}
            for name, facts in context_kinds().items()
        },
        **_kinds(),
        "layers": [fact for fact, kind in fact_kinds().items() if kind.name == LAYERS],
    }


def _sentences() -> dict[str, Any]:
    """Return the sentences of refusals, in which the page puts numbers."""
    return {
        "kernel_faults": _kernel_faults(),
        "too_many_layers": TOO_MANY_LAYERS.replace(":.0f", ""),
        "heads_left": HEADS_LEFT,
    }


@functools.cache
def named_data() -> dict[str, Any]:
    """Return the tables, ready to be JSON; nobody may change them."""
    tables = Decisions()
    return {
        "names": _names(),
        "families": [name for name in families() if name not in MIXTURES],
        "mixtures": MIXTURES,
        "trained": TRAINED.options,
        "stacks": {name: _of_stack(tables, one) for name, one in stacks().items()},
        "places": {
            "era": tables.add([NAME, GENERATION, ZERO], era_taken, date=NOBODY),
            "sharding": tables.add([NAME, STATED, ZERO], sharding_refused),
            "stack": tables.add([NAME, MAYBE, SHARDED], stack_taken),
            "bits": tables.add([EXACTLY, STACK, MAYBE, PRECISION], bits_refused),
            "starts": tables.add([NAME, GENERATION], starts_refused),
            "early": tables.add([NAME, STATED], date_refused),
            "trained": tables.add([TRAINED, MAYBE, PRECISION, GENERATION], facts_trained),
            **_assumed_places(tables),
        },
        **assumed_data(tables),
        "nodes": tables.nodes,
        "devices": {name: _device(accelerator(name)) for name in accelerator_names()},
        "months": months(),
        **_facts_known(),
        **_sentences(),
        "widths": {
            level: {key: asdict(one) for key, one in _widths(level).items()} for level in KNOWLEDGE
        },
        "bases": {level: _bases(level) for level in KNOWLEDGE},
    }
