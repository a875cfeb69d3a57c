"""The list of what changed in results.md, by hand on two small ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.book.results import changes as of
from steptime.inputs.errors import ConfigError

BEFORE = """# Results

## §17 The roofline

**Reading.** Runs are missed by 5.3 % on average
(median 4.2 %), of Doe et al. 2021. More.

*Each run.*

| run | GPUs | error |
| --- | ---: | ---: |
| GPT | 8 | 5.0 % |
| GPT | 16 | 6.0 % |
| Llama | 8 | 7.0 % |

## §19 Placement

| a | b |
| --- | --- |
| x | 1 |

## Sources

- one 1
"""
AFTER = (
    BEFORE.replace("5.3", "9.0")
    .replace("| 7.0 %", "| 7.5 %")
    .replace("| Llama", "| OPT | 8 | 1 %\n| Llama")
)


def test_numbers_are_counted_by_table_row_and_column() -> None:
    old, new = of.sections(BEFORE), of.sections(AFTER)
    assert list(old) == ["§17", "§19"]
    one = of.change(old["§17"], new["§17"])
    assert (one.shared, one.changed, one.new, one.gone) == (6, 1, 2, 0)
    back = of.change(new["§17"], old["§17"])
    assert (back.shared, back.changed, back.new, back.gone) == (6, 1, 0, 2)
    assert of.change(old["§19"], new["§19"]).changed == 0


def test_a_sentence_has_the_earlier_number_beside_the_later() -> None:
    one = of.change(of.sections(BEFORE)["§17"], of.sections(AFTER)["§17"])
    sentence = "Runs are missed by 9.0 (was 5.3) % on average (median 4.2 %), of Doe et al. 2021"
    assert one.says == sentence
    assert of.told("Of 3 runs", "Of all 3 runs") == "Of all 3 runs"
    assert of.told("Of 3 runs", "Of 3 runs") == ""


def test_the_list_says_why_and_what_is_as_it_was() -> None:
    first, last = of.changes(BEFORE, AFTER).splitlines()
    assert first.startswith("- **§17 The roofline**: 1 of 6 numbers differ, 2 are new. Runs are")
    assert "More runs are compared" in first
    assert last == "- As they were: §19."


def test_a_change_without_a_cause_is_refused() -> None:
    with pytest.raises(ConfigError, match="§19 changed; give a cause"):
        of.changes(BEFORE, BEFORE.replace("| x | 1", "| x | 2"))


def test_it_is_written_between_its_marks(tmp_path: Path) -> None:
    old, new, log = (tmp_path / name for name in ("old.md", "new.md", "log.md"))
    old.write_text(BEFORE)
    new.write_text(AFTER)
    log.write_text(f"head\n{of.START}\nstale\n{of.END}\ntail\n")
    for _ in range(2):
        of.main([str(old), str(new), "--write", str(log)])
        text = log.read_text()
        assert text == f"head\n{of.START}\n{of.changes(BEFORE, AFTER)}\n{of.END}\ntail\n"
