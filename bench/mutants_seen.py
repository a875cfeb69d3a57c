"""A plugin of pytest that notes which functions of the package each test calls, and its time.

``python -m pytest -p mutants_seen`` with ``MUTANTS_SEEN`` naming the JSON file to write.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

PACKAGE = os.sep + "steptime" + os.sep
# By file and first line of each function, what called it.
SEEN: dict[str, set[str]] = {}
SECONDS: dict[str, float] = {}
FAILED: set[str] = set()
UNREAD: set[str] = set()
_NAMES: dict[Any, str] = {}


def _name(code: Any) -> str:
    _, found, inside = code.co_filename.rpartition(PACKAGE)
    return f"{inside}:{code.co_firstlineno}" if found else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Watch the calls of one test, fixtures included."""

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            if code not in _NAMES:
                _NAMES[code] = _name(code)
            if _NAMES[code]:
                SEEN.setdefault(_NAMES[code], set()).add(item.nodeid)

    # Of the processor: on a busy machine the clock says little.
    began = time.process_time()
    sys.setprofile(watch)
    threading.setprofile(watch)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        SECONDS[item.nodeid] = round(time.process_time() - began, 3)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what fails with nothing changed: it looks at the tree around the package."""
    if report.failed:
        FAILED.add(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note what cannot be loaded."""
    if report.failed:
        UNREAD.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    calls = {name: sorted(tests - FAILED) for name, tests in SEEN.items()}
    lost = {"failed": sorted(FAILED), "unread": sorted(UNREAD)}
    text = json.dumps({"calls": calls, "seconds": SECONDS, **lost})
    Path(os.environ["MUTANTS_SEEN"]).write_text(text, encoding="utf-8")
