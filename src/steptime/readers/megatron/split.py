"""Cuts of layers into stages that Megatron-LM refuses, and why."""

from __future__ import annotations

from typing import Any

from steptime.formulas.schedule import entry_number
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.usual import USUAL_SCHEDULE
from steptime.readers.common.patterns import chunk_layers, layout_words, stages_of
from steptime.readers.keys.entries import Entries, Entry
from steptime.readers.keys.safe import shown

FIRST = ("decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage")
LAST = ("decoder_last_pipeline_num_layers", "num_layers_in_last_pipeline_stage")
_EACH = "num_layers_per_virtual_pipeline_stage"
_ACCOUNTS = ("account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split")
_WORDS = {"E": "embedding", "t": "decoder", "m": "mtp", "L": "loss"}


def check_layout(entries: Entries, cut: Entry) -> None:
    """Refuse a layout that is written out and does not hold the model.

    Args:
        entries: The file's keys.
        cut: The layout.

    Raises:
        ConfigError: With the count that does not match.

    References:
        megatronlm2026, megatron/core/transformer/pipeline_parallel_layer_layout.py:
        validate_layer_layout and parse_str_to_list; megatron/training/arguments.py.
    """
    reading = entries.reading
    words = layout_words(cut.value)
    strange = next((word for word in words if word not in (*_WORDS, *_WORDS.values())), None)
    if strange is not None and isinstance(cut.value, list):
        # A list that Python makes may hold what is not known here.
        return
    here = f"{reading.at(cut.line)}: {cut.written} = {shown(cut.value)}"
    if strange is not None:
        raise ConfigError(f"{here} has {shown(strange)}; known: {', '.join(_WORDS)}")
    plain = [_WORDS.get(word, word) for word in words]
    if plain.count("embedding") != 1 or plain[0] != "embedding":
        raise ConfigError(f"{here} must start with the embedding (E), and have it once")
    if plain.count("loss") != 1 or plain[-1] != "loss":
        raise ConfigError(f"{here} must end with the loss (L), and have it once")
    number, pp = stages_of(cut.value), reading.value("pp")
    if pp is not None and number % pp:
        raise ConfigError(f"{here} has {number} stages, which pp = {pp} does not divide")
    held, layers = sum(chunk_layers(cut.value)), _layers(entries)
    if layers is not None and held != layers:
        raise ConfigError(f"{here} has {held} layers, but num_layers = {layers}; make them agree")
    beside = entries.entry(*FIRST) or entries.entry(*LAST) or entries.entry(_EACH)
    accounts = [name for name in _ACCOUNTS if entries.flag(name)]
    other = beside.written if beside is not None else accounts[0] if accounts else ""
    if other:
        raise ConfigError(f"{here} leaves no place for {other}; give one of them")


def check_ends(entries: Entries) -> None:
    """Refuse stated layers of the first and the last stage where the rest does not divide.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: With the numbers that do not divide.

    References:
        megatronlm2026, megatron/training/arguments.py, uneven virtual pipeline parallelism;
        megatron/core/transformer/transformer_config.py, uneven PP.
    """
    reading = entries.reading
    stated = [one for one in (entries.entry(*FIRST), entries.entry(*LAST)) if one is not None]
    counts = [reading.value(name) for name in ("first_stage_layers", "last_stage_layers")]
    ends = [int(count) for count in counts if count]
    if not ends or len(ends) != len(stated):
        return
    here = f"{reading.at(stated[0].line)}: {' and '.join(one.written for one in stated)}"
    accounts = [name for name in _ACCOUNTS if entries.flag(name)]
    if accounts:
        raise ConfigError(f"{here} cannot stand beside {accounts[0]}; give one of them")
    each = entries.entry(_EACH)
    if each is not None:
        raise ConfigError(
            f"{here} cannot stand beside {each.written}; give "
            "--num-virtual-stages-per-pipeline-rank instead"
        )
    _check_between(entries, ends, here)


def _check_between(entries: Entries, ends: list[int], here: str) -> None:
    """Refuse what is left over, or a stage, that does not divide."""
    reading = entries.reading
    layers, pp, vpp = _layers(entries), reading.value("pp"), int(reading.value("vpp", 1))
    schedule = reading.value("schedule", USUAL_SCHEDULE)
    comes_back = entry_number("vee", float(SCHEDULES.index(schedule))) > 0.0
    if layers is None or pp is None or pp < 2 or comes_back:
        return
    left, between = layers - sum(ends), int(pp) - len(ends)
    if bool(left) != bool(between) or (between and left % between) or left < 0:
        raise ConfigError(
            f"{here}: {left} of num_layers = {layers} are left for {between} of pp = {pp} stages, "
            "which must divide"
        )
    for count in (*ends, *([left // between] if between else [])):
        if count % vpp:
            raise ConfigError(f"{here}: vpp = {vpp} does not divide the {count} layers of a stage")


def _layers(entries: Entries) -> int | None:
    """Return the layers that are cut, with those that do nothing; None if not known."""
    reading = entries.reading
    model = reading.model
    number: Any = reading.value("layers_with_empty", reading.value("num_layers"))
    if number is None:
        number = None if model is None else model.num_layers
    return None if number is None else int(number)
