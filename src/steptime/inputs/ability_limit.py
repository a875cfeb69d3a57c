"""One thing that software cannot run of a layout: a line of ``data/abilities.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steptime.inputs.counted import COUNTED, counted
from steptime.inputs.fields import BY_NAME
from steptime.inputs.layout import Batch, Layout

_PLAIN = Layout()
OF_STAGES = ("schedule", "vpp")
"""Fields that mean nothing without stages, which nobody needs to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What software can run of one field of a layout.

    Attributes:
        of: The field, or a name of `steptime.inputs.counted.COUNTED`, which must be 0.
        least: The least that it may be; None for any. A switch is 0 or 1.
        most: The most; None for any.
        one_of: The words that it may be; empty for any.
        where: Fields that must all be above their defaults, such as sizes above 1, for the limit
            to hold; none where it always does.
        before: The month in which software lost it; empty where it still has it.
        trainers: Whether ready-made trainers alone have it, not models written for the library.
        asks: What is asked where a count is limited, in words with fields in braces.
        runs: What is run then.
        option: What states it then.
    """

    of: str
    least: int | None = None
    most: int | None = None
    one_of: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    before: str = ""
    trainers: bool = False
    asks: str = ""
    runs: str = ""
    option: str = ""

    def allows(self, value: Any) -> bool:
        """Return whether a value of the field is inside the limit.

        Args:
            value: A number, a switch or a word.
        """
        if self.one_of:
            return value in self.one_of
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )

    def broken_by(self, layout: Layout, batch: Batch) -> bool:
        """Return whether a layout asks for more.

        Args:
            layout: The layout.
            batch: Gives the micro-batches.
        """
        if not all(getattr(layout, one) > above for one, above in self.above.items()):
            return False
        found = counted(self.of, layout, batch) if self.counts else getattr(layout, self.of)
        return not self.allows(found)

    @property
    def counts(self) -> bool:
        """Return whether a count is limited, not a field."""
        return self.of in COUNTED

    @property
    def above(self) -> dict[str, int]:
        """Return what the other fields must be above: their defaults."""
        return {one: int(getattr(_PLAIN, one)) for one in self.where}

    @property
    def instead(self) -> str:
        """Return what the field may be, in words."""
        if self.counts:
            return self.runs
        if self.one_of:
            return " or ".join(self.one_of)
        if self.is_switch:
            return f"{self.of}={self.least == 1}"
        return f"{self.most} at most" if self.least is None else f"{self.least} at least"

    @property
    def is_switch(self) -> bool:
        """Return whether the field is on or off."""
        return isinstance(getattr(_PLAIN, self.of, None), bool)

    @property
    def how(self) -> str:
        """Return the option that states what is run."""
        if self.counts:
            return self.option
        on, _, off = BY_NAME[self.of].flags[0].partition("/")
        if self.is_switch:
            return on if self.least == 1 else off
        return f"{on}: {self.instead}"

    def asked(self, values: Mapping[str, Any]) -> str:
        """Return what a layout asks, in words.

        Args:
            values: Of its fields and its batch's, and ``micro``, its micro-batches.
        """
        return self.asks.format(**values) if self.counts else f"{self.of}={values[self.of]}"

    def sentence(self, software: str, values: Mapping[str, Any]) -> str:
        """Return the sentence that says what a layout asks beyond software.

        Args:
            software: What to call it.
            values: Of a layout that breaks the limit, as in `asked`.
        """
        asked = self.asked(values)
        beside = " and ".join(f"{one}={values[one]}" for one in self.where)
        beside = f" beside {beside}" if beside else ""
        if self.of in OF_STAGES:
            beside = ""
        age = f" before {self.before}" if self.before else ""
        if self.trainers:
            return (
                f"{software} runs {asked}{beside}{age} only with models written for it; its "
                f"trainers run {self.instead}"
            )
        return f"{software} does not run {asked}{beside}{age}; it runs {self.instead}"
