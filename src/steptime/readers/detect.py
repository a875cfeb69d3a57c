"""Tell what kind of file it is, and read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.common.settings import check_settings
from steptime.readers.configured import SYNTAX, Configured, check_whole, configured, of_variables
from steptime.readers.frameworks.primus import unwrapped
from steptime.readers.huggingface import read_huggingface, shape_reading
from steptime.readers.keys.beside import text_beside
from steptime.readers.keys.classes import is_other_program
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import Format, config_flags, formats, recognised, titles, unread
from steptime.readers.keys.leaves import file_leaves, plain_name, tree_entries, unwrapped_keys
from steptime.readers.keys.predict_line import predict_line
from steptime.readers.keys.reading import Reading
from steptime.readers.keys.safe import LARGEST_LAUNCH_BYTES, file_text, json_object, short
from steptime.readers.launch import Source, launch_reading
from steptime.readers.python.recipe import recipe_entries
from steptime.readers.shell.follow import followed
from steptime.readers.shell.marks import is_known, readable
from steptime.readers.shell.program import (
    asked_for,
    batch_system,
    batch_variables,
    flags,
    launcher,
    unread_notes,
)
from steptime.readers.shell.script import Script, filled
from steptime.readers.shell.source import sourced
from steptime.readers.shell.training import Words, told_rivals, training_words

_ATTRIBUTE = re.compile(r"\.(\w{1,60})")
_KEYS_END = "a file of keys must end in .yaml, .toml or .json"
SCRIPTS = ("", ".sh", ".bash", ".slurm", ".sbatch", ".txt")
"""What files end in that hold a shell's commands; others may be anything."""
SIZED = ("num_layers", "hidden_size")
"""Sizes of a model, of which a command gives both where no other file gives them."""
_LAST, _MOST_WORDS = 20, 400
"""Commands of a script, and words of one, that are looked at for a file of keys."""


def read_configuration(
    path: str | Path,
    given: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
) -> Reading:
    """Return what a file says, whichever of the known formats it is of.

    Args:
        path: The file; a folder or its ``config.json`` describes a model.
        given: Values that the launcher would set, or that the file leaves out.
        arguments: What the script is started with, by position.

    Raises:
        ConfigError: If it cannot be read, or is of no known format.
    """
    if _is_folder(path):
        return read_huggingface(path)
    settings = {str(place): word for place, word in enumerate(arguments, 1)} | dict(given or {})
    suffix = Path(str(path)).suffix.lower()
    syntax = SYNTAX.get(suffix, "")
    text = file_text(path) if suffix == ".json" else file_text(path, most=LARGEST_LAUNCH_BYTES)
    name = short(Path(path))
    if not syntax and text.lstrip()[:1] == "{":
        syntax = "json"
    if syntax == "json":
        table = json_object(text, name)
        if "model_type" in table or "architectures" in table:
            return shape_reading(table, text, name)
    if syntax:
        return _tree(Path(path), name, text, syntax, settings)
    if suffix == ".py":
        return _python(Path(path), name, text, settings)
    return _script(Path(path), name, text, settings)


def _is_folder(path: str | Path) -> bool:
    try:
        return Path(path).is_dir() and str(path) != ""
    except (OSError, ValueError):
        return False


def unknown(name: str, why: str) -> ConfigError:
    """Return the refusal of a file of no known format, with the way out.

    Args:
        name: The file.
        why: What it lacks.
    """
    return ConfigError(
        f"{name} {why}; read are: {titles()}, and a model's config.json; or ask: {predict_line()}"
    )


def _tree(path: Path, name: str, text: str, syntax: str, given: Mapping[str, str]) -> Reading:
    """Return what a file of keys says."""
    leaves = unwrapped_keys(file_leaves(text, syntax, name))
    names = [plain_name(leaf.path) for leaf in leaves]
    _check_read(name, names)
    form = recognised(names)
    if form is None:
        raise unknown(name, "is of no format that is known here")
    if form.kind == "primus":
        beside = partial(text_beside, {}, path.parent)
        form, leaves = unwrapped(leaves, name, beside, given)
    entries = tree_entries(leaves, form, given, name)
    source = Source(path=path, name=name, form=form, entries=entries, given=given)
    reading, asked = launch_reading(source)
    check_settings(given, text, name, asked | set(form.keys))
    return reading


def _check_read(name: str, names: Iterable[str]) -> None:
    """Refuse a file of a program that is known and not read."""
    program = unread(names)
    if program is not None:
        raise unknown(name, f"is a file of {program}, which is not read")


