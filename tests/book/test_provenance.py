"""Every number on a page says what made it, and the command that it names makes it again."""

from __future__ import annotations

import contextlib
import io

from steptime.book.results.notebooks import all_notebooks
from steptime.book.site.provenance import example_origin, notebook_origin
from steptime.book.site.values import all_values, values_with_origins
from steptime.book.study.examples import MAKERS, example_values, pipeline_values


def test_every_value_has_an_origin_and_none_is_lost() -> None:
    found = values_with_origins()
    assert {name: value for name, (value, _) in found.items()} == all_values()
    assert set(example_values()) <= set(found)
    assert all(origin.command and origin.made_by for _, origin in found.values())


def test_the_command_of_an_example_prints_it() -> None:
    origin = example_origin(pipeline_values)
    code = origin.command.removeprefix('python -c "').removesuffix('"')
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    assert f"'ex_pipe_single': '{pipeline_values()['ex_pipe_single']}'" in out.getvalue()


def test_no_two_makers_give_the_same_name() -> None:
    names = [name for maker in MAKERS for name in maker()]
    assert len(names) == len(set(names))


def test_a_notebook_tells_its_parameters_its_sources_and_its_section() -> None:
    bubble = next(one for one in all_notebooks() if one.name == "12_bubble")
    told = notebook_origin(bubble).lines()
    assert told[0] == "From notebook 12_bubble"
    assert "num_stages = [" in told[1]
    assert told[-1].endswith("--only 12")
