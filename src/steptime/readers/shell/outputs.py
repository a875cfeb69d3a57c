"""What a command prints that a script takes up, as far as the script itself tells."""

from __future__ import annotations

import re

from steptime.readers.shell.launchers import NODE_VARIABLES

_DOCUMENT = re.compile(
    r"\s*cat\s*<<(?P<tabs>-?)\s*(?P<quote>['\"\\]?)(?P<end>\w{1,60})['\"]?[ \t]*\n"
    r"(?P<body>.*?)(?:^|\n)[ \t]*(?P=end)\s*\Z",
    re.DOTALL,
)
_HOSTS = re.compile(
    r"scontrol\s+show\s+host(?:names?)?\b[^|;&<>]{0,200}(?P<counts>\|\s*wc\s+-l\s*)?\Z"
)
_MOST_NUMBERS, _MOST_HOSTS = 256, 4096


def document_of(inner: str) -> tuple[str, bool] | None:
    """Return the here-document that ``cat`` prints, and whether its variables are put in.

    Args:
        inner: The command; None is returned for every other.
    """
    found = _DOCUMENT.match(inner)
    return None if found is None else (found["body"], not found["quote"])


def numbers(words: list[str]) -> list[str] | None:
    """Return what ``seq`` prints; None if its numbers are not known, or are many.

    Args:
        words: Behind its name.
    """
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"-?\d{1,9}", one) for one in words):
        return None
    values = [int(one) for one in words]
    first = values[0] if len(values) > 1 else 1
    step = values[1] if len(values) > 2 else 1
    return spaced(first, values[-1], step)


def spaced(first: int, last: int, step: int) -> list[str] | None:
    """Return whole numbers from first to last; None for many.

    Args:
        first: The first.
        last: The last that may be.
        step: From one to the next.
    """
    if not step or abs(last - first) // abs(step) >= _MOST_NUMBERS:
        return None
    return [str(one) for one in range(first, last + (1 if step > 0 else -1), step)]


def hosts(inner: str, variables: dict[str, str]) -> str | None:
    """Return the names of a job's nodes, or their count, where the batch system's header tells.

    Args:
        inner: The command.
        variables: What the script has set, and the batch system.

    Returns:
        Names that only count; None for another command, or where the count is not known.
    """
    found = _HOSTS.match(inner.strip()[:400])
    count = next((variables[one] for one in NODE_VARIABLES if one in variables), "")
    if found is None or not count.isdigit() or int(count[:9]) > _MOST_HOSTS:
        return None
    return count if found["counts"] else " ".join(f"node{one}" for one in range(int(count)))
