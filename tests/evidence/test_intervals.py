"""Intervals from the errors of sources left out."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

pytest.importorskip("scipy")

from steptime.answer import predict
from steptime.answer.width import kept_width, kind_of
from steptime.evidence.intervals import (
    FEWEST_SOURCES,
    ends,
    holds,
    misses_of,
    quantile,
    width,
    width_of,
    widths_text,
)
from steptime.evidence.pooling import (
    Spread,
    base_of,
    growth_of,
    heard,
    predictive_variance,
    squeezed,
)
from steptime.evidence.residuals import DENSE, EXPERTS, KINDS, NARROW, Miss, Residual, residuals
from steptime.formulas.judgement import exposed_fraction, half_width, interval_s
from steptime.formulas.records import StepParts, Width
from steptime.inputs.datafiles import data_path
from steptime.inputs.said import EXACT, FAMILY, KNOWLEDGE, NOTHING, Said
from steptime.inputs.stack import HIDING, TIME_FACTS


def parts_with(exposed: float) -> StepParts:
    """Return a step of a second, so much of which is no computing."""
    names = StepParts.__annotations__
    zero: StepParts = dict.fromkeys(names, 0.0)  # type: ignore[assignment]
    parts = zero | {"compute": 0.75 * (1.0 - exposed), "recompute": 0.25 * (1.0 - exposed)}
    return parts | {"pipeline_bubble": exposed}


def drawn(sources: int, seed: int, middle: float = 0.0, runs: int = 12) -> list[Miss]:
    """Return errors of sources that differ by 0.1, runs of one by 0.05."""
    rng = random.Random(seed)
    found = []
    for source in range(sources):
        off = rng.gauss(middle, 0.1)
        found += [Miss(str(source), rng.random(), off + rng.gauss(0.0, 0.05)) for _ in range(runs)]
    return found


def row(source: str, kind: str, error: float, *, known: str = EXACT, place: int = 0) -> Residual:
    """Return a left-out run that misses by the same whatever is known."""
    return Residual(
        id=f"{source}-{place}",
        source=source,
        kind=kind,
        knowledge=known,
        attention=0.1,
        exposed=0.1,
        error=error,
        family_exposed=0.1,
        family_error=error,
        assumed_exposed=0.1,
        assumed_error=error,
    )


def rows_of(kind: str, sizes: list[float], known: str = EXACT) -> list[Residual]:
    """Return four runs a source, each source off by one size."""
    return [
        row(f"{kind}{at}", kind, size + 0.01 * place, known=known, place=place)
        for at, size in enumerate(sizes)
        for place in range(4)
    ]


# ---- by hand and published


def test_the_quantile_is_that_of_the_printed_tables() -> None:
    assert [round(quantile(0.9, freedom), 3) for freedom in (2, 4, 9)] == [2.92, 2.132, 1.833]


def test_a_variance_by_hand() -> None:
    # Means -1, 0, 1: between 2 / 2, times 4/3; within 2, less a half of it that the means hold.
    groups = [[-2.0, 0.0], [-1.0, 1.0], [0.0, 2.0]]
    assert predictive_variance(groups) == pytest.approx(4.0 / 3.0 + 2.0 * 0.5)


def test_the_kept_widths_are_what_the_left_out_errors_give() -> None:
    assert data_path("interval_widths.toml").read_text(encoding="utf-8") == widths_text()


# ---- limit


def test_sources_alike_leave_what_differs_within_them() -> None:
    misses = [Miss(str(source), 0.0, 0.1 * (-1) ** at) for source in range(40) for at in range(40)]
    found = width(misses)
    assert found is not None
    assert found.slope == 0.0
    assert half_width(found, 0.0) == pytest.approx(quantile(0.9, 39) * 0.1, rel=0.02)


def test_a_prediction_stays_inside_however_far_the_middle() -> None:
    far = Width(factor=1.0, base=0.1, slope=0.0, middle=0.5)
    assert ends(far, Miss("", 0.0, 0.0)) == (0.0, 0.6)
    assert holds(far, Miss("", 0.0, 0.5))
    assert holds(far, Miss("", 0.0, 0.0))
    assert not holds(far, Miss("", 0.0, -0.01))
    short = predict(model="llama3-8b", accelerator="h100", seq_length=128, global_batch_size=1)
    told = interval_s(short.record, short.software.time, far, parts_with(0.0), 1.0, 1.0)
    assert told["high_s"] == 1.0
    assert told["low_s"] == pytest.approx(math.exp(-0.6))


def test_an_error_counts_as_far_as_it_lies_beyond_what_may_not_be_hidden() -> None:
    """The step may be up to 0.2 longer: too slow counts whole, too fast from there on."""
    found = [Miss("a", 0.1, error, 0.2).beyond for error in (0.3, -0.1, -0.5)]
    assert [one.error for one in found] == [0.3, 0.0, pytest.approx(-0.3)]
    assert {(one.source, one.exposed, one.hidden) for one in found} == {("a", 0.1, 0.0)}
    plain = Width(factor=1.0, base=0.1, slope=0.0)
    assert ends(plain, Miss("a", 0.1, 0.0, 0.2)) == (pytest.approx(-0.3), 0.1)
    assert holds(plain, Miss("a", 0.1, -0.29, 0.2))
    assert not holds(plain, Miss("a", 0.1, -0.29))


def test_what_nobody_says_to_be_hidden_is_told_by_a_fact() -> None:
    """A stated overlap is no more in doubt, so the later end comes nearer."""
    asked: dict[str, Any] = {"model": "llama3-8b", "accelerator": "h100", "tp": 8, "dp": 4}
    asked |= {"seq_length": 8192, "global_batch_size": 8}
    open_ends = predict(**asked)
    told = predict(**asked, facts={name: getattr(open_ends.software.time, name) for name in HIDING})
    assert told.step_time_s == open_ends.step_time_s
    assert told.step_time_low_s == open_ends.step_time_low_s
    assert told.step_time_high_s is not None
    assert open_ends.step_time_high_s is not None
    assert told.step_time_high_s < open_ends.step_time_high_s
    assert {name for name in TIME_FACTS if name.startswith("overlap_")} == {*HIDING}


# ---- invariant


def test_the_width_covers_what_it_promises_of_a_new_source() -> None:
    inside = 0
    for seed in range(600):
        found = width(drawn(8, seed))
        assert found is not None
        new = drawn(1, 10_000 + seed, runs=1)[0]
        inside += holds(found, new)
    assert 0.87 <= inside / 600 <= 0.95


def test_many_runs_of_one_source_do_not_narrow_an_interval() -> None:
    few = drawn(6, 4, runs=4)
    many = few + [miss for miss in few if miss.source == "0"] * 50
    narrow, wide = width(few), width(many)
    assert narrow is not None
    assert wide is not None
    assert half_width(wide, 0.2) > 0.9 * half_width(narrow, 0.2)


def test_what_is_usual_moves_the_interval_and_not_its_width() -> None:
    plain, moved = width(drawn(6, 3)), width(drawn(6, 3, middle=-0.2))
    assert plain is not None
    assert moved is not None
    assert moved.middle == pytest.approx(plain.middle - 0.2)
    assert half_width(moved, 0.3) == pytest.approx(half_width(plain, 0.3))


def test_too_few_sources_borrow_the_wider_neighbour() -> None:
    dense = rows_of(DENSE, [-0.1, 0.0, 0.1, 0.2])
    narrow = rows_of(NARROW, [0.02])
    rows = [*dense, *narrow]
    assert width_of(rows, NARROW, FAMILY) == width_of(rows, DENSE, FAMILY)
    assert width_of(rows, NARROW, NOTHING) == width_of(rows, DENSE, NOTHING)


def test_two_sources_are_enough_beside_other_kinds() -> None:
    dense, narrow = rows_of(DENSE, [-0.1, 0.0, 0.1, 0.2]), rows_of(NARROW, [0.0, 0.2])
    found = width_of([*dense, *narrow], NARROW, FAMILY)
    assert found is not None
    assert (found.num_sources, found.runs) == (2, len(narrow))
    assert width_of(narrow, NARROW, FAMILY) is None
    alone = width_of(dense, DENSE, FAMILY)
    assert alone is not None
    # Three degrees of its own, and the one that the other kind can lend.
    beside = width_of([*dense, *narrow], DENSE, FAMILY)
    assert beside is not None
    assert beside.factor < alone.factor


def test_a_squeezed_variance_by_hand() -> None:
    # One degree of its own borrows two of three: (2 x 1 + 1 x 4) / 3 = 2.
    assert squeezed(Spread(4.0, 1), [Spread(1.0, 3)]) == Spread(2.0, 3)
    # Four borrow four of ten, half and half; and none where there are no others.
    assert squeezed(Spread(4.0, 4), [Spread(1.0, 5), Spread(3.0, 5)]) == Spread(3.0, 8)
    assert squeezed(Spread(4.0, 4), []) == Spread(4.0, 4)


def test_how_scales_grow_is_one_number_for_all_kinds() -> None:
    def kind(size: float) -> list[Miss]:
        return [
            Miss(source, exposed, sign * size * (1.0 + 2.0 * exposed))
            for source in ("a", "b")
            for exposed in (0.0, 0.1, 0.3, 0.4)
            for sign in (-1.0, 1.0)
        ]

    assert growth_of([kind(0.05), kind(0.2)]) == pytest.approx(2.0)
    assert base_of(heard(kind(0.2)), 0.0, 2.0) == pytest.approx(0.2)
    assert growth_of([[]]) == 0.0


def test_experts_are_no_narrower_than_dense_where_software_is_new() -> None:
    rows = rows_of(DENSE, [-0.3, 0.0, 0.3, 0.4]) + rows_of(EXPERTS, [0.1, 0.11, 0.12])
    dense, experts, exact = (
        width_of(rows, DENSE, FAMILY),
        width_of(rows, EXPERTS, FAMILY),
        width_of(rows, EXPERTS, EXACT),
    )
    assert dense is not None
    assert experts is not None
    assert exact is not None
    assert half_width(experts, 0.1) == half_width(dense, 0.1)
    assert experts.middle == pytest.approx(0.125)
    assert half_width(exact, 0.1) < half_width(dense, 0.1)


def test_only_named_stacks_are_examples_of_exact_software() -> None:
    rows = rows_of(DENSE, [0.0, 0.1], known=FAMILY)
    assert misses_of(rows, DENSE, EXACT) == ()
    assert len(misses_of(rows, DENSE, FAMILY)) == len(rows)
    assert len(misses_of(rows, DENSE, FAMILY, without=f"{DENSE}0")) == len(rows) // 2


def test_a_stack_of_one_source_is_exact_for_nobody_else() -> None:
    levels = [Said(stack=name).knowledge for name in ("megatron-core", "bloom", "megatron", None)]
    assert levels == [EXACT, FAMILY, FAMILY, NOTHING]
    assert Said(stack="deepseek").knowledge == NOTHING
    assert Said(date="2024-03").knowledge == NOTHING


def test_a_prediction_carries_the_interval_of_what_is_known() -> None:
    asked = {
        "model": "gpt3-175b",
        "accelerator": "a100",
        "tp": 8,
        "pp": 8,
        "dp": 2,
        "seq_length": 2048,
        "global_batch_size": 128,
        "recompute": "full",
    }
    for stack, knowledge in (("megatron-2021", EXACT), ("megatron", FAMILY), (None, NOTHING)):
        made = predict(**asked, stack=stack)
        found = kept_width(DENSE, knowledge)
        assert made.step_time_low_s is not None
        assert made.step_time_high_s is not None
        assert found is not None
        half = half_width(found, exposed_fraction(made.breakdown_s, made.step_time_s))  # type: ignore[arg-type]
        assert made.step_time_low_s < made.step_time_s < made.step_time_high_s
        slowest_s = made.known.slowest_s(made.record, made.software, made.step_time_s)
        # Of named software it is known what it hides.
        assert (slowest_s > made.step_time_s) is (stack is None)
        assert made.step_time_high_s == pytest.approx(slowest_s * math.exp(half - found.middle))


def test_kinds_follow_experts_and_precision() -> None:
    assert [kind_of(False, False), kind_of(False, True), kind_of(True, False)] == list(KINDS)
    assert kind_of(True, True) == kind_of(True, False)


def test_every_cell_has_a_width_and_less_known_is_wider_for_dense_runs() -> None:
    assert all(kept_width(kind, known) for kind in KINDS for known in KNOWLEDGE)
    halves = [half_width(kept_width(DENSE, known), 0.2) for known in KNOWLEDGE]  # type: ignore[arg-type]
    assert halves == sorted(halves)


# ---- refusal


def test_too_few_sources_give_no_interval() -> None:
    assert width(drawn(FEWEST_SOURCES - 1, 1)) is None
    assert width([]) is None
    assert width_of([], DENSE, NOTHING) is None
    assert len({one.source for one in residuals()}) > 10
