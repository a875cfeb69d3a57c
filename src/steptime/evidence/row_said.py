"""What the columns of a run say of its software."""

from __future__ import annotations

from steptime.evidence.row_text import month_of_date, month_of_release, precision_of, recomputed
from steptime.evidence.schema import Incomplete, PublishedRow
from steptime.inputs.assumed import Assumed, not_understood, taken
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Value
from steptime.inputs.run_words import Word, folded, is_blank, list_of, word_of
from steptime.inputs.said import UNSTATED, Said
from steptime.inputs.stack import FACT_NAMES, KERNEL, WORD_FACTS, families, stack_names

Found = tuple[dict[str, Value], tuple[Assumed, ...]]


def dated(row: PublishedRow) -> tuple[str | None, tuple[Assumed, ...]]:
    """Return the month of a row's software, and a record of a date or release that is no such.

    Args:
        row: The row.
    """
    for column, read in (("date", month_of_date), ("release", month_of_release)):
        text = getattr(row, column)
        if not is_blank(text):
            month = read(text)
            unknown = not_understood(column, text, "no date", how="YYYY-MM in column date")
            return month, () if month else (unknown,)
    return None, ()


def named(text: str) -> str | None:
    """Return the stack or the family that a name of software means; None where nobody knows it.

    Args:
        text: A key of ``data/stacks.toml``, a family, or a word for one of them.
    """
    exact = {folded(name): name for name in (*families(), *stack_names())}
    if folded(text) in exact:
        return exact[folded(text)]
    word = word_of("software", text)
    return None if word is None else word.value


def stated_facts(row: PublishedRow) -> dict[str, Value]:
    """Return the facts that the column ``facts`` states.

    Args:
        row: The row: ``NAME=VALUE`` between semicolons or spaces.

    Raises:
        Incomplete: If a name is unknown or a value no number.
    """
    found: dict[str, Value] = {}
    for part in row.facts.replace(";", " ").split():
        name, _, value = part.partition("=")
        try:
            check_choice("fact", name, FACT_NAMES)
            found[name] = value if name in WORD_FACTS else float(value)
        except ConfigError as error:
            raise Incomplete(f"facts: {error}") from None
        except ValueError:
            raise Incomplete(f"facts: {part[:40]!r} is not NAME=NUMBER") from None
    return found


def _word_facts(word: Word | None) -> dict[str, Value]:
    return {} if word is None else dict(word.facts)


def _unknown(column: str, text: str, word: Word | None) -> tuple[Assumed, ...]:
    if word is not None or is_blank(text):
        return ()
    return (not_understood(column, text, "what the software does"),)


def column_facts(row: PublishedRow) -> Found:
    """Return the facts that the columns of words state, and records of words that nobody knows.

    Args:
        row: The row.
    """
    facts: dict[str, Value] = {}
    known, unknown = list_of("overlap", row.overlap)
    for word in known:
        facts |= _word_facts(word)
    assumed = [not_understood("overlap", word, "what the software does") for word in unknown]
    for column in ("dispatcher", "attention_kernel"):
        text = getattr(row, column)
        found = word_of(column, text)
        facts |= _word_facts(found)
        assumed += _unknown(column, text, found)
    kernel = word_of("attention_kernel", row.attention_kernel)
    if kernel is not None:
        facts[KERNEL] = kernel.value
    if row.compiled is not None:
        facts["eager"] = float(row.compiled == "n")
    return facts, tuple(assumed)


def said_of(row: PublishedRow) -> tuple[Said, tuple[Assumed, ...]]:
    """Return what a row says of its software, and what was taken for granted on the way.

    Args:
        row: A checked row.

    Raises:
        Incomplete: If it states a fact that is none.
    """
    date, assumed = dated(row)
    blank = is_blank(row.software)
    stack = None if blank else named(row.software)
    # What is usual where nobody names any is said once, by the answer.
    if stack is None and not blank:
        assumed = (*assumed, not_understood("software", row.software, "what is usual"))
    elif stack is not None and folded(stack) != folded(row.software):
        how = "a key of stacks.toml in column software"
        assumed = (*assumed, taken("stack", stack, f"{row.software!r} read as it", how))
    facts, unknown = column_facts(row)
    facts |= dict(precision_of(row.precision)[1]) | dict(recomputed(row.recompute).facts)
    facts |= stated_facts(row)
    said = Said(
        stack=stack,
        date=date,
        facts=tuple(sorted(facts.items())),
        unstated=UNSTATED if is_blank(row.recompute) else (),
    )
    return said.without_nobody, (*assumed, *unknown)
