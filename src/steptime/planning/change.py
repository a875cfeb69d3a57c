"""One change to a question, stated as a user would state it: what is open follows anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from steptime.answer.answer import Prediction, answer
from steptime.answer.peak import OUTLOOKS
from steptime.answer.question import Question, most_chunks
from steptime.formulas.judgement import fit_outlook
from steptime.inputs.ability import ability_of
from steptime.inputs.again import asked_again
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import BY_NAME
from steptime.inputs.layout import STAGE_FIELDS
from steptime.inputs.schedule_name import with_one_chunk
from steptime.inputs.training_step import TrainingStep
from steptime.inputs.usual import USUAL_SCHEDULE

LIKELY = OUTLOOKS.index("fits tightly")
SURE = OUTLOOKS.index("fits")


def outlook(found: Prediction) -> int:
    """Return how the fit of an answer is worded, as a place in ``OUTLOOKS``.

    Args:
        found: The answer.
    """
    chance = 1.0 if found.fit_probability is None else found.fit_probability
    return int(fit_outlook(found.total_bytes, found.record.hbm_bytes, chance))


def may_run(found: Prediction) -> bool:
    """Return whether a step is more likely to fit than not.

    Args:
        found: The answer.
    """
    return outlook(found) >= LIKELY


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Some fields stated anew.

    Attributes:
        stated: Their values, by name.
    """

    stated: dict[str, Any]

    @property
    def words(self) -> str:
        """Return the options of the command line that state it."""
        return " ".join(_option(name, value) for name, value in self.stated.items())

    def beside(self, other: Change) -> Change:
        """Return this change with another after it.

        Args:
            other: What is stated by both is as this other one has it.
        """
        return Change(stated=self.stated | other.stated)

    def asked(self, question: Question) -> Question | None:
        """Return a question with the change; None where it cannot be asked.

        What the named software does not run is asked no more than before, and never by the change.

        Args:
            question: What was asked.
        """
        before = question.step
        try:
            step = asked_again(before, **self.stated)
        except ConfigError:
            return None
        runs = ability_of(before.said)
        allowed = {*runs.lacking(before.layout, before.batch)} - {*self.stated}
        if {*runs.lacking(step.layout, step.batch)} - allowed:
            return None
        return replace(question, step=step)

    def answered(self, question: Question) -> Prediction | None:
        """Return the answer after the change; None where there is none.

        Args:
            question: What was asked.
        """
        asked = self.asked(question)
        try:
            return None if asked is None else answer(asked)
        except ConfigError:
            return None


def _option(name: str, value: Any) -> str:
    flag = BY_NAME[name].flags[0]
    if isinstance(value, bool):
        yes, no = flag.split("/")
        return yes if value else no
    return f"{flag} {value}"


def stated(**fields: Any) -> Change:
    """Return the change that states some fields.

    Args:
        **fields: By name.
    """
    return Change(stated=fields)


def without_ends(step: TrainingStep) -> Iterator[Change]:
    """Yield the change to the software's own cut of layers over stages, where another is stated.

    Args:
        step: What is asked.
    """
    ends = {name: 0 for name in STAGE_FIELDS if getattr(step.layout, name)}
    if ends:
        yield stated(**ends)


def resized(step: TrainingStep, **sizes: int) -> Change:
    """Return other sizes, with what was stated and cannot stay beside them.

    Args:
        step: What is asked.
        **sizes: Of the layout, by name; a data-parallel size that does not change is left out.
    """
    layout = replace(step.layout, **sizes)  # type: ignore[arg-type]
    found: dict[str, Any] = {
        name: size for name, size in sizes.items() if name != "dp" or size != step.layout.dp
    }
    chunks = layout.vpp
    if "pp" in sizes:
        chunks = min(layout.vpp, most_chunks(step.model.num_layers, layout.pp))
        chunks = 1 if layout.pp == 1 else chunks
    if chunks != layout.vpp and "vpp" not in step.open:
        found["vpp"] = chunks
    schedule = with_one_chunk(layout.schedule) if found.get("vpp") == 1 else layout.schedule
    # Where the last stage goes, the schedule's name goes with it.
    schedule = USUAL_SCHEDULE if layout.pp == 1 < step.layout.pp else schedule
    if "schedule" not in step.open and schedule != layout.schedule:
        found["schedule"] = schedule
    if layout.tp == 1 and layout.sequence_parallel and "sequence_parallel" not in step.open:
        found["sequence_parallel"] = False
    if step.gpus_stated and layout.num_devices != step.layout.num_devices:
        found["num_gpus"] = layout.num_devices
    return Change(stated=found)


def each_asked(changes: Iterable[Change], question: Question) -> Iterator[tuple[Change, Question]]:
    """Yield the changes that can be asked, each with its question.

    Args:
        changes: To a question.
        question: What was asked.
    """
    for change in changes:
        asked = change.asked(question)
        if asked is not None:
            yield change, asked
