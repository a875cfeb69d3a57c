"""Forty questions, what the last release answered and what is answered today."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from steptime.book.study.answers import Moves
from steptime.book.tables.answers import causes_table, moves_table
from steptime.evidence import answers
from steptime.evidence.answers import Asked, asked, causes, differences, released_text
from steptime.inputs.errors import ConfigError


@pytest.fixture(scope="module")
def questions() -> tuple[Asked, ...]:
    """Give every question, asked once."""
    return asked()


def test_what_moved_since_the_last_release_has_a_cause(questions: tuple[Asked, ...]) -> None:
    print(differences(questions))
    assert len(questions) >= 40
    for one in questions:
        moved = f"{one.change:+.2%}, peak {one.peak_change:+.2%}"
        assert bool(one.causes) == one.moved, (one.name, moved, one.causes)


def test_each_cause_is_named_by_a_question(questions: tuple[Asked, ...]) -> None:
    assert {cause for one in questions for cause in one.causes} == set(causes())


def test_the_parts_of_both_answers_add_up(questions: tuple[Asked, ...]) -> None:
    for one in questions:
        for answer in (one.then, one.now):
            assert sum(answer.parts_s) == pytest.approx(answer.step_time_s, rel=1e-9), one.name


def test_a_cause_of_assumed_software_shows_where_that_is_named(
    questions: tuple[Asked, ...],
) -> None:
    # With the software of the last release named, the rest of the move is another cause's.
    for one in questions:
        if one.causes == ("software",):
            assert one.told_change is not None
            assert abs(one.told_change) < abs(one.change), one.name


def test_a_release_is_read_back_as_it_was_kept(questions: tuple[Asked, ...]) -> None:
    text = released_text("9.9", {one.name: one.now for one in questions})
    for one, row in zip(questions, csv.DictReader(io.StringIO(text)), strict=True):
        assert (row["release"], row["question"]) == ("9.9", one.name)
        assert answers._of_row(row) == one.now


def test_the_line_of_a_move_says_then_now_and_why(questions: tuple[Asked, ...]) -> None:
    one = questions[0]
    slower = replace(one.now, step_time_s=2.0 * one.then.step_time_s)
    line = differences((replace(one, now=slower, causes=()),))
    assert one.name in line
    assert "(+100.0%)" in line
    assert "no cause is given" in line
    assert not differences((replace(one, now=one.then),))


def test_a_cause_that_nobody_explains_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = answers.data_table("answers.toml")
    question = {**table["question"]["gpt3-1024-a100"], "why": ["moon"]}
    changed = {"cause": table["cause"], "question": {"gpt3-1024-a100": question}}
    monkeypatch.setattr(answers, "data_table", lambda name: changed)
    with pytest.raises(ConfigError, match="gpt3-1024-a100 names no cause: moon"):
        asked()


def test_tables_show_each_question_and_cause(questions: tuple[Asked, ...]) -> None:
    moves = Moves(questions, causes())
    shown = str(moves_table(moves))
    assert all(one.title in shown for one in questions)
    explained = str(causes_table(moves))
    assert all(text in explained for text in causes().values())
