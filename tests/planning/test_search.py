"""The search: array against one layout, exhaustive against pruned, blocks against no blocks."""

from __future__ import annotations

import random
import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from steptime.answer import PREDICTORS
from steptime.formulas.candidates import row_rule
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.planning.cuts import chunk_counts, divisors
from steptime.planning.evaluate import (
    base_job,
    bytes_of,
    crossed_job,
    layout_of,
    over_software,
    rows_job,
    step_function,
    switches,
)
from steptime.planning.question import Question
from steptime.planning.result import answered, evaluated
from steptime.planning.search import Search, search
from steptime.planning.space import ROW_FIELDS, row_blocks

H100 = accelerator("h100")


def question(
    name: str = "llama3-8b", devices: int = 16, batch: int = 64, **more: object
) -> Question:
    return Question(
        model=model(name),
        accelerator=more.pop("accelerator", H100),  # type: ignore[arg-type]
        num_devices=devices,
        global_batch_size=batch,
        seq_length=4096,
        **more,  # type: ignore[arg-type]
    )


QUESTIONS = [
    question("llama3-405b", 1024, 512),
    question("gpt3-175b", 1536, 1536, accelerator=accelerator("a100")),
    question("mixtral-8x7b", 64, 256),
    question("deepseek-v3", 2048, 4096),
    question("gpt-oss-120b", 144, 288, order="llama3", predictor="baseline"),
]


# --- invariant


@pytest.mark.slow
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_array_result_equals_one_layout_result_to_the_last_bit(predictor: str) -> None:
    draw = random.Random(1)
    checked = 0
    for asked in QUESTIONS:
        asked = replace(asked, predictor=predictor, order="megatron")
        rows = np.vstack(list(row_blocks(asked, 10**6)))
        base, choices = base_job(asked), switches(asked)
        valid = rows[row_rule(rows_job(base, rows)) == 0.0]
        valid = valid[draw.choices(range(len(valid)), k=2000)]
        record = crossed_job(base, valid, choices)
        shape = (len(valid), *choices.shape)
        times = over_software(asked, record, choices, shape, step_function(asked))
        bytes_ = over_software(asked, record, choices, shape, bytes_of)
        for place in range(len(valid)):
            one = tuple(draw.randrange(size) for size in choices.shape)
            layout, batch = layout_of(asked, valid[place], *one)
            alone = evaluated(asked, layout, batch)
            assert float(times[place, *one]) == alone.step_time_s, layout
            assert float(bytes_[place, *one]) == alone.memory_bytes, layout
            checked += 1
    assert checked == 10_000


@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("asked", QUESTIONS[:3], ids=lambda asked: asked.model.name)
def test_pruned_search_finds_the_same_best(asked: Question, predictor: str) -> None:
    asked = replace(asked, predictor=predictor)
    exhaustive = search(asked, keep=50)
    pruned = search(asked, keep=50, prune=True)
    assert pruned.best == exhaustive.best
    assert pruned.num_evaluated < exhaustive.num_evaluated


@pytest.mark.parametrize("cells", [480, 10**6])
def test_result_does_not_depend_on_the_size_of_blocks(cells: int) -> None:
    whole = search(question("mixtral-8x7b", 64, 256), keep=100)
    cut = search(question("mixtral-8x7b", 64, 256), keep=100, cells=cells)
    assert (cut.best, cut.front, cut.dropped) == (whole.best, whole.front, whole.dropped)


