"""A build of the site that is cut short: it is said in a line, and the next one starts anew.

Whole builds on a full disk and killed ones are in bench/faults.py.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steptime.book.site import __main__ as site

Sphinx = Callable[..., int]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that the build takes for the project, with nothing to make beforehand."""
    places = {"ROOT": "", "SITE": "build/site", "WEB": "build/web", "DOCTREES": "build/doctrees"}
    for name, place in places.items():
        monkeypatch.setattr(site, name, tmp_path / place)
    monkeypatch.setattr(site, "KEPT_INFO", tmp_path / "build/doctrees/html")
    monkeypatch.setattr(site, "all_notebooks", list)
    monkeypatch.setattr(site, "generate", lambda: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def built_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sphinx], int]:
    """Return what builds the site with a stand-in for Sphinx, and returns its exit status."""

    def build(sphinx: Sphinx) -> int:
        stand_in = SimpleNamespace(build_sphinx=sphinx)
        monkeypatch.setitem(sys.modules, "jupyter_book.sphinx", stand_in)  # type: ignore[arg-type]
        return site.main([])

    return build


def left(tree: Path) -> list[str]:
    """Return what a build has left, marks included."""
    found = (path for path in (tree / "build").rglob("*") if path.is_file())
    return sorted(path.relative_to(tree / "build").as_posix() for path in found)


def writing(name: str, fault: BaseException | None = None, status: int = 0) -> Sphinx:
    """Return a Sphinx that writes a page and what it knows of it, then fails or ends."""

    def sphinx(_: Path, out: Path, **settings: Any) -> int:
        for folder in (out, settings["doctreedir"]):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("x", encoding="utf-8")
        if fault is not None:
            raise fault
        return status

    return sphinx


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "build/site/two.html")


@pytest.mark.parametrize("fault", [FULL, KeyboardInterrupt()], ids=["full disk", "Ctrl-C"])
def test_what_is_cut_short_is_built_from_nothing_the_next_time(
    fault: BaseException,
    tree: Path,
    built_by: Callable[[Sphinx], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert built_by(writing("index.html")) == 0
    if isinstance(fault, OSError):
        assert built_by(writing("half.html", fault)) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("the site is not whole, run this again: ")
        assert "No space left on device: 'build/site/two.html'" in line
    else:
        with pytest.raises(KeyboardInterrupt):
            built_by(writing("half.html", fault))
    assert "site/half.html" in left(tree)
    assert built_by(writing("index.html")) == 0
    assert left(tree) == ["doctrees/html/index.html", "site/index.html"]


def test_a_whole_site_is_kept_for_the_next_build(
    tree: Path, built_by: Callable[[Sphinx], int]
) -> None:
    assert built_by(writing("one.html")) == 0
    assert built_by(writing("index.html")) == 0
    assert left(tree) == [
        *("doctrees/html/index.html", "doctrees/html/one.html"),
        *("site/index.html", "site/one.html"),
    ]


def test_pages_that_warned_are_read_again(tree: Path, built_by: Callable[[Sphinx], int]) -> None:
    assert built_by(writing("index.html", status=1)) == 1
    assert left(tree) == ["site/index.html"]
