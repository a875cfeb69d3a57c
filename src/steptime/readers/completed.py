"""Layout and batch of a reading, with the gaps filled by its user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.in_number import counted
from steptime.inputs.layout import PRECISIONS, STAGE_FIELDS, Batch, Layout
from steptime.inputs.said import NOTHING_SAID, Said
from steptime.inputs.usual import USUAL_SCHEDULE, usual_schedule
from steptime.readers.common.framework_rules import check_framework
from steptime.readers.common.shared_out import copies_of, experts_cut, experts_over_data
from steptime.readers.common.stage_layers import counted_chunks, stage_ends
from steptime.readers.keys.habits import cuts_micro_batches
from steptime.readers.keys.reading import COMMAND_LINE, Fact, Reading, Value
from steptime.readers.shell.program import ARGUMENTS

LAYOUT_FIELDS = tuple(name for name in SIZES if name != "dp")
CHOICES = ("sequence_parallel", "zero_stage", "recompute", "precision", "schedule")
_OPTIONS = {
    "num_gpus": "--gpus",
    "global_batch_size": "--global-batch-size",
    "micro_batch_size": "--micro-batch-size",
    "seq_length": "--seq-length",
}


def completed(
    reading: Reading, given: Mapping[str, Value], said: Said = NOTHING_SAID
) -> tuple[Layout, Batch]:
    """Return the layout and the batch of a reading, with the gaps filled from ``given``.

    Args:
        reading: What the file said; it gets the schedule that its software runs, if none is said.
        given: What its user adds: num_gpus, global_batch_size, seq_length...
        said: Of the software that runs it.

    Raises:
        ConfigError: If something is still missing, the numbers contradict each other, or the
            software would refuse them.
    """
    whole = _Numbers(reading, given)
    _check_gaps(reading, given)
    sizes = experts_cut(reading, {name: whole.need(name, 1) for name in LAYOUT_FIELDS})
    sizes["vpp"] = counted_chunks(reading, sizes["pp"]) or sizes["vpp"]
    asked = any(gap.split(":")[0] == "micro_batch_size" for gap in reading.missing)
    micro = whole.need("micro_batch_size", None if asked else 1)
    dp = _replicas(whole, sizes)
    sizes = experts_over_data(reading, sizes, dp)
    accumulation = reading.value("gradient_accumulation")
    if whole.get("global_batch_size") is None and accumulation is not None:
        total = micro * dp * int(accumulation)
    else:
        total = whole.need("global_batch_size")
    _note_schedule(reading, sizes, said)
    choices = _choices(reading, given)
    schedule = str(choices.get("schedule", USUAL_SCHEDULE))
    choices = stage_ends(reading, sizes["pp"], sizes["vpp"], schedule) | choices
    layout = Layout(**copies_of(sizes, choices.get("zero_stage")), dp=dp, **choices)  # type: ignore[arg-type]
    micro = _cut_down(reading, micro, total, dp)
    length = whole.need("seq_length")
    batch = Batch(global_batch_size=total, micro_batch_size=micro, seq_length=length)
    check_framework(reading, layout, batch)
    return layout, batch


def _cut_down(reading: Reading, micro: int, total: int, dp: int) -> int:
    """Return the micro-batch, cut down to a rank's batch where the software does so itself."""
    each = total // dp
    if reading.kind not in cuts_micro_batches() or total % dp or not 0 < each < micro:
        return micro
    reading.notes.append(
        f"a micro-batch of {micro} is more than a rank's batch of {each}: {reading.title} cuts it "
        "down to that"
    )
    return each


def _note_schedule(reading: Reading, sizes: Mapping[str, int], said: Said) -> None:
    """Take the schedule that software usually runs where nobody names one: 1F1B if it can."""
    if sizes["pp"] == 1 or reading.value("schedule") is not None:
        return
    usual = usual_schedule(sizes["vpp"], sizes["pp"], said, [])
    if usual != USUAL_SCHEDULE:
        reading.assume("schedule", usual, "what the software runs with as many chunks")