def brute(asked: Question) -> list[tuple[float, float, Layout]]:
    """Return time, memory and layout of everything that fits, by plain loops."""
    found = []
    n, layers = asked.num_devices, asked.model.num_layers
    for tp, cp, pp in product(divisors(n), repeat=3):
        if n % (tp * cp * pp):
            continue
        for vpp, micro in product(chunk_counts(layers, pp) if pp <= layers else [], (1, 2, 4, 8)):
            for recompute, zero, sequence in product(
                asked.recompute, asked.zero_stages, asked.sequence_parallel
            ):
                layout = Layout(
                    tp=tp, cp=cp, pp=pp, vpp=vpp, dp=n // (tp * cp * pp),
                    recompute=recompute, zero_stage=zero, sequence_parallel=sequence,
                    schedule="interleaved-1f1b" if vpp > 1 else "1f1b",
                )  # fmt: skip
                batch = Batch(
                    global_batch_size=asked.global_batch_size,
                    micro_batch_size=micro,
                    seq_length=asked.seq_length,
                )
                try:
                    one = evaluated(asked, layout, batch)
                except ConfigError:
                    continue
                rounds = asked.global_batch_size // (layout.dp * micro)
                chance = one.fit_probability
                if chance is None or chance < asked.fits_with:
                    continue
                if one.headroom_bytes >= 0 and not (vpp > 1 and rounds % pp):
                    found.append((one.step_time_s, one.memory_bytes, layout))
    return found


@pytest.mark.parametrize("fits_with", [0.0, 0.9])
def test_best_and_front_equal_plain_loops(fits_with: float) -> None:
    device = replace(H100, hbm_bytes=2.4e10)
    asked = question("megatron-1.7b", 4, 8, accelerator=device, fits_with=fits_with)
    found = brute(asked)
    result = search(asked)
    assert result.num_fitting > len(result.front) > 3
    assert result.best[0].step_time_s == min(time_s for time_s, _, _ in found)
    assert result.best[0].layout in [layout for _, _, layout in found]
    points = {(time_s, size) for time_s, size, _ in found}
    front = [
        (time_s, size)
        for time_s, size in points
        if not any(a <= time_s and b <= size and (a, b) != (time_s, size) for a, b in points)
    ]
    assert [(one.step_time_s, one.memory_bytes) for one in result.front] == sorted(front)


def test_front_is_a_front() -> None:
    front = search(QUESTIONS[0]).front
    assert len(front) > 5
    for faster, slower in pairwise(front):
        assert faster.step_time_s < slower.step_time_s
        assert faster.memory_bytes > slower.memory_bytes


def test_counts_add_up() -> None:
    asked = question("mixtral-8x7b", 96, 256)
    result = search(asked)
    broken: list[tuple[int, ...]] = []

    def spell_out(rule: int, sizes: tuple[int, ...], rows: int) -> None:
        broken.extend([sizes] * rows)

    rows = np.vstack(list(row_blocks(asked, 10**6, spell_out)))
    whole = np.vstack([rows[:, : ROW_FIELDS.index("vpp")], np.array(broken, dtype=float)])
    sizes = ("tp", "cp", "dp", "ep", "etp")
    tp, cp, dp, ep, etp = (whole[:, ROW_FIELDS.index(name)] for name in sizes)
    stages = len(asked.zero_stages)
    split = (tp > 1) & (4096 % (cp * tp) == 0)
    # Ranks of one expert share its states too.
    shared = (cp * dp > 1) | (tp * cp * dp > ep * etp)
    layouts = (3 * np.where(split, 2, 1) * np.where(shared, stages, 1)).sum()
    dropped = sum(n for reason, n in result.dropped.items() if "sizes, not" not in reason)
    assert len(broken) > 100
    assert result.num_fitting + dropped == layouts


def test_sizes_are_dropped_by_the_rule_that_the_formula_names() -> None:
    asked = question("mixtral-8x7b", 96, 256)
    rules: dict[tuple[int, ...], int] = {}
    list(row_blocks(asked, 10**6, lambda rule, sizes, rows: rules.update({tuple(sizes): rule})))
    assert set(rules.values()) == {4, 5, 8}
    for sizes, rule in list(rules.items())[::7]:
        # A batch and chunks that break nothing themselves.
        row = np.array([[*sizes, 1.0, 1.0, 1.0]])
        record = rows_job(base_job(replace(asked, global_batch_size=96 * 64)), row)
        assert row_rule(record)[0] == rule, sizes


