"""The schedules by name: who made them, what they need, what their papers promise."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.inputs.errors import ConfigError, check_choice, check_count
from steptime.pipeline.build import build_orders, fixed_chunks, refusal

MOST_ACTIONS = 30_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One pipeline schedule.

    Attributes:
        name: As on the command line.
        title: As papers write it.
        inventor: Who proposed it, and when.
        source: Key in ``references.bib`` and place in it.
        constraints: What it asks of stages p, micro-batches m and chunks v.
        splits_backward: Whether the backward for weights is an action of its own.
        bubble: Idle time of a rank by the source's formula, equal stages and free sends.
        activations: Most micro-batches that a rank holds, by the source's formula.
        idea: What it does, in one sentence.
    """

    name: str
    title: str
    inventor: str
    source: str
    constraints: str
    splits_backward: bool
    bubble: str
    activations: str
    idea: str


_TABLE = (
    Schedule(
        name="gpipe",
        title="GPipe",
        inventor="Huang et al., 2019",
        source="huang2019, Sec. 2.3",
        constraints="v = 1",
        splits_backward=False,
        bubble="(p - 1)(F + B)",
        activations="m",
        idea="Every forward, then every backward.",
    ),
    Schedule(
        name="1f1b",
        title="1F1B",
        inventor="Narayanan et al., 2019",
        source="narayanan2021, Sec. 2.2.1",
        constraints="v = 1",
        splits_backward=False,
        bubble="(p - 1)(F + B)",
        activations="p",
        idea="One forward, one backward in turn once full: GPipe's bubble, p micro-batches held.",
    ),
    Schedule(
        name="interleaved-1f1b",
        title="Interleaved 1F1B",
        inventor="Narayanan et al., 2021",
        source="narayanan2021, Sec. 2.2.2",
        constraints="any v; max(1, m // p) must divide m",
        splits_backward=False,
        bubble="(p - 1)(F + B) / v",
        activations="p (1 + (p - 1) / (p v))",
        idea="v smaller chunks a rank: a v-th of the bubble for v times the sends.",
    ),
    Schedule(
        name="looped-bfs",
        title="Looped breadth-first",
        inventor="Lamy-Poirier, 2023",
        source="lamypoirier2023, Sec. 4",
        constraints="any p, m, v",
        splits_backward=False,
        bubble="(p - 1)(F + B) / v",
        activations="m",
        idea="All micro-batches through chunk after chunk: GPipe with a v-th of its bubble.",
    ),
    Schedule(
        name="zb-h1",
        title="ZB-H1",
        inventor="Qi et al., 2024",
        source="qi2023, Table 2",
        constraints="v = 1",
        splits_backward=True,
        bubble="(p - 1)(F + I - W)",
        activations="p",
        idea="1F1B with the backward cut in two: the weight half fills the bubble.",
    ),
    Schedule(
        name="zb-h2",
        title="ZB-H2",
        inventor="Qi et al., 2024",
        source="qi2023, Table 2",
        constraints="v = 1",
        splits_backward=True,
        bubble="(p - 1)(F + I - 2W) on each rank's own span",
        activations="2p - 1",
        idea="Twice the micro-batches in flight: no rank idles between its first and last action.",
    ),
    Schedule(
        name="interleaved-zb",
        title="Interleaved zero-bubble",
        inventor="Qi et al., 2024; order by PyTorch",
        source="qi2023, Sec. 2; ansel2024, torch.distributed.pipelining",
        constraints="any v; max(1, m // p) must divide m",
        splits_backward=True,
        bubble="(p - 1)(F + I - W) / v",
        activations="p + (p - 1) / v",
        idea="Interleaved 1F1B with the backward cut in two.",
    ),
    Schedule(
        name="zb-v",
        title="ZB-V",
        inventor="Qi et al., 2024",
        source="qi2023, Sec. 6",
        constraints="v = 2",
        splits_backward=True,
        bubble="0 on each rank's own span where F = I = W",
        activations="p",
        idea="Two chunks a rank, down and up again in a V: no bubble in 1F1B's memory.",
    ),
    Schedule(
        name="v-half",
        title="V-Half",
        inventor="Qi et al., 2024",
        source="qi2024, Table 1",
        constraints="v = 2",
        splits_backward=True,
        bubble="(3p - 4) F of a chunk for odd p, (3p - 7) F for even p > 2, where F = I = W",
        activations="about p / 2 + 1",
        idea="A V spaced for half of the memory.",
    ),
    Schedule(
        name="v-min",
        title="V-Min",
        inventor="Qi et al., 2024",
        source="qi2024, Table 1",
        constraints="v = 2",
        splits_backward=True,
        bubble="(4p - 5) F of a chunk, (4p - 7) F where 3 divides p, where F = I = W",
        activations="about (p + 4) / 3",
        idea="A V spaced for a third of the memory.",
    ),
    Schedule(
        name="dualpipe",
        title="DualPipe",
        inventor="DeepSeek-AI, 2024",
        source="deepseek2024, Sec. 3.2.1 and Table 2",
        constraints="v = 1; p and m even; m >= 2p; weights are held twice",
        splits_backward=True,
        bubble="(p/2 - 1)(F&B + B - 3W)",
        activations="p + 1",
        idea="Micro-batches from both ends; a forward runs beside a backward and hides its sends.",
    ),
    Schedule(
        name="dualpipe-v",
        title="DualPipeV",
        inventor="DeepSeek-AI and Sea AI Lab, 2025",
        source="dualpipe2025, README",
        constraints="v = 2; m >= 2p",
        splits_backward=True,
        bubble="(p - 1)(F&B + B - 3W) / 2",
        activations="p + 1/2",
        idea="DualPipe cut in half: one direction in a V, weights held once.",
    ),
)

SCHEDULES: dict[str, Schedule] = {entry.name: entry for entry in _TABLE}


def default_chunks(name: str) -> int:
    """Return the chunks a rank holds unless told: 2 where there is a choice.

    Args:
        name: A key of ``SCHEDULES``.
    """
    return fixed_chunks(name) or 2


def check_schedule(name: str, p: int, m: int, v: int | None = None) -> int:
    """Refuse sizes that a schedule cannot run; return the chunks a rank holds.

    Args:
        name: A key of ``SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; the schedule's usual number if None.

    Raises:
        ConfigError: With what does not fit and sizes that would.
    """
    check_choice("schedule", name, SCHEDULES)
    check_count("stages", p, most=100_000)
    check_count("micro_batches", m, most=10_000_000)
    chunks = default_chunks(name) if v is None else check_count("chunks", v, most=100_000)
    reason = refusal(name, p, m, chunks)
    if reason:
        raise ConfigError(reason)
    if 3 * p * m * chunks > MOST_ACTIONS:
        raise ConfigError(
            f"stages={p} x micro_batches={m} x chunks={chunks} makes over "
            f"{MOST_ACTIONS:,} actions; use smaller numbers"
        )
    return chunks


def schedule_orders(name: str, p: int, m: int, v: int | None = None) -> list[list[int]]:
    """Return the action codes of each rank, see `codes`.

    Args:
        name: A key of ``SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; the schedule's usual number if None.

    Raises:
        ConfigError: If the schedule cannot run at these sizes.
    """
    return build_orders(name, p, m, check_schedule(name, p, m, v))
