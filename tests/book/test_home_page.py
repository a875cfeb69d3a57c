"""The front page's figure: its moments are those of the schedule, its answers those of a search."""

from __future__ import annotations

import itertools
import re

import pytest

import steptime
from steptime.book import home_answers, home_page, home_picture
from steptime.book.schedule_page import RANKS, boxes, timeline


def test_moments_follow_one_another_and_outline_only_waits() -> None:
    line = timeline()
    told = home_picture.moments(line)
    edges = [(one["from"], one["to"]) for one in told]
    assert edges[0][0] == 0.0
    assert edges[-1][1] == line["makespan"]
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(edges))
    busy = [(box["rank"], box["start"], box["end"]) for box in boxes(line)]
    for one in told:
        if one["wait"]:
            rank, start, end = one["wait"]
            assert not any(r == rank and s < end and e > start for r, s, e in busy)


def test_between_filling_and_draining_no_gpu_waits() -> None:
    line = timeline()
    full, drains = home_picture.phases(line)
    # By hand: three forwards there, the turn, three backwards back to the first GPU.
    assert full == 3 * 1 + 1 + 3 * 2
    assert full < drains < line["makespan"]
    assert all(end <= full or start >= drains for _, start, end in home_picture.gaps(line))


def test_the_picture_stops_where_the_last_gpu_has_nothing_yet() -> None:
    line = timeline()
    at = home_picture.stop_at(home_picture.moments(line))
    first = min(box["start"] for box in boxes(line) if box["rank"] == RANKS - 1)
    assert 0 < at < first
    html = home_picture.pictures()
    assert html.count("nothing has reached it yet</text>") == 2
    # 32 forwards and 32 backwards in each picture.
    assert html.count("data-op=") == 2 * 64
    ids = re.findall(r'id="([\w-]+)"', html)
    assert len(ids) == len(set(ids))


def test_an_answer_is_what_predict_says_of_its_layout() -> None:
    answer = home_answers.answer_of(*home_answers.FIRST)
    best, asked = answer.result.best[0], answer.result.question
    cut = best.layout
    told = steptime.predict(
        model="llama3-70b",
        accelerator="h100",
        tp=cut.tp,
        cp=cut.cp,
        pp=cut.pp,
        vpp=cut.vpp,
        dp=cut.dp,
        sequence_parallel=cut.sequence_parallel,
        zero_stage=cut.zero_stage,
        recompute=cut.recompute,
        schedule=cut.schedule,
        micro_batch_size=best.batch.micro_batch_size,
        seq_length=asked.seq_length,
        global_batch_size=asked.global_batch_size,
    )
    said = answer.record()
    assert said["step"] == home_answers.seconds(told.step_time_s)
    assert sum(said["shares"]) == pytest.approx(1.0)


def test_what_does_not_fit_says_the_least_that_it_needs() -> None:
    said = home_answers.answer_of("llama3-70b", 0).record()
    assert "step" not in said
    # Without activations: 70.6 billion parameters, 16 bytes each where gradients take 2, on 8 GPUs.
    assert float(said["least"].split()[0]) > 70.6 * 16 / 8


def test_the_first_answer_stands_in_the_page_before_any_script() -> None:
    html = home_page.fragment(home_answers.answer_of(*home_answers.FIRST))
    assert "<b>Fits:</b>" in html
    assert "l.model=llama3-70b&amp;l.gpu=h100" in html
    assert "needs-script" in html
