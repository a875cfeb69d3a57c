"""The reader of traces: the events whatever the pieces, and one line for whatever is none."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.inputs.errors import ConfigError
from steptime.readers.trace import bytes as trace_bytes
from steptime.readers.trace.events import Trace, is_trace
from steptime.readers.trace.rank import read_rank, read_ranks

# Names and arguments that look like the place between two events.
EVENTS = st.lists(
    st.dictionaries(
        st.sampled_from(["name", "},{", "]", "args"]),
        st.recursive(
            st.sampled_from(["},{", '"}, {"', "]}", "\\", "a", 1, 2.5]),
            lambda inner: st.lists(st.dictionaries(st.just("x"), inner, max_size=2), max_size=3),
            max_leaves=4,
        ),
        max_size=3,
    ),
    min_size=1,
    max_size=30,
)


def read(path: Path) -> list[Any]:
    return [event for batch in Trace(str(path)).batches() for event in batch]


# invariant


@settings(deadline=None, max_examples=60)
@given(events=EVENTS, size=st.integers(2, 200), indent=st.sampled_from([None, 2]))
def test_events_are_those_of_the_file_whatever_the_pieces(
    events: list[Any], size: int, indent: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("t") / "trace.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_bytes, "PIECE_BYTES", size)
        for whole in (events, {"schemaVersion": 1, "traceEvents": events, "traceName": "a]b"}):
            text = json.dumps(whole, indent=indent)
            path.write_text(text)
            assert read(path) == events
            path.write_bytes(gzip.compress(text.encode()))
            assert read(path) == events
            assert is_trace(path)


def test_what_stands_about_the_events_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('{"a": {"rank": 3}, "traceEvents": [{"x": 1}], "z": 2}')
    trace = Trace(str(path))
    assert [len(batch) for batch in trace.batches()] == [1]
    assert trace.header == {"a": {"rank": 3}, "z": 2}


def test_the_profilers_own_log_may_follow_the_events(tmp_path: Path) -> None:
    """hta2026, tests/data: its lines hold a bracket each, more than a few of them."""
    lines = [f"INFO:2024-07-15 10:52:40 1:1 CuptiActivityProfiler.cpp:{n}] done" for n in range(99)]
    told = {"traceEvents": [{"ph": "X", "name": "a]"}], "INFO": lines, "traceName": "t.json"}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(told, indent=2))
    assert read(path) == told["traceEvents"]
    path.write_text(json.dumps(told)[:-40])
    with pytest.raises(ConfigError, match="cut short"):
        read(path)


def test_a_large_file_packed_small_is_read_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    one = b'{"ph":"i","name":"' + b"x" * 4000 + b'"}'
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"traceEvents":[')
        for _ in range(20):
            file.write((one + b",") * 500)
        file.write(one + b"]}")
    most = max(len(piece) for piece in trace_bytes.pieces(path))
    assert most <= trace_bytes.PIECE_BYTES
    assert len(read(path)) == 10_001


# refusal


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("  \n ", "is empty"),
        ('{"a": 1}', "no traceEvents"),
        ("null", "no traceEvents"),
        ('{"traceEvents": [{"ph": "X"}, {"ph"', "cut short"),
        ('{"traceEvents": [{"ph": "X"}', "cut short"),
        ('{"traceEvents": [{"ph": "X"}], "a', "cut short"),
        ('{"a": , "traceEvents": []}', "is no JSON"),
        ('{"traceEvents": []}', "0 events, none of them"),
        ("[]", "0 events, none of them"),
        ("[1, null, [2]]", "none of them"),
        ('{"traceEvents": ' + "[" * 100_000, "cut short"),
    ],
)
def test_what_is_no_trace_is_refused(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=says):
        _ = (is_trace(path) and read_rank(path)) or read_rank(path)


@pytest.mark.parametrize(
    ("start", "length"),
    [("NaN", "1"), ("1", "-1"), ('"1"', "1"), ("Infinity", "1"), ("null", "2"), ("1e999", "1")],
)
def test_times_that_are_none_are_refused(start: str, length: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = f'{{"ph": "X", "cat": "kernel", "name": "gemm", "ts": {start}, "dur": {length}}}'
    path.write_text(f'{{"traceEvents": [{event}]}}')
    with pytest.raises(ConfigError, match="no time and length"):
        read_rank(path)


def test_a_packed_file_cut_short_or_spoilt_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    whole = gzip.compress(os.urandom(5000).hex().encode())
    path.write_bytes(whole[:-200])
    with pytest.raises(ConfigError, match="cut short"):
        list(trace_bytes.pieces(path))
    path.write_bytes(whole[:300] + b"\0" * 300 + whole[600:])
    with pytest.raises(ConfigError, match="cannot be unpacked"):
        list(trace_bytes.pieces(path))


def test_a_pipe_and_a_device_are_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(ConfigError, match="not a regular file"):
            is_trace(path)
    with pytest.raises(ConfigError, match="No such file"):
        is_trace(tmp_path / "none")


def test_a_file_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents": ["' + b"a},{" * 500_000))
    monkeypatch.setattr("steptime.readers.trace.events.LARGEST_EVENT_BYTES", 10**6)
    monkeypatch.setattr(trace_bytes, "PIECE_BYTES", 10**5)
    with pytest.raises(ConfigError, match="no event ends"):
        read(path)
    monkeypatch.setattr(trace_bytes, "MOST_BYTES", 10**6)
    with pytest.raises(ConfigError, match="trace fewer steps"):
        list(trace_bytes.pieces(path))


def test_the_same_rank_twice_is_refused(tmp_path: Path) -> None:
    event = '{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 1}'
    for name in "ab":
        text = f'{{"distributedInfo": {{"rank": 1}}, "traceEvents": [{event}]}}'
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match="both of rank 1"):
        read_ranks([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(ConfigError, match="both of rank 1"):
        read_ranks([tmp_path / "a", tmp_path / "a"])


@pytest.mark.parametrize("name", ["plain.json", "packed.json.gz"])
def test_how_far_a_file_is_read_is_told_to_its_last_byte(tmp_path: Path, name: str) -> None:
    text = json.dumps({"traceEvents": [{"ph": "X", "name": "a" * 50}] * 200_000}).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    seen: list[int] = []
    events = sum(len(batch) for batch in Trace(str(path), seen=seen.append).batches())
    assert events == 200_000
    assert sum(seen) == path.stat().st_size
    assert name.endswith("gz") or len(seen) > 2
