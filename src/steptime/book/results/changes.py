"""What changed between two versions of results.md, section by section, and why.

``python -m steptime.book.results.changes OLD NEW`` prints the list; with ``--write`` it puts it
into CHANGELOG.md between its two marks. Numbers are read off both files, causes stand in
``data/result_changes.toml``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steptime.inputs.datafiles import data_table, write_whole
from steptime.inputs.errors import ConfigError

START, END = "<!--results since 0.1.0-->", "<!--end of results-->"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
Cells = dict[tuple[str, ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One section before and after.

    Attributes:
        title: Of the section.
        shared: Numbers that stand in both, at the same table, row and column.
        changed: Those of them that differ.
        new: Numbers that only the later has.
        gone: Numbers that only the earlier has.
        says: How its reading starts, with the earlier numbers beside; empty where it is the same.
    """

    title: str
    shared: int
    changed: int
    new: int
    gone: int
    says: str


def sections(text: str) -> dict[str, str]:
    """Return each section of a results.md by its number.

    Args:
        text: The file.
    """
    parts = re.split(r"^## (?=§)", text, flags=re.MULTILINE)[1:]
    return {part.split()[0]: part.split("\n## ")[0] for part in parts}


def _rows(part: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the cells of each line of a table, below the caption over it."""
    caption = ""
    for line in part.splitlines():
        if line.startswith("*") and line.endswith("*"):
            caption = line.strip("*")
        elif line.startswith("|"):
            yield caption, [cell.strip() for cell in line.strip("|").split("|")]


def cells(part: str) -> Cells:
    """Return every number of a section's tables by caption, row and column.

    Args:
        part: The section.
    """
    found: Cells = {}
    seen: dict[tuple[str, ...], int] = {}
    heads: dict[str, list[str]] = {}
    for caption, row in _rows(part):
        if caption not in heads:
            heads[caption] = row
            continue
        words = [cell for cell in row if not _NUMBER.search(cell)]
        name = (caption, row[0], *words)
        seen[name] = seen.get(name, 0) + 1
        for head, cell in zip(heads[caption][1:], row[1:], strict=False):
            if _NUMBER.search(cell):
                found[(*name, str(seen[name]), head)] = cell
    return found


def reading(part: str) -> str:
    """Return the first sentence of a section's reading; empty where there is none.

    Args:
        part: The section.
    """
    rest = part.partition("**Reading.**")[2]
    text = " ".join(rest.split("\n\n")[0].split())
    return re.split(r"\.\s(?=[A-Z])", text)[0].rstrip(".")


def told(before: str, after: str) -> str:
    """Return the later sentence with the earlier numbers beside those that differ.

    Args:
        before: The earlier sentence.
        after: The later one; as it is where more than numbers changed.
    """
    old, new = _NUMBER.findall(before), _NUMBER.findall(after)
    if before == after or _NUMBER.sub("", before) != _NUMBER.sub("", after):
        return "" if before == after else after
    pairs = iter(zip(old, new, strict=True))

    def number(_: re.Match[str]) -> str:
        was, now = next(pairs)
        return now if was == now else f"{now} (was {was})"

    return _NUMBER.sub(number, after)


def change(before: str, after: str) -> Change:
    """Return how a section changed.

    Args:
        before: Its text in the earlier file; empty where it is new.
        after: Its text in the later one.
    """
    old, new = cells(before), cells(after)
    both = [key for key in new if key in old]
    return Change(
        title=after.partition("\n")[0],
        shared=len(both),
        changed=sum(old[key] != new[key] for key in both),
        new=len(new) - len(both),
        gone=len(old) - len(both),
        says=told(reading(before), reading(after)),
    )


def _line(one: Change, cause: str) -> str:
    counts = [f"{one.changed:,} of {one.shared:,} numbers differ"] if one.shared else []
    counts += [f"{one.new:,} are new"] if one.new else []
    counts += [f"{one.gone:,} are gone"] if one.gone else []
    sentences = (f"- **{one.title}**: {', '.join(counts)}", one.says, cause)
    return ". ".join(text.rstrip(".") for text in sentences if text) + "."


def changes(before: str, after: str) -> str:
    """Return the list of what changed: a line a section, and one for those that are as they were.

    Args:
        before: The earlier results.md.
        after: The later one.

    Raises:
        ConfigError: If a section changed and no cause is given.
    """
    causes = data_table("result_changes.toml")["causes"]
    old, new = sections(before), sections(after)
    found = {number: change(old.get(number, ""), part) for number, part in new.items()}
    same = [number for number, one in found.items() if not (one.changed or one.new or one.gone)]
    lines = []
    for number, one in found.items():
        if number not in same:
            if number not in causes:
                raise ConfigError(f"{number} changed; give a cause in data/result_changes.toml")
            lines.append(_line(one, causes[number]))
    return "\n".join([*lines, f"- As they were: {', '.join(same)}."] if same else lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the list, or write it into CHANGELOG.md.

    Args:
        arguments: Of the command line.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="An earlier results.md.")
    parser.add_argument("new", type=Path, help="A later one.")
    parser.add_argument("--write", type=Path, help="The file that has the two marks.")
    given = parser.parse_args(arguments)
    text = changes(*(file.read_text(encoding="utf-8") for file in (given.old, given.new)))
    if given.write is None:
        print(text)
        return
    head, _, rest = given.write.read_text(encoding="utf-8").partition(START)
    write_whole(given.write, f"{head}{START}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
