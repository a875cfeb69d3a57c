"""What the cells of a run say, as values.

Each function returns the value, and a record where the cell does not say it or says it in words
that `data/run_words.toml` does not have. Nothing is guessed from prose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steptime.evidence.schema import Unknown
from steptime.formulas.schedule import SCHEDULES
from steptime.formulas.schedule_rules import chunks_held
from steptime.formulas.schedules.registry import place_of
from steptime.inputs.assumed import Assumed, not_stated, not_understood
from steptime.inputs.run_words import MINUS, Word, below_zero, folded, is_blank, pieces, word_of

Said = tuple[str, Assumed | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """What a cell of the column ``recompute`` says.

    Attributes:
        mode: none, selective or full.
        facts: Facts of the software that it states.
        assumed: Where it does not say, or says more than can be taken.
    """

    mode: str
    facts: dict[str, float] = field(default_factory=dict)
    assumed: Assumed | None = None


def choice(column: str, text: str, otherwise: str) -> tuple[Word | None, Assumed | None]:
    """Return the word of a cell, and a record where there is none.

    Args:
        column: Its column.
        text: The cell.
        otherwise: What is taken then.
    """
    word = word_of(column, text)
    if word is not None:
        return word, None
    if is_blank(text):
        return None, not_stated(column, otherwise)
    return None, not_understood(column, text, otherwise)


def _some_layers(text: str, layers: float) -> Recomputed | None:
    """Return the mode nearest to ``block-3`` or ``uniform-2``, None if the cell is no such."""
    parts = pieces(text.casefold())
    if len(parts) != 2 or parts[0] not in ("block", "uniform") or not parts[1].isdecimal():
        return None
    if below_zero(text):
        return None
    count = float(parts[1])
    if parts[0] == "uniform" or layers <= 0.0 or count >= layers:
        return Recomputed(mode="full")
    mode = "full" if count > layers / 2.0 else "none"
    why = f"{count:g} of {layers:g} layers a chunk, read as {mode}"
    record = Assumed(what="recompute", value=mode, why=why, how="none or full in column recompute")
    return Recomputed(mode=mode, assumed=record)


def _modules(text: str) -> Recomputed | None:
    """Return what a list of modules says, None if one of its words is no module."""
    heads = ("selective", "module", "modules")
    named = [part for part in pieces(text.casefold(), "_") if part not in heads]
    selective, facts = False, dict[str, float]()
    for name in named:
        word = word_of("recompute_module", name)
        if word is None:
            return None
        selective = selective or bool(word.more.get("selective"))
        facts.update(word.facts)
    return Recomputed(mode="selective" if selective else "none", facts=facts) if named else None


def recomputed(text: str, layers: float = 0.0) -> Recomputed:
    """Return what a cell says of recomputation.

    Args:
        text: A word of the column; ``block-3`` or ``uniform-1``; or modules of Megatron-LM, such
            as ``selective modules [mla_up_proj, mlp]``.
        layers: Layers of a chunk, for cells that say how many are recomputed; 0 if unknown.
    """
    word, record = choice("recompute", text, "none")
    if word is not None:
        return Recomputed(mode=word.value, facts=dict(word.facts))
    if record is not None and not record.word:
        return Recomputed(mode="none", assumed=record)
    found = _some_layers(text, layers) or _modules(text)
    return found or Recomputed(mode="none", assumed=record)


def precision_of(text: str) -> tuple[str, Mapping[str, float], Assumed | None]:
    """Return fp16, bf16, fp8, mxfp8 or nvfp4; the facts of how values are scaled; a record.

    Args:
        text: The cell, such as ``fp8 rowwise``.

    Raises:
        Unknown: If it states a precision that the models know nothing of.
    """
    word, record = choice("precision", text, "bf16")
    if word is None:
        return "bf16", {}, record
    if word.more.get("modelled") is False:
        raise Unknown(f"precision {text[:40]!r} is not modelled: 16, 8 and 4 bits are")
    return word.value, word.facts, None


def zero_stage(text: str) -> tuple[int, Assumed | None]:
    """Return how much data parallelism shards: 0 to 3, and a record if it is not said.

    Args:
        text: The cell, such as ``1``, ``ZeRO-1`` or ``FSDP2``.

    Raises:
        Unknown: If it is a number, and no stage.
    """
    word, record = choice("zero", text, "0")
    digits = text.strip().lstrip(f"+{MINUS}").replace(".", "")
    if record is not None and record.word and digits.isdigit():
        raise Unknown(f"zero {text[:40]!r} is no stage: 0, 1, 2 and 3 are")
    return (0 if word is None else int(word.value)), record


def shard_ranks(text: str) -> int | None:
    """Return over how many ranks a cell says that sharding goes; None for all of them.

    Args:
        text: The cell, such as ``FSDP shard group 8``.
    """
    word = word_of("zero", text)
    return None if word is None else word.more.get("shard_ranks")


_OWN_NAMES = {folded(name): name for name in SCHEDULES}
"""A column takes the package's own names; other words for them stand in ``data/run_words.toml``."""


def schedule_name(text: str, pp: int, vpp: int) -> Said:
    """Return the name of the pipeline schedule, and a record if it is not said.

    Args:
        text: The cell.
        pp: Pipeline stages.
        vpp: Model chunks a device holds.
    """
    usual = "interleaved-1f1b" if vpp > 1 else "1f1b"
    name, record = _OWN_NAMES.get(folded(text)), None
    if name is None:
        word, record = choice("schedule", text, usual)
        name = None if word is None else word.value
    if pp == 1:
        return "1f1b", record if record is not None and record.word else None
    if name is None:
        return usual, record
    # "1F1B" over several chunks is the interleaved one by its short name.
    return (usual if name == "1f1b" else name), None


def one_chunk(text: str) -> bool:
    """Return whether a stated schedule leaves a device one chunk of the model.

    Args:
        text: The cell.
    """
    word = word_of("schedule", text)
    if word is not None:
        return word.more.get("chunks") == 1
    name = _OWN_NAMES.get(folded(text), "")
    return name in SCHEDULES and chunks_held(float(place_of(name))) == 1.0


def flop_convention(text: str) -> str:
    """Return hardware, model, causal or parameters: how a source counts FLOP.

    ``model`` where it is not said.

    Args:
        text: A key of ``data/flop_conventions.csv`` or a word of the column.
    """
    word = word_of("flop_convention", text)
    return "model" if word is None else word.value


def month_of_date(text: str) -> str | None:
    """Return a date as a month, or None where it is no date.

    Args:
        text: ``YYYY-MM``, ``YYYY-MM-DD`` or ``YYYY``, whose middle is taken.
    """
    parts = text.strip().replace("/", "-").split("-")
    if len(parts) > 3 or not all(part.isdecimal() for part in parts) or len(parts[0]) != 4:
        return None
    month = int(parts[1]) if len(parts) > 1 else 6
    return f"{parts[0]}-{month:02d}" if 1 <= month <= 12 else None


def month_of_release(text: str) -> str | None:
    """Return the month of a release that is named after year and month, such as ``26.02.01``.

    Args:
        text: The release.
    """
    parts = text.strip().split(".")
    if len(parts) < 2 or not all(part.isdecimal() and len(part) == 2 for part in parts[:2]):
        return None
    return month_of_date(f"20{parts[0]}-{parts[1]}")
