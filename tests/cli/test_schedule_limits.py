"""What `steptime schedule` refuses to read, to write and to hold."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from steptime.cli import schedule_files
from steptime.inputs.errors import ConfigError
from steptime.pipeline import own_order
from steptime.pipeline.own_order import orders_from_text

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trace", "same", "--svg", "same"), "--trace and --svg name the same file, same"),
        (("--trace", "same", "--svg", "./same"), "--trace and --svg name the same file"),
        (("--trace", ""), "--trace is empty; name a file"),
        (("--svg", " "), "--svg is empty; name a file"),
        (("--order", ""), "--order is empty; name a file"),
        (("--stage-scale", ""), "--stage-scale must be a number"),
        (("-p", "1000", "-m", "2501"), "the table, which holds up to 5,000,000; use fewer"),
        (("-p", "1000", "-m", "1001", "--json"), "--json, which holds up to 2,000,000"),
        (("-p", "1000", "-m", "301", "--trace", "x"), "--trace, which holds up to 600,000"),
    ],
)
def test_one_line_and_no_file(
    steptime: Call,
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = steptime("schedule", "1f1b", *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_order_is_not_written_over(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "order.csv"
    path.write_text("0F0,0B0\n")
    status, _, err = steptime("schedule", "--order", str(path), "--svg", str(path))
    assert status == 2
    assert "--order and --svg name the same file" in err
    assert path.read_text() == "0F0,0B0\n"


def test_a_written_order_counts_its_own_actions(
    steptime: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "order.csv"
    path.write_text("0F0,0B0\n")
    assert steptime("schedule", "--order", str(path))[0] == 0
    monkeypatch.setitem(schedule_files.MOST_ACTIONS, "the table", 1)
    status, _, err = steptime("schedule", "--order", str(path))
    assert status == 2
    assert "2 actions are too many for the table, which holds up to 1" in err


def test_a_large_file_is_not_read(
    steptime: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule_files, "LARGEST_ORDER_BYTES", 7)
    path = tmp_path / "order.csv"
    path.write_text("0F0,0B0\n")
    status, _, err = steptime("schedule", "--order", str(path))
    assert status == 2
    assert f"{path}: over 7 bytes, too large for an order" in err
    status, _, err = steptime("schedule", "--order", "/dev/null")
    assert status == 2
    assert "cannot read /dev/null: it is not a regular file" in err


def test_the_first_bad_cell_ends_the_reading() -> None:
    text = "x\n" * 500_000
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="rank 0: cannot read 'x'"):
            orders_from_text(text, is_json=False)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_more_rows_than_ranks_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_order, "MOST_RANKS", 3)
    with pytest.raises(ConfigError, match="number of ranks must be <= 3, got 4"):
        orders_from_text("0F0,0B0\n" * 5, is_json=False)
    with pytest.raises(ConfigError, match="the order is not CSV: "):
        orders_from_text("0" * 200_000, is_json=False)


def test_the_table_is_made_without_what_only_json_holds(
    steptime: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("steptime.cli.schedule.report")
    assert steptime("schedule", "1f1b")[0] == 0
