import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from steptime.book.readme import EXAMPLES, README, changes, example, filled
from steptime.book.site.notebook_figure import figure_markup, standalone_svg

FIGURE = (
    '<figure><div><svg class="x" viewBox="0 0 2 1"><path style="stroke: currentColor; '
    'fill: var(--st-forward, #2A5CAA)"/></svg></div></figure>'
)


@pytest.fixture
def executed(tmp_path: Path) -> Path:
    output = {"output_type": "display_data", "data": {"text/html": [FIGURE]}}
    cells = [{"cell_type": "code", "outputs": [output]}]
    (tmp_path / "17_x.ipynb").write_text(json.dumps({"cells": cells}))
    return tmp_path


# invariant


def test_values_are_put_between_their_marks() -> None:
    text = "off by <!--mean-->9 %<!----> or <!--max-->old\ntext<!---->."
    new = filled(text, {"mean": "5 %", "max": "8 %"})
    assert new == "off by <!--mean-->5 %<!----> or <!--max-->8 %<!---->."
    assert filled(new, {"mean": "5 %", "max": "8 %"}) == new


def test_a_picture_of_its_own_has_no_variables(executed: Path) -> None:
    text = standalone_svg(figure_markup("17_x", 1, executed))
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "var(" not in text
    assert "currentColor" not in text
    assert "#2A5CAA" in text


def test_an_example_is_what_the_command_prints() -> None:
    text = example(("place --tp 8 --pp 2", "--domain 8 --json"))
    command, _, printed = text.partition("\n[")
    assert command == "\n\n```console\n$ steptime place --tp 8 --pp 2 \\\n    --domain 8 --json"
    (placement,) = json.loads("[" + printed.removesuffix("\n```\n\n"))
    assert placement["num_domains"] == 2


def test_the_readme_shows_every_example() -> None:
    text = README.read_text(encoding="utf-8")
    assert all(f"<!--{name}-->" in text for name in EXAMPLES)


def test_checking_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    assert changes(path, "new", check=True)
    assert path.read_text() == "old"
    assert changes(path, "new", check=False)
    assert path.read_text() == "new"
    assert not changes(path, "new", check=True)


# refusal


def test_an_unknown_value_is_refused() -> None:
    with pytest.raises(KeyError, match="mean"):
        filled("<!--mean-->1<!---->", {})


@pytest.mark.parametrize(("name", "number"), [("17_x", 2), ("17_x", 0), ("none", 1)])
def test_a_figure_that_is_not_there_is_refused(executed: Path, name: str, number: int) -> None:
    with pytest.raises(LookupError):
        figure_markup(name, number, executed)
