"""The best layout of a search that a framework can run, as its file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from steptime.answer.answer import Prediction
from steptime.formulas.roofline.tensor import chunk_share
from steptime.inputs.ability import ability_of, check_run
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.generation import generations
from steptime.inputs.layout import Batch, Layout
from steptime.planning.candidate import Emission
from steptime.planning.emit import OVERLAP, USUAL_NODE, emitted
from steptime.planning.emit.length import steps_of, with_steps
from steptime.planning.emit.names import headline
from steptime.planning.emit.read_back import said_otherwise, time_of
from steptime.planning.emit.since import younger
from steptime.planning.emit.words import said_by, unsaid
from steptime.planning.result import SearchResult, answered
from steptime.planning.search import search

MORE = 100_000
"""Layouts that are tried where the framework runs none of the first."""


def node_size_of(device: Accelerator) -> int:
    """Return the GPUs of a server: of the device's row, else those of a small domain.

    Args:
        device: The accelerator.
    """
    return device.node_size or min(device.nvlink_domain, USUAL_NODE)


def capability_of(device: Accelerator) -> int:
    """Return the major number of a device's compute capability, 0 where there is none.

    Args:
        device: The accelerator.
    """
    known = generations().get(device.generation)
    return 0 if known is None else known.compute_capability


def emission(
    kind: str, result: SearchResult, choice: int | None = None, tokens: float | None = None
) -> Emission:
    """Return the file of a layout of a search.

    Args:
        kind: One of ``FORMATS``.
        result: The search.
        choice: Which layout, 1 is the best; the best that the framework can run if None.
        tokens: Of the whole run, which the file then says in steps.

    Raises:
        ConfigError: If the framework cannot run the layout, or none of them.
    """
    _check_device(kind, result.question.accelerator)
    _check_model(kind, result)
    if not result.best:
        raise ConfigError(f"{kind} can run no layout of the ranking: none fits; give more GPUs")
    found = _chosen(kind, result, choice)
    if tokens is None:
        return found
    steps = steps_of(tokens, found.candidate.batch)
    return replace(found, text=with_steps(kind, found.text, steps))


def _chosen(kind: str, result: SearchResult, choice: int | None) -> Emission:
    """Return the file of a stated layout, or of the best that the framework can run."""
    if choice is not None:
        check_count("choice", choice, most=len(result.best))
        return _of(kind, result, choice)
    try:
        return _of(kind, result, 1)
    except ConfigError as error:
        reasons = [str(error)]
    for kept in (result, None):
        every = kept or search(result.question, keep=MORE)
        for place in range(2, len(every.best) + 1):
            try:
                found = _of(kind, every, place)
            except ConfigError as error:
                reasons.append(str(error))
                continue
            note = f"layout {place} of the ranking, the best that {kind} can run: {reasons[0]}"
            return Emission(text=found.text, notes=(note, *found.notes), candidate=found.candidate)
    # The last is of a layout that came further than the first.
    told = dict.fromkeys((reasons[0], reasons[-1]))
    raise ConfigError(f"{kind} can run no layout of the ranking: {'; '.join(told)}")


def _check_model(kind: str, result: SearchResult) -> None:
    """Refuse a model that the framework does not have, before any layout is blamed.

    One device cuts nothing: what stands in its way is the model.
    """
    question = result.question
    one = Batch(global_batch_size=1, seq_length=question.seq_length, micro_batch_size=1)
    try:
        emitted(kind, question.model, Layout(), one)
    except ConfigError as error:
        raise ConfigError(f"{kind} can run no layout of the ranking: {error}") from None


def _check_device(kind: str, device: Accelerator) -> None:
    """Refuse a device on which the framework does not start."""
    known = generations().get(device.generation)
    if known is None or known.written_for is None or kind in known.written_for:
        return
    own = " or ".join(known.written_for)
    instead = f"emit {own}, or for" if own else "emit for"
    raise ConfigError(f"{kind} does not run on {device.name}; {instead} a GPU, such as -a h100")


def _of(kind: str, result: SearchResult, place: int) -> Emission:
    """Return the file of the layout in a place."""
    question, one = result.question, result.best[place - 1]
    shape, node = question.model, node_size_of(question.accelerator)
    # What the framework cannot run is refused before anything is computed, in its stated month too.
    check_run(kind, ability_of(question.said), one.layout, one.batch)
    emitted(kind, shape, one.layout, one.batch, {}, node)
    own = answered(question, one)
    facts = _facts(kind, own)
    text = emitted(kind, shape, one.layout, one.batch, facts, node)
    differs = said_otherwise(kind, text, own)
    missed = _sayable(kind, own, differs)
    if missed:
        # What the file would leave to its framework, the time has otherwise: it says so.
        facts = missed | facts
        text = emitted(kind, shape, one.layout, one.batch, facts, node)
        differs = said_otherwise(kind, text, own)
    # What differs is told once, in the line that says so.
    capability = capability_of(question.accelerator)
    text = emitted(kind, shape, one.layout, one.batch, facts, node, differs, capability)
    stack = own.step.said.stack or own.software.stack.name
    when = f" --date {own.step.said.date}" if own.step.said.date else ""
    lines = [f"# its time is predicted with --stack {stack}{when}: read it back with the same"]
    notes = []
    if differs:
        told = f"no key of the file says as predicted: {', '.join(differs)}"
        notes += [one for one in (told, time_of(kind, text, own)) if one]
    if young := younger(kind, text, own.step.said):
        notes.append(young)
    lines += [f"# {one}" for one in notes]
    first = headline(shape, one.layout)
    head, _, more = text.partition(f"{first}\n")
    added = "\n".join(lines)
    whole = f"{head}{first}\n{added}\n{more}"
    return Emission(text=whole, notes=tuple(notes), candidate=one)


def _sayable(kind: str, own: Prediction, differs: list[str]) -> dict[str, Any]:
    """Return what the answer has otherwise than a file, as far as the format has words for it."""
    names = {one.partition("=")[0] for one in differs}
    told = {
        name: getattr(record, name)
        for record in (own.software.memory, own.software.time)
        if record is not None
        for name in sorted(names & said_by(kind))
        if hasattr(record, name)
    }
    lost = {one.partition("=")[0] for one in unsaid(kind, told)}
    return {name: value for name, value in told.items() if name not in lost}


def _facts(kind: str, own: Prediction) -> dict[str, Any]:
    """Return what a file shall say of the software: what was named, and how experts exchange.

    Without named software the file asks for the overlap that its framework's time takes for
    granted, unless that changes the answer.
    """
    said, software = own.step.said, own.software
    spoken = said_by(kind)
    found: dict[str, Any] = {}
    if said.stack is not None:
        found = {name: line.value for name, line in software.lines.items() if name in spoken}
    if software.time is not None:
        found["plain_exchange"] = software.time.plain_exchange
    if own.step.model.experts is None or "plain_exchange" not in spoken:
        found.pop("plain_exchange", None)
    found |= dict(said.facts)
    if software.time is not None and OVERLAP in spoken and own.record.tp > 1.0:
        # What the layout leaves nothing to is not asked for: the run would not start.
        found |= {} if chunk_share(own.record, software.time) else {OVERLAP: 0.0}
    return found
