"""One question, one answer: whoever asks, in time, parts, memory, interval and what was assumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from door_questions import (
    MODELS,
    SEED,
    Asked,
    answered_questions,
    by_candidate,
    by_row,
    by_search,
    by_step,
    in_a_table,
    renamed,
    said,
    search_of,
    words_of,
)
from explain_questions import as_file, as_read

from steptime.answer import Prediction, Question, answer, predict
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import PRECISIONS, RECOMPUTE, SCHEDULES
from steptime.inputs.presets import accelerator_names
from steptime.inputs.stack import families, stack_names
from steptime.planning.emit import FORMATS
from steptime.planning.explained import explain

NUM_QUESTIONS = 2000
NUM_COMMANDS = 40
NUM_FILES = 15
HOW = "model accelerator nvlink_domain network_gbit stack date facts predictor".split()


@pytest.fixture(scope="module")
def answered() -> list[tuple[Asked, Prediction]]:
    """Give random questions over models, devices, software and layouts, all with an answer."""
    return answered_questions(NUM_QUESTIONS, SEED)


@pytest.fixture(scope="module")
def questions(answered: list[tuple[Asked, Prediction]]) -> list[Asked]:
    """Give the questions alone."""
    return [asked for asked, _ in answered]


@pytest.fixture(scope="module")
def predicted(answered: list[tuple[Asked, Prediction]]) -> list[Prediction]:
    """Give what `predict` says to each, asked once for all that is compared with it."""
    return [found for _, found in answered]


def numbers(found: Prediction) -> dict[str, Any]:
    """Return all that an answer says in numbers."""
    return {
        "step": found.step_time_s,
        "low": found.step_time_low_s,
        "high": found.step_time_high_s,
        "parts": dict(found.breakdown_s),
        "memory": found.total_bytes,
        "ranks": found.memory.fullest.parts_bytes,
        "verdict": found.verdict,
        "chance": found.fit_probability,
        "mfu": found.mfu_fraction,
        "software": found.software.stack.name,
        "known": found.software.known,
        "facts": (found.software.time, found.software.memory),
    }


# Invariant


def test_questions_cover_what_can_be_asked(questions: list[Asked]) -> None:
    every = {
        "model": MODELS,
        "accelerator": accelerator_names(),
        "stack": (None, *stack_names(), *families()),
        "schedule": SCHEDULES,
        "precision": PRECISIONS,
        "recompute": RECOMPUTE,
        "zero_stage": range(4),
        "nvlink_domain": (None, 8, 36, 72),
    }
    for field, values in every.items():
        assert {asked[field] for asked in questions} == {*values}, field
    assert sum(asked["dp_replicate"] > 1 for asked in questions) > 100


@pytest.mark.slow
def test_search_answers_as_predict_does(
    questions: list[Asked], predicted: list[Prediction]
) -> None:
    for asked, found in zip(questions, predicted, strict=True):
        assert by_search(asked) == (found.step_time_s, found.total_bytes), asked
        told = (found.step_time_s, found.total_bytes, found.fit_probability)
        assert by_candidate(asked) == told, asked


def test_a_step_from_elsewhere_is_answered_as_predict_does(
    questions: list[Asked], predicted: list[Prediction]
) -> None:
    for asked, found in zip(questions, predicted, strict=True):
        assert numbers(by_step(asked)) == numbers(found), asked


def test_a_file_that_states_all_is_answered_as_predict_does(
    questions: list[Asked], predicted: list[Prediction]
) -> None:
    for asked, found in zip(questions, predicted, strict=True):
        told = answer(Question(step=as_read(asked), predictor=asked["predictor"]))
        assert (numbers(told), told.assumed) == (numbers(found), found.assumed), asked


@pytest.mark.slow
def test_a_launch_file_is_explained_as_predict_answers(
    questions: list[Asked], tmp_path: Path
) -> None:
    files = [as_file(asked, place, tmp_path) for place, asked in enumerate(questions)]
    written = [one for one in files if one is not None]
    assert len(written) > NUM_QUESTIONS // 4
    assert {one.path.suffix for one in written} == {".sh", ".toml", ".yaml"}
    num_compared = 0
    for one in written:
        asked = Question(step=one.step, predictor=one.asked["predictor"])
        # What software that nobody named could do, the file's own may not: fp8 in 2022-09.
        found, why = either(lambda one=one: predict(**one.asked))  # type: ignore[misc]
        told, said = either(lambda asked=asked: answer(asked))  # type: ignore[misc]
        assert said == why
        if found is None or told is None:
            continue
        assert numbers(told) == numbers(found), one.asked
        stated = [each for each in told.assumed if each.what not in one.taken]
        assert stated == list(found.assumed), one.asked
        num_compared += 1
    assert num_compared > NUM_QUESTIONS // 2


@pytest.mark.slow
def test_a_row_of_a_table_is_answered_as_predict_does(
    questions: list[Asked], predicted: list[Prediction]
) -> None:
    for asked, found in zip(questions, predicted, strict=True):
        told, judged = by_row(asked | {"predictor": found.predictor})
        assert numbers(told) == numbers(found), asked
        assert (judged.step_time_s, judged.breakdown_s) == (
            found.step_time_s,
            dict(found.breakdown_s),
        )
        assert (judged.step_time_low_s, judged.step_time_high_s) == (
            found.step_time_low_s,
            found.step_time_high_s,
        )
        # A table states a network in a column of it, and which model answers for all of its rows.
        taken = [in_a_table(one) for one in found.assumed if one.what != "predictor"]
        key = attrgetter("what", "value")
        assert sorted(judged.assumed, key=key) == sorted(taken, key=key), asked


def test_a_name_changes_nothing(questions: list[Asked], predicted: list[Prediction]) -> None:
    for asked, found in list(zip(questions, predicted, strict=True))[:400]:
        assert numbers(predict(**renamed(asked))) == numbers(found), asked


def test_a_memory_question_is_answered_under_the_same_facts(questions: list[Asked]) -> None:
    for asked in questions[:200]:
        found = predict(**asked)
        assert found.memory.total_bytes == found.total_bytes
        assert found.memory.facts == found.software.memory
        assert found.memory.fits == found.fits


# Through the commands


def test_commands_answer_as_python_does(
    questions: list[Asked], capsys: pytest.CaptureFixture[str]
) -> None:
    for asked in questions[:NUM_COMMANDS]:
        found = predict(**asked)
        told = said(capsys, ["predict", *words_of(asked), "--json"])
        assert told["step_time_s"] == found.step_time_s
        assert told["breakdown_s"] == dict(found.breakdown_s)
        assert told["step_time_low_s"] == found.step_time_low_s
        assert told["memory"]["total_bytes"] == found.total_bytes
        assert told["fit_probability"] == found.fit_probability
        assert told["assumed"] == [str(one) for one in found.assumed]
        kept = said(capsys, ["memory", *words_of(asked), "--json"])
        assert kept["total_bytes"] == found.total_bytes
        assert kept["fit_probability"] == found.fit_probability
        assert kept["assumed"] == told["assumed"]


def test_explain_answers_files_as_python_does(
    questions: list[Asked], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = (as_file(asked, place, tmp_path) for place, asked in enumerate(questions))
    for one in islice((one for one in files if one is not None), NUM_FILES):
        found = predict(**one.asked)
        asked = {name: one.asked[name] for name in HOW if one.asked[name] is not None}
        words = ["explain", str(one.path), *words_of(asked)]
        told = said(capsys, [*words, "--gpus", str(found.step.layout.num_devices), "--json"])
        assert told["step_time_s"] == found.step_time_s
        assert told["breakdown_s"] == dict(found.breakdown_s)
        assert (told["step_time_low_s"], told["step_time_high_s"]) == (
            found.step_time_low_s,
            found.step_time_high_s,
        )
        assert told["memory_total_bytes"] == found.total_bytes
        assert told["software"] == found.software.stack.name


# Refusal


def either(ask: Callable[[], Prediction]) -> tuple[Prediction | None, str]:
    """Return the answer to a question, or what is said against it."""
    try:
        return ask(), ""
    except ConfigError as error:
        return None, str(error)


def refusal(ask: Callable[[], Any]) -> str:
    """Return what is said against a question; empty where it is answered."""
    return either(ask)[1]


def test_what_predict_refuses_a_row_and_a_search_refuse(questions: list[Asked]) -> None:
    refused = 0
    for asked in questions[:300]:
        wrong = asked | {"tp": 3 * asked["tp"]}
        told = refusal(lambda wrong=wrong: predict(**wrong))  # type: ignore[misc]
        row = refusal(lambda wrong=wrong: by_row(wrong))  # type: ignore[misc]
        searched = refusal(
            lambda asked=asked, wrong=wrong: by_candidate_of(asked, wrong)  # type: ignore[misc]
        )
        assert row == told == searched
        refused += bool(told)
    assert refused > 200


@pytest.mark.parametrize(("date", "stage"), [("2022-09", 2), ("2021-05", 1), (None, 2)])
def test_what_a_family_learnt_later_is_one_rule_for_all(
    date: str | None, stage: int, questions: list[Asked], tmp_path: Path
) -> None:
    plain = next(one for one in questions if one["model"] == "llama3-8b" and one["dp"] > 1)
    wide = {"tp": 1, "cp": 1, "pp": 1, "vpp": 1, "ep": 1, "dp_replicate": 1, "schedule": "1f1b"}
    asked = plain | wide | {"accelerator": "a100", "zero_stage": stage, "stack": None}
    asked |= {"etp": 1, "nvlink_domain": None, "precision": "bf16", "facts": {}, "date": None}
    asked |= {"sequence_parallel": False, "predictor": None}
    at = FORMATS.index("megatron")
    written = as_file(asked, at, tmp_path)
    assert written is not None
    assert written.path.suffix == ".sh"
    said = written.asked | {"date": date}
    assert said["stack"] == "megatron"
    ways: tuple[Callable[[], Any], ...] = (
        lambda: predict(**said).step.said,
        lambda: explain(written.path, accelerator="a100", date=date).own.step.said,
        lambda: search_of(said | {"zero_stage": 0}, (stage,)).said,
        lambda: by_row(said)[0].step.said,
    )
    if date is None:
        told = [way() for way in ways]
        assert {one.shards for one in told} == {(stage,)}
        assert "no older can ZeRO-2" in " ".join(map(str, predict(**said).assumed))
    else:
        assert len({refusal(way) for way in ways}) == 1
        assert "--date 2025-02, when it came" in refusal(ways[0]) or stage == 1


def by_candidate_of(asked: Asked, wrong: Asked) -> None:
    """Ask a search of a legal question for one layout that is not."""
    from door_questions import step_of

    from steptime.planning.result import evaluated

    step = step_of(asked)
    layout = replace(step.layout, tp=wrong["tp"])
    evaluated(search_of(asked, (layout.zero_stage,)), layout, step.batch)
