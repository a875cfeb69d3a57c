"""Licences of all that the lock installs: ``python -m steptime.book.licences`` writes them.

From the metadata that each package brings. The lock holds what other systems and Pythons need
too: of those the page keeps what it said, and names as such those that no system has told it of.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from steptime.book.results.notebooks import ROOT
from steptime.inputs.datafiles import write_whole

LOCK = ROOT / "requirements.lock"
PAGE = ROOT / "licences.md"
ELSEWHERE = "not installed on this system"
HEAD = """# Licences of the packages in requirements.lock

Made by `make lock` from what the packages say of themselves. steptime ships none of them.

| package | licence |
| --- | --- |
"""
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)
_CLASSIFIER = "License :: "
# What each text grants its reader, in its own words.
_TEXTS = {
    "Permission is hereby granted, free of charge": "MIT, by its text",
    "Redistribution and use in source and binary forms": "BSD, by its text",
}


def packages() -> list[str]:
    """Return the names in the lock, in its order."""
    return _PINNED.findall(LOCK.read_text(encoding="utf-8"))


def licence(package: str) -> str:
    """Return a package's licence: its expression, else its classifiers, words or licence file.

    Args:
        package: Its name.
    """
    try:
        said = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return ELSEWHERE
    if "License-Expression" in said:
        return said["License-Expression"]
    classifiers = [
        text.rpartition(" :: ")[2]
        for text in said.get_all("Classifier") or ()
        if text.startswith(_CLASSIFIER) and text != "License :: OSI Approved"
    ]
    if classifiers:
        return ", ".join(sorted(set(classifiers)))
    words = said["License"].strip().splitlines() if "License" in said else []
    return words[0][:80] if words else _by_text(package)


def _by_text(package: str) -> str:
    """Return which licence the text that a package brings is, or nothing."""
    for file in metadata.files(package) or ():
        if file.name.upper().startswith(("LICEN", "COPYING")):
            text = " ".join(file.read_text(encoding="utf-8").split())
            return next((name for words, name in _TEXTS.items() if words in text), "")
    return ""


def listed() -> dict[str, str]:
    """Return the licence of each package as the page has it now."""
    told = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    return dict(re.findall(r"^\| (\S+) \| (.+) \|$", told, re.MULTILINE))


def page() -> str:
    """Return the table of all packages.

    Raises:
        ValueError: If one says nothing of its licence.
    """
    before = listed()
    rows = {name: licence(name) for name in packages()}
    rows = {
        name: before.get(name, said) if said == ELSEWHERE else said for name, said in rows.items()
    }
    silent = [name for name, said in rows.items() if not said]
    if silent:
        raise ValueError(f"no licence is stated by {', '.join(silent)}")
    return HEAD + "".join(f"| {name} | {said} |\n" for name, said in rows.items())


def main() -> int:
    """Write the page and return the exit status."""
    write_whole(Path(PAGE), page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
