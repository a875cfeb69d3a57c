"""Files that a launch file names: beside it, or written by the script itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.classes import refuse_by_name, told_notes
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.formats import format_named
from steptime.readers.keys.leaves import file_leaves, tree_entries
from steptime.readers.keys.reading import Reading
from steptime.readers.keys.safe import LARGEST_LAUNCH_BYTES, file_text, short, shown

_MOST_UP = 6


def accelerate_file(entries: Entries, folder: Path) -> None:
    """Take over what an accelerate file beside this one says.

    Args:
        entries: The file's keys.
        folder: Where the file lies.
    """
    entry = entries.entry("accelerate_file")
    if entry is None:
        return
    name = str(entry.value)[:300]
    text = text_beside(entries.files, folder, name)
    if text is None or not entry.known:
        if entries.entry("zero_stage") is None:
            entries.ask("zero_stage", f"{entry.written} = {shown(name)} is not beside this file")
        return
    form = format_named("accelerate")
    for one in tree_entries(file_leaves(text, "yaml", short(Path(name))), form, {}, short(name)):
        words = form.values.get(one.key, {})
        word = str(one.value).strip().lower()
        if not one.key.startswith("?") and entries.entry(one.key) is None:
            entries.put(one.key, words.get(word, one.value), f"{short(name)}, {one.written}")


def text_beside(files: Mapping[str, str], folder: Path, name: str) -> str | None:
    """Return the text of a file that the script writes, or that lies beside it; None if neither.

    A program is started from the folder of its project, above that of its settings.

    Args:
        files: What the script writes, by name.
        folder: Where the script lies.
        name: The file, as the script names it.
    """
    if name in files:
        return files[name]
    absolute = folder.absolute()
    for place in (absolute, *list(absolute.parents)[:_MOST_UP]):
        try:
            if (place / name).is_file():
                return file_text(place / name, most=LARGEST_LAUNCH_BYTES)
        except (OSError, ValueError):
            return None
    return None


def deepspeed_file(entries: Entries, folder: Path) -> None:
    """Take over what a DeepSpeed file beside this one says.

    Args:
        entries: The file's keys.
        folder: Where the file lies.
    """
    entry = entries.entry("deepspeed_file")
    if entry is None:
        return
    entries.reading.software = "deepspeed"
    name = str(entry.value)[:300]
    text = text_beside(entries.files, folder, name)
    if text is None or not entry.known:
        if entries.entry("zero_stage") is None:
            why = f"{entry.written} = {shown(name)} is not beside this file"
            entries.ask("zero_stage", why)
        return
    keys = {
        "zero_optimization.stage": "zero_stage",
        "bf16.enabled": "bf16",
        "fp16.enabled": "fp16",
        "zero_optimization.offload_optimizer.device": "offload_optimizer",
        "zero_optimization.offload_param.device": "offload_param",
    }
    for leaf in file_leaves(text, "json", short(Path(name))):
        ours = keys.get(".".join(leaf.path))
        if ours and str(leaf.value).lower() not in ("auto", "none"):
            entries.put(ours, leaf.value, f"{short(name)}, {'.'.join(leaf.path)}")


def deepspeed_settings(entries: Entries, folder: Path) -> None:
    """Refuse what the DeepSpeed file of Megatron-DeepSpeed's arguments asks for and none has here.

    Args:
        entries: The script's keys.
        folder: Where the script lies.

    Raises:
        ConfigError: With the file's key.
    """
    entry = entries.entry("deepspeed_config")
    if entry is None:
        return
    name = str(entry.value)[:300]
    text = (
        text_beside(entries.files, folder, name) if entry.known or name in entries.files else None
    )
    form = format_named("deepspeed")
    try:
        leaves = file_leaves(text or "", "json", short(Path(name)))
    except ConfigError:
        entries.reading.notes.append(
            f"{entry.written} = {shown(name)} cannot be read here: what it alone sets, such as "
            "compression, is not read"
        )
        return
    reading = Reading(path=short(name), kind=form.kind, title=form.title)
    found = tree_entries(leaves, form, {}, short(name))
    settings = Entries(reading, found, last_wins=False)
    refuse_by_name(settings, form)
    lengths = [note for note in told_notes(settings, form) if "curriculum" in note]
    entries.reading.notes.extend(f"{short(name)}, {note}" for note in lengths)
