"""Build the website: ``python -m steptime.book.site``."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steptime.book.results.notebooks import OUTPUT, ROOT, all_notebooks
from steptime.book.site.widget import WRITERS
from steptime.inputs.datafiles import write_whole

SITE = ROOT / "build" / "site"
PAGES = ROOT / "build" / "pages"
WEB = ROOT / "build" / "web"
DOCTREES = ROOT / "build" / "doctrees"
KEPT_INFO = DOCTREES / "html"
BUILD_INFO = ".buildinfo"
BASE = "STEPTIME_BASE_URL"
"""Variable with the address where the site is published, a slash at its end."""

# Named, not imported: the site is made from rooms above this one, but needs none of them.
COMMANDS = "steptime.cli.main:every_command"
WEB_STEPS = (
    "steptime.book.explorer_page:write_explorer",
    "steptime.book.search_page:write_search",
    "steptime.book.schedule_page:write_schedule",
    "steptime.book.accuracy_page:write_accuracy",
    "steptime.book.placement_page:write_placement",
    "steptime.book.home_page:write_home",
    "steptime.book.memory_page:write_memory",
    "steptime.book.split_page:write_split",
    "steptime.book.frames_page:write_frames",
    "steptime.book.cube_page:write_cube",
    "steptime.book.site.your_run_page:write_drawing",
    "steptime.book.site.card:write_card",
)
"""Each is called with the folder that becomes part of the site's root"""


def write_if_changed(path: Path, text: str) -> None:
    """Write a file only if its text is new, so that unchanged pages are not read again.

    Args:
        path: The file.
        text: What it should hold.
    """
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def _named(place: str) -> Any:
    """Return what ``module:name`` stands for."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def generate() -> None:
    """Write what the pages need and Python makes: references, scripts, stand-ins."""
    from typer.main import get_command

    from steptime.book.site import (
        command_pages,
        day_page,
        formula_pages,
        limits_page,
        python_pages,
        your_run_page,
    )

    package = ROOT / "src" / "steptime"
    found = python_pages.pages(package, ROOT / "data" / "references.bib")
    found["command-line.md"] = command_pages.page(get_command(_named(COMMANDS)()))
    found["limits.md"] = limits_page.page()
    found["your-run.md"] = your_run_page.page()
    found.update(formula_pages.pages())
    found["days.md"] = day_page.page()
    for name, text in found.items():
        write_if_changed(PAGES / name, text)
    for stale in set(PAGES.glob("*.md")) - {PAGES / name for name in found}:
        stale.unlink()
    # Emptied first: what a step no longer writes must not stay in the site.
    shutil.rmtree(WEB, ignore_errors=True)
    WEB.mkdir(parents=True)
    write_if_changed(ROOT / WRITERS, json.dumps(written_by(WEB_STEPS)))


def written_by(steps: Sequence[str]) -> dict[str, str]:
    """Take the steps and return which of them wrote each figure, by the figure's name.

    Args:
        steps: Of `WEB_STEPS`.
    """
    found: dict[str, str] = {}
    for step in steps:
        if importlib.util.find_spec(step.partition(":")[0]) is not None:
            _named(step)(WEB)
            for stand_in in sorted(WEB.glob("*.html")):
                found.setdefault(stand_in.stem, step)
    return found


def build(builder: str, outdir: Path, fresh: bool = False) -> int:
    """Run Sphinx over the pages and return its status; a warning is a failure.

    Args:
        builder: Sphinx's name for what to make.
        outdir: Where it goes.
        fresh: Whether to forget what the last build knew.
    """
    from jupyter_book.sphinx import build_sphinx

    os.chdir(ROOT)
    # A build that was killed, or ran out of disk, leaves pages that are newer than their
    # sources and yet not whole: Sphinx would take them for done.
    unfinished = DOCTREES / f"{builder}.unfinished"
    if unfinished.exists():
        shutil.rmtree(DOCTREES / builder, ignore_errors=True)
        shutil.rmtree(outdir, ignore_errors=True)
    DOCTREES.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    outcome = build_sphinx(
        ROOT,
        outdir,
        path_config=ROOT / "_config.yml",
        confoverrides={
            "latex_individualpages": False,
            "external_toc_path": (ROOT / "_toc.yml").as_posix(),
            "nitpicky": True,
            # Links for search engines and pictures for chats want the whole address.
            "html_baseurl": os.environ.get(BASE, ""),
        },
        noconfig=True,
        doctreedir=DOCTREES / builder,
        builder=builder,
        freshenv=fresh,
        quiet=True,
        warningiserror=True,
        keep_going=True,
        jobs=1,
    )
    status = outcome if isinstance(outcome, int) else 1
    if status:
        # Sphinx keeps pages that warned as done, and would not warn of them again.
        shutil.rmtree(DOCTREES / builder, ignore_errors=True)
    unfinished.unlink()
    return status


def _keep_build_info(here: Path, there: Path) -> None:
    """Move Sphinx's note of its settings: the next build needs it, the site does not.

    It holds a digest of paths and versions, the one file that would differ between machines.
    """
    if (here / BUILD_INFO).is_file():
        there.mkdir(parents=True, exist_ok=True)
        (here / BUILD_INFO).replace(there / BUILD_INFO)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: The command line, without its first word.
    """
    parser = argparse.ArgumentParser(prog="python -m steptime.book.site", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="build every page anew")
    parser.add_argument("--linkcheck", action="store_true", help="try each outside link instead")
    options = parser.parse_args(arguments)
    missing = [n.name for n in all_notebooks() if not (OUTPUT / f"{n.name}.ipynb").is_file()]
    if missing:
        print(f"not run yet: {', '.join(missing)}; run `make results` first", file=sys.stderr)
        return 1
    try:
        return _made(options)
    except OSError as problem:
        print(f"the site is not whole, run this again: {problem}", file=sys.stderr)
        return 1


def _made(options: argparse.Namespace) -> int:
    """Make what the options ask for and return the exit status."""
    began = time.perf_counter()
    generate()
    if options.linkcheck:
        return build("linkcheck", ROOT / "build" / "links")
    _keep_build_info(KEPT_INFO, SITE)
    status = build("html", SITE, fresh=options.fresh)
    _keep_build_info(SITE, KEPT_INFO)
    for stand_in in WEB.glob("*.html"):
        # A fragment that pages hold: no page of its own.
        (SITE / stand_in.name).unlink(missing_ok=True)
    where = (SITE / "index.html").relative_to(ROOT)
    if status == 0:
        print(f"{where} built without a warning in {time.perf_counter() - began:.1f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
