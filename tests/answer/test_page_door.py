"""The page is asked what test_one_door.py asks everybody else, and says what `predict` says.

Both draw from one seed: search, rows, files and steps from elsewhere are held to `predict` there.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from door_questions import SEED, Asked, drawn
from page_node import bits, page_answers

from steptime.answer import predict
from steptime.book.explorer_page import write_modules
from steptime.book.explorer_state import FIELD_KEYS, asked_of
from steptime.book.node import node_path
from steptime.inputs.errors import ConfigError

pytestmark = pytest.mark.slow

NUM_QUESTIONS = 2000
OTHERS = (
    {"stack": "fsdp", "date": "2024-05", "facts": "kernel=cudnn,overlap_dp=0.5"},
    {"stack": "megatron-2023"},
    {"stack": "mega"},
    {"date": "1999-01"},
    {"facts": "overlap=1"},
    {"facts": "overlap_dp=2"},
    {"facts": "kernel=flash-9"},
)
"""What an address may say of software: the first two there are."""
VERDICTS = ("over", "tight", "fits")


def state(asked: Asked) -> dict[str, Any]:
    """Return a question as the choices of the page."""
    found = {key: asked[name] for name, key in FIELD_KEYS.items()}
    devices = asked["tp"] * asked["cp"] * asked["pp"] * asked["dp"]
    by = asked["predictor"] or "roofline"
    more = {"n": devices, "own": "", "by": by, "tokens": 1e12}
    built = {"domain": asked["nvlink_domain"] or 0, "net": asked["network_gbit"] or 0}
    facts = ",".join(f"{name}={value:g}" for name, value in asked["facts"].items())
    said = {"stack": asked["stack"] or "", "date": asked["date"] or "", "facts": facts}
    return found | more | built | said | {"sp": int(asked["sequence_parallel"])}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Asked, Any]]:
    """Give random questions, legal or not, with what the page says."""
    draw = random.Random(SEED)
    questions = [drawn(draw) for _ in range(4 * NUM_QUESTIONS)]
    answers = page_answers([state(asked) for asked in questions], tmp_path_factory.mktemp("page"))
    return list(zip(questions, answers, strict=True))


def test_the_page_answers_as_all_others_do(told: list[tuple[Asked, Any]]) -> None:
    compared = 0
    for asked, page in told:
        if "refused" in page:
            continue
        name = asked["predictor"] or next(iter(page["models"]))
        if name not in page["models"]:
            # The page shows the other model where the one asked for says nothing.
            with pytest.raises(ConfigError):
                predict(**asked)
            continue
        compared += 1
        found = predict(**asked | {"predictor": name})
        parts = {part: bits(value) for part, value in found.breakdown_s.items()}
        assert page["models"][name] == parts, asked
        assert page["totals"][name] == bits(found.step_time_s), asked
        assert page["scalars"]["total"] == bits(found.total_bytes), asked
        ends = (found.step_time_low_s, found.step_time_high_s)
        assert page["bands"][name] == (None if None in ends else [bits(end) for end in ends])
        assert page["software"] == found.software.stack.name, asked
        assert page["verdict"] == VERDICTS[found.verdict], asked
        chance = found.memory.fit_probability
        assert page["outlook"] == found.memory.outlook, asked
        assert page["chance"] == (None if chance is None else bits(chance)), asked
    # Each of them is among the questions that test_one_door.py asks everybody else.
    assert NUM_QUESTIONS / 2 < compared <= NUM_QUESTIONS


def test_the_page_refuses_what_all_others_refuse(told: list[tuple[Asked, Any]]) -> None:
    refused = 0
    for asked, page in told:
        said = None
        try:
            predict(**asked | {"predictor": None})
        except ConfigError as error:
            said = str(error)
        on_page = page["refused"]["text"] if "refused" in page else None
        if said is None or on_page is None:
            # Products in 8 bits that nobody measured: the page says so in words of its own.
            assert (said is None) == (on_page is None), (asked, said, on_page)
            continue
        refused += 1
        assert on_page == said or "no model tells the time" in on_page, asked
    assert refused > NUM_QUESTIONS / 2


def test_an_address_names_software_and_what_is_in_no_table_is_told(tmp_path: Path) -> None:
    write_modules(tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    query = "?l.tp=4&l.net=200&l.stack=megatron&l.date=2021-13&l.facts=dropout"
    code = (
        'import { data } from "./explorer/data.js";\n'
        'import { fromQuery } from "./explorer/state.js";\n'
        'import * as formulas from "./explorer/formulas.js";\n'
        'import { makeNamed } from "./explorer/named.js";\n'
        'import { tables } from "./explorer/tables-of-software.js";\n'
        "const named = makeNamed(tables, data, formulas);\n"
        "const unread = (found) => named.unread({stack: '', date: '', facts: '', ...found});\n"
        f"const found = fromQuery({json.dumps(query)}, data);\n"
        f"const more = {json.dumps(OTHERS)}.map(unread);\n"
        "console.log(JSON.stringify({ ...found, more }));"
    )
    (tmp_path / "run.js").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [node_path(), "run.js"],
        cwd=tmp_path,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    assert found["bad"] == ["date=2021-13", "facts=dropout"]
    read = [found["state"][key] for key in ("tp", "net", "stack", "date")]
    assert read == [4, 200, "megatron", ""]
    assert found["more"] == [[], [], ["stack"], ["date"], ["facts"], ["facts"], ["facts"]]


def test_the_page_is_asked_as_python_is(told: list[tuple[Asked, Any]]) -> None:
    for asked, page in told[:500]:
        if "refused" not in page:
            again = predict(**asked_of(state(asked)))
            assert again.step == predict(**asked | {"predictor": None}).step
