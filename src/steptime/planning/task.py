"""A question with everything that its answer depends on, and a name for the whole."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from steptime import __version__
from steptime.inputs.digest import source_digest
from steptime.planning.cost import Whole
from steptime.planning.question import Question

MOST_LETTERS = 100
"""Of the part of a file's name that says what it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question with all that its answer depends on, for a worker that may be anywhere.

    Attributes:
        question: What is asked; constants and what is said of the software are in it.
        digest: Of the code and data that the asker has.
        whole: What is said of the whole run; None where its days and cost are not asked.
    """

    question: Question
    digest: str
    whole: Whole | None = None

    @property
    def answered_by(self) -> str:
        """What tells this answer from the same question's under other constants or code."""
        return f"{__version__}+{_digest([self.digest, self._constants()])[:12]}"

    @property
    def key(self) -> str:
        """A name that can be read, and that changes with anything that could change the answer."""
        asked = asdict(replace(self.question, constants=None))
        whole = [] if self.whole is None else [asdict(self.whole)]
        return f"{self.words}-{_digest([self.answered_by, asked, *whole])[:20]}"

    @property
    def words(self) -> str:
        """What is asked, as a file's name may have it."""
        one = self.question
        names = (one.model.name, f"{one.num_devices}x{one.accelerator.name}")
        sizes = (f"b{one.global_batch_size}", f"s{one.seq_length}")
        text = "-".join((*names, *sizes, one.precision)).lower()
        return re.sub(r"[^a-z0-9.]+", "-", text).strip("-.")[:MOST_LETTERS]

    def _constants(self) -> dict[str, float] | None:
        constants = self.question.constants
        return None if constants is None else constants.values()


class OtherSteptimeError(RuntimeError):
    """A worker whose code or data differ from the asker's."""


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def task_of(question: Question) -> Task:
    """Return a question with a digest of this installation.

    Args:
        question: The question.
    """
    return Task(question=question, digest=source_digest())


def check_same(task: Task) -> None:
    """Refuse a task that comes from another installation than this one.

    Args:
        task: What is to be answered here.

    Raises:
        OtherSteptimeError: If code or data differ.
    """
    if task.digest != source_digest():
        raise OtherSteptimeError(
            f"a worker on {platform.node()} runs other code or data than this steptime "
            f"{__version__}; install the same on every worker and restart them"
        )
