"""`validate`, `validate-memory` and the fit judge a row alike: one answer to what is measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from steptime.cli.validation_words import names, told_once

Call = Callable[..., tuple[int, str, str]]
HEAD = (
    "id,model,gpu,gpus,tp,pp,mbs,gbs,seq_len,recompute,precision,zero,software,facts,"
    "step_time_s,mem_gb\n"
)
CELLS = "llama3-8b,h100,16,2,1,1,128,8192,full,bf16,1"
# 8.03e9 parameters, a half on each of 2 tensor ranks, shared over 8: 0.502e9 each. Software that
# nobody names keeps 6 bytes at least, Megatron-Core 18.
HELD_GB, HELD_BY_MEGATRON_GB = 3.01, 9.03


def row(name: str, step: object, peak: object, software: str = "", facts: str = "") -> str:
    return f"{name},{CELLS},{software},{facts},{step},{peak}\n"


@pytest.fixture
def asked(steptime: Call, tmp_path: Path) -> Callable[..., tuple[dict[str, str], ...]]:
    """Return id and reason of rows that each command keeps out, and the ids that it counts."""

    def ask(*rows: str) -> tuple[dict[str, str], ...]:
        path = tmp_path / "mine.csv"
        path.write_text(HEAD + "".join(rows))
        found = []
        for command in ("validate", "validate-memory"):
            status, out, err = steptime(command, str(path), "--json")
            assert status == 0, err
            told = json.loads(out)
            found.append({one["id"]: one["reason"] for one in told["kept_out"]})
            summary = told["summary"]
            kept = [one for one in told["rows"] if one["id"] not in found[-1]]
            assert summary["rows"] == len(kept)
        return tuple(found)

    return ask


# ---- invariant


@pytest.mark.parametrize(
    ("step", "peak", "words"),
    [
        (13, 400, "mem_gb 400.0 GB is more than a device has (h100: 85.5 GB); check mem_gb"),
        (13, 40000, "likely a wrong unit, 40000 MiB would be 41.9 GB; check mem_gb"),
        (13, 4e10, "likely a wrong unit, 4e+10 bytes would be 40.0 GB; check mem_gb"),
        (13, 0.04, "likely a wrong unit, 0.04 TB would be 40.0 GB; check mem_gb"),
        (13, 0.5, "likely a wrong unit, 0.5 shares of the device's memory would be 42.8 GB"),
        (13, 2.9, f"mem_gb 2.9 GB is less than the {HELD_GB} GB of weights, gradients and"),
        (13, 3.2, "mem_gb 3.2 GB is 14 times less than the 43.6 GB that are counted; check"),
        (1.3, 40, "over the device's peak of 989: check units, gpus, gbs and seq_len"),
        (1300, 40, "127 times apart: check units, gpus, gbs and seq_len"),
    ],
)
def test_both_commands_name_what_nobody_measured(
    asked: Callable[..., tuple[dict[str, str], ...]], step: float, peak: float, words: str
) -> None:
    times, peaks = asked(row("good", 13, 40), row("bad", step, peak))
    assert times == peaks
    assert set(times) == {"bad"}
    assert words in times["bad"]


def test_what_one_may_have_measured_counts_in_both(
    asked: Callable[..., tuple[dict[str, str], ...]],
) -> None:
    # The least that is no tenth of what is counted, all of a device, states on the host.
    rows = [row("low", 13, 4.5), row("full", 13, 85), row("slow", 40, 40)]
    assert asked(*rows) == ({}, {})


@pytest.mark.parametrize(
    ("software", "facts", "peak", "kept"),
    [
        ("", "", 8.9, True),
        ("megatron-core", "", 9.2, True),
        ("megatron-core", "", 8.9, False),
        ("megatron-core", "offloaded_states=1", 8.9, True),
    ],
)
def test_named_software_holds_its_own_bytes_a_parameter(
    asked: Callable[..., tuple[dict[str, str], ...]],
    software: str,
    facts: str,
    peak: float,
    kept: bool,
) -> None:
    times, peaks = asked(row("good", 13, 40), row("odd", 13, peak, software, facts))
    assert times == peaks
    assert (times == {}) == kept
    if not kept:
        assert f"less than the {HELD_BY_MEGATRON_GB} GB of weights" in times["odd"]
        assert "or say in column facts what is kept (offloaded_states=1)" in times["odd"]


def test_a_peak_that_cannot_be_is_not_fitted_to(steptime: Call, tmp_path: Path) -> None:
    path, fit = tmp_path / "mine.csv", tmp_path / "fit.toml"
    found = []
    for rows in ([row("good", 14, 40)], [row("good", 14, 40), row("bad", 20, 400)]):
        path.write_text(HEAD + "".join(rows))
        status, out, err = steptime("validate", str(path), "--fit", str(fit), "--json")
        assert status == 0, err
        told = json.loads(out)
        found.append((told["fit"], told["summary"], fit.read_text()))
    assert found[0] == found[1]


def test_a_row_without_a_time_has_its_peak_judged(
    asked: Callable[..., tuple[dict[str, str], ...]],
) -> None:
    times, peaks = asked(row("good", 13, 40), row("alone", "", 40), row("bad", "", 400))
    assert times == {}
    assert set(peaks) == {"bad"}


# ---- words


def test_each_sentence_is_printed_once_with_its_rows(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    bad = [row(f"b{n:02d}", 13, 400 + n) for n in range(14)]
    path.write_text(HEAD + row("good", 13, 40) + "".join(bad))
    for command in ("validate", "validate-memory"):
        status, out, _ = steptime(command, str(path))
        text = " ".join(out.split())
        assert status == 0
        assert text.count("is more than a device has") == 1
        assert "b00 is no measurement, no mean or fit counts it: mem_gb 400.0 GB" in text
        named = ", ".join(f"b{n:02d}" for n in range(1, 11))
        assert f"likewise {named} and 3 more" in text


def test_sentences_that_differ_in_their_numbers_are_alike() -> None:
    found = [
        ("a", "3.5 s, off"),
        ("b2", "b2: 7 s, slow"),
        ("c", "12 s, off"),
        ("d", "d: 8 s, slow"),
    ]
    assert told_once(found) == [
        ("a", "3.5 s, off; likewise c"),
        ("b2", "b2: 7 s, slow; likewise d"),
    ]
    assert told_once([]) == []
    assert names(["a", "b"]) == "a, b"
    assert names([str(n) for n in range(11)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more"


# ---- refusal


def test_a_file_of_which_no_peak_was_measured_is_refused(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(HEAD + row("bad", 13, 400))
    status, _, err = steptime("validate-memory", str(path))
    assert status == 2
    assert "no row could be compared: bad: mem_gb 400.0 GB is more than a device has" in " ".join(
        err.split()
    )