def _python(path: Path, name: str, text: str, given: Mapping[str, str]) -> Reading:
    """Return what a recipe in Python says; it is not run."""
    found = recipe_entries(path, name, text, given)
    if found is None:
        why = "is a Python program, which is not run here, and holds no recipe that can be read"
        raise unknown(name, why)
    form, entries, notes = found
    left = {key: value for key, value in given.items() if key != "recipe"}
    source = Source(path=path, name=name, form=form, entries=entries, given=left, notes=notes)
    reading, asked = launch_reading(source)
    if notes:
        # A helper of the recipe may write stages of other lengths.
        reading.assume("uneven_stages", True, f"stages need not be even: {notes[0]}")
    # What is set may be an option of the program too, such as args.gpu.
    options = set(_ATTRIBUTE.findall(text))
    check_settings(left, text, name, asked | set(form.keys) | options)
    return reading


def _script(path: Path, name: str, text: str, given: Mapping[str, str]) -> Reading:
    """Return what a script, or a file of arguments, says."""
    text = filled(text)
    try:
        variables = batch_variables(text, given) | dict(given)
        script = followed(text, name, variables, sourced(path.parent))
    except ConfigError as error:
        if path.suffix.lower() in SCRIPTS or text.startswith("#!"):
            raise
        raise unknown(name, f"is no script that a shell could run ({error})") from None
    below, found = _below(script, path, given)
    entries = list(flags(found.words, text))
    _check_read(name, (one.name for one in entries))
    # A flag says more than a key: other programs have keys of the same name.
    names = [name for one in entries for name in (one.name, f"flag.{one.name}")]
    form = below.form if below is not None else recognised(names)
    if form is None:
        raise _none_known(name, script)
    mapped = [_mapped(entry, form) for entry in entries]
    if below is not None:
        mapped = [one for one in mapped if one.key not in config_flags()]
    elif form.kind == "megatron":
        check_whole(found.words, {one.key for one in mapped}.issuperset(SIZED), name)
    own = {one.key for one in mapped}
    under = [one for one in below.entries if one.key not in own] if below is not None else []
    told = launcher(script, found.words, found.rivals)
    source = Source(
        path=path,
        name=name,
        form=form,
        entries=[*under, *batch_system(text, given), *told, *mapped],
        given=given,
        notes=[*unread_notes(found.words), *dict.fromkeys([*script.notes, *script.uncalled])][:10],
        is_command=True,
        program=found.program,
        files=script.files,
    )
    reading, asked = launch_reading(source)
    reading.notes[:0] = _said_of_rivals(script, found, form, asked, name)
    _ask_for_arguments(reading, script)
    check_settings(given, text, name, asked | set(form.keys))
    return reading


def _said_of_rivals(
    script: Script, found: Words, form: Format, asked: set[str], name: str
) -> list[str]:
    """Return what is noted of trainings that a script may start beside the one that is read."""
    return told_rivals(script, found, lambda one: _mapped(one, form).key in asked, name)


def _none_known(name: str, script: Script) -> ConfigError:
    """Return the refusal of a script without a known command, and the last that was noted."""
    why = "has no command whose arguments are known here; is this the script that trains?"
    keys = () if Path(name).suffix in (".sh", ".bash") else (_KEYS_END,)
    return unknown(name, "; ".join([why, *keys, *script.uncalled[:1]]))


def _below(script: Script, path: Path, given: Mapping[str, str]) -> tuple[Configured | None, Words]:
    """Return what the file of keys that a command starts from says, None if none does; and it."""
    found = training_words(script, _wanted(), is_other_program)
    stated = of_variables(found.words, script.variables)
    found = replace(found, words=[*stated, *found.words])

    def text_of(name: str) -> str | None:
        is_plain = is_known(name) and not Path(name).is_absolute() and ".." not in Path(name).parts
        return text_beside(script.files, path.parent, name) if is_plain else None

    last = [(one.words, one.line, one.unsure) for one in script.commands[-_LAST:]]
    for words, line, unsure in [(found.words, found.line, found.unsure), *last]:
        told = configured(words[:_MOST_WORDS], text_of, given)
        if told is not None:
            program = readable(" ".join(words[:40]))
            return told, Words(words, program, line=line, unsure=unsure)
    return None, found


def _wanted() -> frozenset[str]:
    """Return the names that commands are recognised by."""
    return frozenset(
        name.removeprefix("*.")
        for form in formats()
        for names in form.signature
        for name in names
        if not name.endswith(".*")
    )


def _mapped(entry: Entry, form: Format) -> Entry:
    ours = form.our_name(entry.name.split("."))
    return Entry(ours or entry.key, entry.value, entry.line, entry.written, entry.known, entry.name)


def _ask_for_arguments(reading: Reading, script: Script) -> None:
    """Ask for the script's own arguments where a branch waits for them."""
    asked = asked_for(script)
    if asked and (reading.model is None or reading.missing):
        reading.missing.insert(0, asked)