def test_parts_add_up_to_the_candidate() -> None:
    result = search(question("mixtral-8x7b", 64, 256), keep=5)
    assert result.best
    for one in result.best:
        told = answered(result.question, one)
        assert PREDICTORS[told.predictor].total(told.breakdown_s) == one.step_time_s
        assert told.memory.total_bytes == one.memory_bytes
        parts = told.memory.fullest.parts_bytes
        assert sum(parts.values()) == pytest.approx(one.memory_bytes)


def test_every_layout_found_fits_and_is_valid() -> None:
    for asked in QUESTIONS:
        for one in search(asked, keep=20).best:
            assert evaluated(asked, one.layout, one.batch) == one
            assert one.headroom_bytes >= 0
            assert one.layout.num_devices == asked.num_devices


# --- limit


def test_one_device_has_one_way_to_cut() -> None:
    result = search(question("llama3-8b", 1, 1, zero_stages=(0,), recompute=("none",)), keep=10)
    assert result.num_evaluated == 1
    assert result.best == ()
    assert result.leanest is not None
    assert result.leanest.headroom_bytes < 0


def test_tensor_parallelism_stays_in_the_domain() -> None:
    for one in search(QUESTIONS[0], keep=20).best:
        assert one.layout.tp <= 8


def test_a_large_search_fits_much_and_holds_little() -> None:
    asked = question("llama3-405b", 16384, 2048)
    assert search(asked).num_fitting > 10_000
    tracemalloc.start()
    search(replace(asked, model=model("deepseek-v3"), num_devices=2048), prune=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.timed
def test_the_first_result_comes_within_a_second() -> None:
    asked = question("llama3-405b", 16384, 2048)
    start = time.process_time()
    search(asked)
    assert time.process_time() - start < 1.0


@pytest.mark.slow
def test_memory_stays_bounded_in_a_huge_space() -> None:
    # 720,720 = 2**4 x 3**2 x 5 x 7 x 11 x 13 can be cut in more ways than any cluster.
    asked = question("deepseek-v3", 720_720, 720_720, accelerator=accelerator("gb200"))
    run = Search(asked)
    tracemalloc.start()
    for evaluated_so_far, _ in zip(run.run(), range(10), strict=False):
        assert evaluated_so_far > 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


# --- refusal


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"num_devices": 0}, "num_gpus must be >= 1, got 0"),
        ({"num_devices": 10**7}, "num_gpus must be <= 1000000"),
        ({"recompute": ()}, "recompute is empty"),
        ({"schedules": ("1f2b",)}, "unknown schedule '1f2b'; did you mean '1f1b'"),
        ({"zero_stages": (4,)}, "zero_stage must be <= 3"),
        ({"predictor": "magic"}, "unknown predictor 'magic'"),
        ({"order": "tp"}, "unknown rank order"),
        ({"accelerator": accelerator("a100"), "precision": "fp8"}, "has no 8-bit matrix products"),
        (
            {"precision": "fp8", "predictor": "baseline"},
            "fitted in 16 bits, not fp8; use --predictor roofline",
        ),
        ({"order": "llama3", "predictor": "roofline"}, "use --predictor baseline for another"),
        ({"accelerator": accelerator("l40s"), "predictor": "roofline"}, "no measured rate"),
        ({"hbm_share": 0.0}, "memory_share must be a number > 0 and <= 1"),
        ({"micro_batch_sizes": (0,)}, "micro_batch_size must be >= 1"),
        ({"pinned": (("dp_replicate", (0,)),)}, "dp_replicate must be >= 1"),
        ({"said": Said(stack="torchtitan"), "zero_stages": (1,)}, "no such sharding; use 0, 2, 3"),
    ],
)
def test_bad_questions_are_refused(more: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(question(), **more)  # type: ignore[arg-type]
