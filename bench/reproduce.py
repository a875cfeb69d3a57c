"""The same bytes everywhere: results.md and the site, made twice under other circumstances.

``python bench/reproduce.py [--write] [PYTHON ...]`` copies the tracked files into folders of other
names and makes the book in each, under another time zone, mask, hash seed and locale. The first
copy is made by this Python, the others by those named (this one again if none is): each needs the
packages of requirements.lock. ``--write`` puts what came out into book/built.md. With a folder in
``REPRODUCE_IN``, a run that was stopped is gone on with.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from written import put, table

ROOT = Path(__file__).resolve().parents[1]
CIRCUMSTANCES = (
    {"TZ": "UTC", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "umask": "022"},
    {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "4321", "LC_ALL": "C", "umask": "077"},
    {"TZ": "America/St_Johns", "PYTHONHASHSEED": "99", "LC_ALL": "POSIX", "umask": "002"},
)
# Nothing is there yet in a fresh copy: what a stopped run has left is its own.
STEPS = (("steptime.book.results",), ("steptime.book.site", "--fresh"))
PAGE = ROOT / "book" / "built.md"
SHOWN = 10


def copied(folder: Path) -> None:
    """Copy what git knows of the tree, as it stands."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def made(python: str, folder: Path, circumstances: dict[str, str]) -> dict[str, str]:
    """Make the book and return the digest of every file of it, by name."""
    if not folder.is_dir():
        part = folder.with_name(f"{folder.name}.part")
        copied(part)
        (part / "results.md").unlink(missing_ok=True)
        part.rename(folder)
    changed = {name: value for name, value in circumstances.items() if name != "umask"}
    dropped = {"SOURCE_DATE_EPOCH", "MPLBACKEND", "OMP_NUM_THREADS", "LANG"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    for words in STEPS:
        done = subprocess.run(
            [python, "-m", *words],
            cwd=folder,
            env=kept | changed | {"PYTHONPATH": str(folder / "src")},
            umask=int(circumstances["umask"], 8),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{python} -m {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    site = folder / "build" / "site"
    files = [folder / "results.md", *(path for path in sorted(site.rglob("*")) if path.is_file())]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def version(python: str) -> str:
    """Return the version of a Python."""
    code = "import platform; print(platform.python_version())"
    return subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def unlike_the_lock(python: str) -> list[str]:
    """Return the packages of a Python that are of another version than the lock has."""
    code = (
        "import importlib.metadata as found\n"
        "for one in found.distributions(): print(one.metadata['Name'], one.version)"
    )
    told = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    locked: dict[str, set[str]] = {}
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        name, equals, rest = line.partition("==")
        if equals and not line.startswith((" ", "#")):
            locked.setdefault(name, set()).add(rest.split()[0])
    have = [
        (name.lower().replace("_", "-"), there) for name, there in map(str.split, told.splitlines())
    ]
    return [f"{name} {there}" for name, there in have if there not in locked.get(name, {there})]


def shown(pythons: list[str], found: list[dict[str, str]]) -> str:
    """Return what was varied and what came out, a row a copy."""
    rows = []
    for place, (python, files) in enumerate(zip(pythons, found, strict=True)):
        set_ = CIRCUMSTANCES[place % len(CIRCUMSTANCES)]
        told = f"{len(differing(found[0], files))} differ" if place else "compared with"
        kinds = [name.rpartition(".")[2] for name in files]
        numbers = [len(files), kinds.count("html"), kinds.count("svg"), kinds.count("js")]
        rows.append([version(python), *set_.values(), *numbers, told])
    head = ("Python", "time zone", "hash seed", "locale", "mask")
    return table([*head, "files", "pages", "figures", "scripts", "bytes"], rows)


def differing(first: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the names of files that are not the same in both."""
    return sorted(name for name in {*first, *found} if first.get(name) != found.get(name))


def main(words: list[str]) -> int:
    """Print what differs and return 1 if anything does."""
    pythons = [sys.executable, *([one for one in words if one != "--write"] or [sys.executable])]
    found: list[dict[str, str]] = []
    for python in pythons:
        if other := unlike_the_lock(python):
            sys.exit(f"{python} has {', '.join(other[:SHOWN])}: make it from requirements.lock")
    print(f"{platform.system()}, {platform.machine()}")
    scratch = Path(os.environ.get("REPRODUCE_IN") or tempfile.mkdtemp(prefix="steptime-"))
    for place, python in enumerate(pythons):
        folder = scratch / ("copy" * (place + 1)) / str(place)
        found.append(made(python, folder, CIRCUMSTANCES[place % len(CIRCUMSTANCES)]))
        for name in differing(found[0], found[-1])[:SHOWN]:
            print(f"  {name}")
    status = any(differing(found[0], one) for one in found)
    told = shown(pythons, found)
    print(told)
    if "--write" in words:
        caption = "What was varied, and what of it was equal."
        put(PAGE, "reproduce", f":::{{table}} {caption}\n\n{told}\n:::")
    print("every byte is the same" if not status else f"kept for a look: {scratch}")
    if not status:
        shutil.rmtree(scratch)
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
