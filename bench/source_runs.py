"""Keep the wording of another text out: hashes of its runs of eight words, and nothing of the text.

``python bench/source_runs.py TEXT`` writes tests/book/source_runs.txt. Words are lower-cased, and
all that is no letter or digit is a space. A run is a line: the first 16 digits of the SHA-256 of
its words with a space between.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

RUN = 8
KEPT = Path(__file__).resolve().parents[1] / "tests" / "book" / "source_runs.txt"


def words(text: str) -> list[str]:
    """Return the words of a text: lower case, no punctuation.

    Args:
        text: Any text.
    """
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).split()


def runs(text: str) -> dict[str, str]:
    """Return each run of eight words by its hash.

    Args:
        text: Any text.
    """
    found = words(text)
    joined = [" ".join(found[at : at + RUN]) for at in range(len(found) - RUN + 1)]
    return {hashlib.sha256(one.encode()).hexdigest()[:16]: one for one in joined}


if __name__ == "__main__":
    kept = sorted(runs(Path(sys.argv[1]).read_text(encoding="utf-8")))
    KEPT.write_text("\n".join(kept) + "\n", encoding="utf-8")
    print(f"{len(kept)} runs of {RUN} words")