def _choices(reading: Reading, given: Mapping[str, Value]) -> dict[str, Value]:
    choices = {name: given.get(name, reading.value(name)) for name in CHOICES}
    # The reading has said loudly that the file means 32 bits, where no layout has them yet.
    if choices["precision"] not in PRECISIONS and choices["precision"] == "fp32":
        choices["precision"] = "bf16"
    choices |= {name: given[name] for name in STAGE_FIELDS if name in given}
    return {name: value for name, value in choices.items() if value is not None}


def _check_gaps(reading: Reading, given: Mapping[str, Value]) -> None:
    """Refuse a file that sets something to what it does not tell: that is not "off"."""
    open_gaps: dict[str, str] = {}
    for gap in reading.missing:
        name, colon, why = gap.partition(": ")
        others = (*LAYOUT_FIELDS, *CHOICES, ARGUMENTS)
        is_of_model = reading.model is not None and name not in others
        if colon and name not in given and name not in _OPTIONS and not is_of_model:
            open_gaps[name] = why
    if open_gaps:
        way = " ".join(way_of(name) for name in list(open_gaps)[:6])
        whys = "; ".join(dict.fromkeys(open_gaps.values()))[:500]
        names = ", ".join(list(open_gaps)[:6])
        raise ConfigError(f"{reading.path} does not give {names}: {whys}; add {way}")


def way_of(name: str) -> str:
    """Return what is added to a command to give what a file leaves open.

    Args:
        name: Of the gap.
    """
    return "-- FIRST SECOND ..." if name == ARGUMENTS else f"--set {name}=VALUE"


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Whole numbers of a reading; what its user adds comes first."""

    reading: Reading
    given: Mapping[str, Value]

    def get(self, name: str, default: int | None = None) -> Any:
        return self.given.get(name, self.reading.value(name, default))

    def need(self, name: str, default: int | None = None) -> int:
        value = self.get(name, default)
        if value is None:
            gap = next((gap for gap in self.reading.missing if gap.startswith(f"{name}:")), "")
            why = f" ({gap.partition(': ')[2]})" if gap else ""
            way = _OPTIONS.get(name, f"--set {name}=VALUE")
            raise ConfigError(f"{self.reading.path} does not give {name}{why}; add {way}")
        return int(value)


def _replicas(whole: _Numbers, sizes: Mapping[str, int]) -> int:
    """Return the data-parallel size: given, or what the GPUs leave."""
    path = whole.reading.path
    group = sizes["tp"] * sizes["cp"] * sizes["pp"]
    if group < 1:
        raise ConfigError(f"{path}: tp x cp x pp = {group} must be >= 1")
    said = whole.get("dp")
    if whole.get("num_gpus") is None:
        return whole.need("num_gpus") if said is None else int(said)
    gpus = whole.need("num_gpus")
    if gpus % group:
        raise ConfigError(
            f"{path}: {counted(gpus, 'GPUs')} cannot be cut into groups of tp x cp x pp = "
            f"{sizes['tp']} x {sizes['cp']} x {sizes['pp']} = {group}; "
            f"the nearest number is {max(group, round(gpus / group) * group)}"
        )
    dp = gpus // group
    if said is not None and int(said) != dp:
        raise ConfigError(f"{path}: dp = {said} but {gpus} GPUs / {group} leave dp = {dp}")
    return dp


def noted(reading: Reading, given: Mapping[str, Value]) -> Reading:
    """Return a copy of a reading that shows what its user adds, for the table of what was used.

    Args:
        reading: What the file said.
        given: What its user adds.
    """
    facts = dict(reading.facts)
    for name, value in given.items():
        written = _OPTIONS.get(name, f"--set {name}")
        facts[name] = Fact(name=name, value=value, line=COMMAND_LINE, written=written)
    return replace(
        reading,
        facts=facts,
        assumptions=[one for one in reading.assumptions if one.name not in given],
        missing=[gap for gap in reading.missing if gap.split(":")[0] not in given],
    )
