"""From the columns of a run to the facts of its software stack."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steptime.evidence.habits import habit_changes, is_before, stack_by_year
from steptime.evidence.row_text import precision_of, recomputed, year_of_date, year_of_release
from steptime.evidence.row_words import Word, folded, is_blank, list_of, word_of
from steptime.evidence.runs import Incomplete, Run
from steptime.evidence.schema import PublishedRow
from steptime.inputs.assumed import Assumed, not_understood
from steptime.inputs.errors import ConfigError, check_choice, check_number
from steptime.inputs.memory_facts import MemoryFacts
from steptime.inputs.stack import (
    BLOCK_SLOWDOWN,
    ROW_SLOWDOWN,
    STACK_FIELDS,
    StackFacts,
    default_stack,
    layout_changes,
    stack_facts,
    stack_named,
    stack_names,
)

MEMORY = "memory."
SCALED = {
    "row": {"scaled_products": ROW_SLOWDOWN, "narrow_gathers": 0.0},
    "block": {"block_scaled": 1.0, "scaled_products": BLOCK_SLOWDOWN},
}
"""What products in 8 bits cost that do not scale whole tensors."""
_MEMORY_FIELDS = tuple(MemoryFacts.__dataclass_fields__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The software of a run.

    Attributes:
        name: A key of ``data/stacks.toml``.
        known: Whether the run names it, itself or its family.
        assumed: What was taken for granted on the way to it.
    """

    name: str
    known: bool
    assumed: tuple[Assumed, ...] = ()


def _family(row: PublishedRow) -> Word | None:
    return word_of("software", row.software)


def dated(row: PublishedRow) -> tuple[float | None, tuple[Assumed, ...]]:
    """Return when a row was measured, and a record of a date or release that is no such.

    Args:
        row: The row.
    """
    if not is_blank(row.date):
        year = year_of_date(row.date)
        how = "YYYY-MM in column date"
        unknown = not_understood("date", row.date, "no date", how=how)
        return year, (unknown,) if year is None else ()
    if is_blank(row.release):
        return None, ()
    year = year_of_release(row.release)
    how = "YYYY-MM in column date"
    unknown = not_understood("release", row.release, "no date", how=how)
    return year, (unknown,) if year is None else ()


def year_of(row: PublishedRow) -> float | None:
    """Return when a row was measured, as a year with a fraction, or None where nothing says it.

    Args:
        row: The row.
    """
    return dated(row)[0]


def software_stack(text: str, year: float | None, zero_stage: int = 0) -> str:
    """Return the stack that a name of software means, empty where nobody knows it.

    Args:
        text: A key of ``data/stacks.toml``, or a word for a family of them.
        year: When it ran: a family is read by its date, the newest if None.
        zero_stage: What data parallelism shards.
    """
    exact = {folded(name): name for name in stack_names()}
    word = word_of("software", text)
    if word is None or folded(text) in exact:
        return exact.get(folded(text), "")
    sharded = word.more.get("earlier_sharded", ()) if zero_stage == 3 else ()
    for month, earlier in (*sharded, *word.more.get("earlier", ())):
        if is_before(year, month):
            return str(earlier)
    return str(word.more["stack"])


def stack_name(run: Run) -> Named:
    """Return a run's software.

    Args:
        run: The run.
    """
    row = run.row
    year, assumed = dated(row)
    name = software_stack(row.software, year, run.layout.zero_stage)
    if not name:
        guess = assumed_stack(run)
        if is_blank(row.software):
            return Named(name=guess.name, known=False, assumed=(*assumed, *guess.assumed))
        record = not_understood("software", row.software, guess.name)
        return Named(name=guess.name, known=False, assumed=(*assumed, record))
    if folded(row.software) != folded(name):
        when = "" if is_blank(row.date) and is_blank(row.release) else " of its date"
        why = f"{row.software!r} read as {name}{when}"
        how = "a key of stacks.toml in column software"
        assumed = (*assumed, Assumed(what="stack", value=name, why=why, how=how))
    return Named(name=name, known=True, assumed=assumed)


