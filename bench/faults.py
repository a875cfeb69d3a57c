"""What breaks while the site is built: no disk left, or killed. The next build must be whole.

In a copy of the tree, beside the same build with nothing wrong. Runs of the notebooks that are
cut short are in tests/book/test_runner_faults.py.
"""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reproduce import ROOT, copied

SITE = "steptime.book.site"
# Half of what a build writes: some pages are done when it is full, and most are not.
DISK = "24m"
# In a name space of its own, a build folder that is a small disk. What the build leaves there is
# taken out of it, and the next build goes on from that.
SMALL_DISK = f"""
mkdir -p build kept && cp -a build/. kept && mount -t tmpfs -o size={DISK} none build || exit 99
cp -a kept/. build && rm -rf kept
"$0" -m {SITE}; status=$?
cp -a build left; exit $status
"""
# Where no disk can be mounted: under the largest files of the site, over the smallest.
FILE_BYTES = 60_000


def digests(folder: Path) -> dict[str, str]:
    """Return what each file of a site holds."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def start(tree: Path, *before: str, largest_bytes: int | None = None) -> subprocess.Popen[str]:
    """Start a build by what stands before it; no file of it may be larger than that."""
    limits = (largest_bytes, largest_bytes) if largest_bytes else None
    return subprocess.Popen(
        [*before, sys.executable, *(() if before else ("-m", SITE))],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree / "src")},
        preexec_fn=lambda: limits and resource.setrlimit(resource.RLIMIT_FSIZE, limits),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def forget(tree: Path) -> None:
    """Delete all that a build of the site leaves."""
    for name in ("site", "doctrees", "web", "pages", "jupyter_execute"):
        shutil.rmtree(tree / "build" / name, ignore_errors=True)


def full_disk(tree: Path) -> str:
    """Build on a disk that is too small; return what the build said last and how full it was."""
    space = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK)
    run = start(tree, *space) if shutil.which(space[0]) else None
    told = run.communicate()[0].splitlines() if run else []
    if run is None or not (left := tree / "left").is_dir():
        shutil.rmtree(tree / "kept", ignore_errors=True)
        return f"{large_files(tree)} (files alone: no disk could be mounted)"
    shutil.rmtree(tree / "build")
    left.rename(tree / "build")
    lines = [line.strip() for line in told if "No space left on device" in line]
    if run.returncode == 0 or not lines:
        sys.exit(f"a build on a full disk says that all is well: {told[-2:]}")
    return f"{lines[-1][:100]} ({run.returncode})"


def large_files(tree: Path) -> str:
    """Build until a file is too large; return its last line."""
    run = start(tree, largest_bytes=FILE_BYTES)
    told = run.communicate()[0].strip().splitlines()
    if run.returncode == 0:
        sys.exit("a build whose files are cut says that all is well")
    return told[-1][:100] if told else "nothing said"


def killed(tree: Path) -> str:
    """Kill a build once some of its pages are written."""
    run = start(tree)
    while run.poll() is None and len(list((tree / "build" / "site").rglob("*.html"))) < 6:
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    if run.returncode != -signal.SIGKILL:
        sys.exit("the build ended before it could be killed")
    return f"killed with {len(list((tree / 'build' / 'site').rglob('*.html')))} pages written"


def main() -> int:
    """Print what each fault left, and whether the next build is whole."""
    status, whole = 0, dict[str, str]()
    with tempfile.TemporaryDirectory(prefix="steptime-") as scratch:
        tree = Path(scratch)
        copied(tree)
        shutil.copytree(ROOT / "build" / "notebooks", tree / "build" / "notebooks")
        for fault in (None, full_disk, killed):
            forget(tree)
            told = fault(tree) if fault else "nothing goes wrong"
            run = start(tree)
            said = run.communicate()[0]
            if run.returncode:
                sys.exit(said)
            found = digests(tree / "build" / "site")
            whole = whole or found
            differ = [name for name in {*whole, *found} if whole.get(name) != found.get(name)]
            status |= bool(differ)
            said = f"{len(differ)} files differ: {sorted(differ)[:3]}" if differ else "whole"
            print(f"{fault.__name__ if fault else 'no fault':10} {said:8} {told}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
