"""Fixed questions, what the last release answered, what is answered today, and why it moved.

``python -m steptime.evidence.answers`` prints them. With ``--release NAME`` today's answers are
kept as that release's, and no cause stands beside them any more: do so when one is made.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from steptime.answer import Prediction, predict
from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path, data_table, write_whole
from steptime.inputs.errors import ConfigError

QUESTIONS = "answers.toml"
RELEASED = "answers_released.csv"
MOVED = 0.005
"""A step or a peak that changes by more than this share has moved."""
PARTS = (
    *("compute", "recompute", "tensor_parallel", "context_parallel", "expert_parallel"),
    *("bubble", "pipeline_sends", "data_parallel", "optimizer"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was answered to one question.

    Attributes:
        step_time_s: Seconds of a step.
        peak_bytes: Bytes on the fullest device.
        parts_s: Seconds by part, in the order of `PARTS`; they add up to the step.
        software: The stack that was assumed, empty where none was.
    """

    step_time_s: float
    peak_bytes: float
    parts_s: tuple[float, ...]
    software: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, its answers then and now.

    Attributes:
        name: Key in ``data/answers.toml``.
        title: What it is called in a table.
        inputs: Of `steptime.answer.predict`.
        release: The release that answered first.
        then: Its answer.
        now: Today's.
        told_s: Today's seconds where the software that was assumed then is named; None where
            nothing was assumed or the name is gone.
        causes: What moved it, keys of `causes`.
    """

    name: str
    title: str
    inputs: Mapping[str, Any]
    release: str
    then: Answer
    now: Answer
    told_s: float | None
    causes: tuple[str, ...]

    @property
    def change(self) -> float:
        """Return today's step over that of the release, less 1."""
        return self.now.step_time_s / self.then.step_time_s - 1.0

    @property
    def told_change(self) -> float | None:
        """Return the same where both assume one software."""
        return None if self.told_s is None else self.told_s / self.then.step_time_s - 1.0

    @property
    def peak_change(self) -> float:
        """Return today's peak over that of the release, less 1."""
        return self.now.peak_bytes / self.then.peak_bytes - 1.0

    @property
    def moved(self) -> bool:
        """Return whether its step or its peak moved."""
        return max(abs(self.change), abs(self.peak_change)) > MOVED

    @property
    def part(self) -> tuple[str, float, float]:
        """Return the part that moved most, its seconds then and now."""
        both = zip(PARTS, self.then.parts_s, self.now.parts_s, strict=True)
        return max(both, key=lambda one: abs(one[2] - one[1]))


def causes() -> dict[str, str]:
    """Return what moves answers since the last release: a sentence for each."""
    return dict(data_table(QUESTIONS)["cause"])


def asked() -> tuple[Asked, ...]:
    """Return every question with both answers, in the order of the file.

    Raises:
        ConfigError: If a question was not asked of the last release, or names no known cause.
    """
    return tuple(_asked())


def _asked() -> Iterator[Asked]:
    before = {row["question"]: row for _, row in text_rows(data_path(RELEASED))}
    for name, entry in data_table(QUESTIONS)["question"].items():
        if name not in before:
            raise ConfigError(f"{RELEASED} has no answer to {name!r}")
        if unknown := set(entry["why"]) - causes().keys():
            raise ConfigError(f"{QUESTIONS}: {name} names no cause: {', '.join(sorted(unknown))}")
        then = _of_row(before[name])
        yield Asked(
            name=name,
            title=entry["title"],
            inputs=entry["inputs"],
            release=before[name]["release"],
            then=then,
            now=_of_prediction(predict(**entry["inputs"])),
            told_s=_told_s(entry["inputs"], then.software),
            causes=tuple(entry["why"]),
        )


def _of_row(row: Mapping[str, str]) -> Answer:
    return Answer(
        step_time_s=float(row["step_time_s"]),
        peak_bytes=float(row["peak_bytes"]),
        parts_s=tuple(float(row[f"{part}_s"]) for part in PARTS),
        software=row["software"],
    )


def _of_prediction(found: Prediction) -> Answer:
    stacks = [one.value for one in found.assumed if one.what == "stack"]
    return Answer(
        step_time_s=found.step_time_s,
        peak_bytes=found.total_bytes,
        parts_s=tuple(found.breakdown_s.get(part, 0.0) for part in PARTS),
        software=stacks[0] if stacks else "",
    )


def _told_s(inputs: Mapping[str, Any], software: str) -> float | None:
    if not software:
        return None
    try:
        return predict(**inputs, stack=software).step_time_s
    except ConfigError:
        return None


def released_text(release: str, answers: Mapping[str, Answer]) -> str:
    """Return the answers of a release as its file has them.

    Args:
        release: Its name.
        answers: By the name of the question.
    """
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    head = ("release", "question", "software", "step_time_s", "peak_bytes")
    out.writerow([*head, *(f"{part}_s" for part in PARTS)])
    for name, one in answers.items():
        numbers = (one.step_time_s, one.peak_bytes, *one.parts_s)
        out.writerow([release, name, one.software, *map(repr, numbers)])
    return text.getvalue()


def differences(questions: tuple[Asked, ...]) -> str:
    """Return a line for each question that moved: then, now, the part and the causes.

    Args:
        questions: From `asked`.
    """
    lines = []
    for one in questions:
        if not one.moved:
            continue
        part, then_s, now_s = one.part
        peaks = f"peak {one.peak_change:+.1%}"
        parts = f"{part} {then_s:.3g} to {now_s:.3g} s"
        why = ", ".join(one.causes) or "no cause is given"
        times = f"{one.then.step_time_s:.4g} to {one.now.step_time_s:.4g} s ({one.change:+.1%})"
        lines.append(f"{one.name}: {times}, {peaks}; {parts}; {why}")
    return "\n".join(lines)


def _main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--release", help="keep today's answers as this release's")
    release = words.parse_args().release
    found = asked()
    if release is None:
        print(differences(found))
        return
    write_whole(data_path(RELEASED), released_text(release, {one.name: one.now for one in found}))
    print(f"{RELEASED} has the answers of {release}: now empty `why` and [cause] in {QUESTIONS}")


if __name__ == "__main__":
    _main()