def assumed_stack(run: Run) -> Named:
    """Return the software of a run that names none: by device and year.

    Args:
        run: The run.
    """
    name = stack_by_year(run.accelerator, year_of(run.row))
    why = "not stated, assumed by the year"
    if not name:
        name = default_stack(run.accelerator, run.layout.zero_stage) or "megatron-core"
        why = f"not stated, {name} assumed"
    record = Assumed(what="software", value=name, why=why, how="column software")
    return Named(name=name, known=False, assumed=(record,))


def stated_facts(row: PublishedRow, *, memory: bool) -> dict[str, float]:
    """Return the facts of time or of memory that the column ``facts`` states.

    Args:
        row: The row: ``NAME=VALUE`` between semicolons or spaces; memory's as ``memory.NAME``.
        memory: Which of them.

    Raises:
        Incomplete: If a name is unknown or a value no number.
    """
    found = {}
    for part in row.facts.replace(";", " ").split():
        name, _, value = part.partition("=")
        of_memory = name.startswith(MEMORY)
        plain = name.removeprefix(MEMORY)
        try:
            check_choice("fact", plain, _MEMORY_FIELDS if of_memory else STACK_FIELDS)
            number = check_number(name, float(value), above=-1e-300)
        except ConfigError as error:
            raise Incomplete(f"facts: {error}") from None
        except ValueError:
            raise Incomplete(f"facts: {part[:40]!r} is not NAME=NUMBER") from None
        if of_memory == memory:
            found[plain] = number
    return found


def _listed(row: PublishedRow) -> tuple[dict[str, float], tuple[Assumed, ...]]:
    """Return the facts of the columns that hold words of time, and records of unknown ones."""
    facts: dict[str, float] = {}
    known, unknown = list_of("overlap", row.overlap)
    for word in known:
        facts.update(word.facts)
    assumed = [not_understood("overlap", word, "what the software does") for word in unknown]
    dispatcher = word_of("dispatcher", row.dispatcher)
    if dispatcher is not None:
        facts.update(dispatcher.facts)
    elif not is_blank(row.dispatcher):
        usual = "what the software does"
        assumed.append(not_understood("dispatcher", row.dispatcher, usual))
    if row.compiled is not None:
        facts["eager"] = float(row.compiled == "n")
    return facts, tuple(assumed)


def _changes(run: Run, name: str) -> tuple[dict[str, float], tuple[Assumed, ...]]:
    row, layout = run.row, run.layout
    stated, assumed = _listed(row)
    cell = recomputed(row.recompute).facts
    habits = habit_changes(
        name,
        run.model,
        layout,
        run.accelerator,
        year=year_of(row),
        recompute_stated=not is_blank(row.recompute),
    )
    changes = layout_changes(run.model, layout) | habits | stated
    changes |= SCALED.get(precision_of(row.precision)[1], {})
    changes |= {fact: value for fact, value in cell.items() if not fact.startswith(MEMORY)}
    return changes | stated_facts(row, memory=False), assumed


def run_stack(run: Run) -> tuple[StackFacts, Named]:
    """Return the facts of the software that a run used, and its name with what was assumed.

    Args:
        run: The run.

    Raises:
        Incomplete: If the model knows nothing of the device, or a fact is none.
    """
    named = stack_name(run)
    changes, assumed = _changes(run, named.name)
    stack, text = stack_named(named.name), run.row.attention_kernel
    kernel = word_of("attention_kernel", text)
    if kernel is not None:
        stack = replace(stack, kernel=kernel.value)
    elif not is_blank(text):
        assumed = (*assumed, not_understood("attention_kernel", text, stack.kernel))
    try:
        facts = stack_facts(stack, run.accelerator, **changes)
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    return facts, replace(named, assumed=(*named.assumed, *assumed))
