"""The licences of the packages that the lock installs."""

from __future__ import annotations

import re

from steptime.book.licences import ELSEWHERE, PAGE, licence, listed, packages, page
from steptime.book.results.notebooks import ROOT


def test_every_package_of_the_lock_is_listed_with_what_it_says_itself() -> None:
    rows = listed()
    assert list(rows)[2:] == packages(), "make lock"
    assert len(rows) > 100
    for name in packages():
        assert licence(name) in (rows[name], ELSEWHERE), name
    # What a Python has that others lack stays listed: aiohttp is of 3.12 alone.
    assert rows["aiohttp"].startswith("Apache-2.0")
    assert page() == PAGE.read_text(encoding="utf-8")


def test_the_installer_is_the_one_of_the_lock() -> None:
    whole, own = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("requirements.lock", "requirements-uv.lock")
    )
    version = r"^uv==\S+"
    assert re.findall(version, own, re.MULTILINE) == re.findall(version, whole, re.MULTILINE)
    hashes = re.findall(r"--hash=(sha256:[0-9a-f]{64})", own)
    assert len(hashes) > 10
    assert all(one in whole for one in hashes)


def test_actions_are_named_by_commit() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
        assert used
        assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []


def test_no_lock_names_a_host() -> None:
    for path in ROOT.glob("requirements*.lock"):
        assert "://" not in path.read_text(encoding="utf-8")
