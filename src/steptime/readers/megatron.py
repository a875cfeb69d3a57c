"""Model, layout and batch from a Megatron-LM launch script or a file of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.entries import Entries, Entry
from steptime.readers.megatron_layout import megatron_layout
from steptime.readers.megatron_model import megatron_model
from steptime.readers.reading import Reading
from steptime.readers.safe import LARGEST_LAUNCH_BYTES, file_text, short
from steptime.readers.settings import check_settings, set_entries
from steptime.readers.shell import Script, followed
from steptime.readers.shell_expand import is_known, readable

_FLAG = re.compile(r"--[A-Za-z][\w-]*\Z")
_SBATCH = re.compile(
    r"^#SBATCH\s+(?:--(nodes|gpus-per-node|ntasks-per-node|gres)[=\s]|-(N)\s*)(\S+)", re.MULTILINE
)
_MARKERS = ("--tensor-model-parallel-size", "--num-layers", "--hidden-size", "--micro-batch-size")
_MOST_WORDS = 100_000
_TOLD = 12


def read_megatron(path: str | Path, given: Mapping[str, str] | None = None) -> Reading:
    """Return what a Megatron-LM launch script, or a plain file of its arguments, says.

    Args:
        path: The file.
        given: Shell variables that its user sets when launching, ``{"NNODES": "16"}``, or
            arguments that the script leaves out, ``{"vocab_size": "32000"}``.

    Raises:
        ConfigError: If it is no such file, or its numbers contradict each other.
    """
    text = file_text(path, most=LARGEST_LAUNCH_BYTES)
    name = short(Path(path))
    settings = given or {}
    script = followed(text, name, settings)
    check_settings(settings, text, name)
    reading = Reading(path=name, kind="megatron", notes=list(dict.fromkeys(script.notes))[:10])
    words = _arguments(script)
    if not any(word.split("=")[0] in _MARKERS for word in words):
        raise ConfigError(
            f"{name} has no command with Megatron-LM's arguments, such as --num-layers; "
            "is this the script that starts the training?"
        )
    entries = Entries(
        reading,
        [
            *_sbatch(text),
            *_launcher(script),
            *_flags(words, _lines_of_flags(text)),
            *set_entries(settings),
        ],
        last_wins=True,
    )
    tp = entries.count("tp", "tensor_model_parallel_size", "tensor_parallel", "tp") or 1
    reading.model = megatron_model(entries, tp)
    if reading.model is None:
        entries.ask("model", "the file does not give its sizes")
    megatron_layout(entries)
    _tell_unused(entries)
    return reading


def _tell_unused(entries: Entries) -> None:
    """Note the arguments that change nothing here: overlap is a fact of the software."""
    left = [short(name) for name in entries.unused() if name.startswith("--")]
    if left:
        more = f" and {len(left) - _TOLD} more" if len(left) > _TOLD else ""
        entries.reading.notes.append(f"not used: {', '.join(left[:_TOLD])}{more}")


def _arguments(script: Script) -> list[str]:
    """Return the words of the training command, or of the variables that hold them."""
    best: list[str] = []
    for command in script.commands:
        if any(word.split("=")[0] in _MARKERS for word in command.words):
            # Several commands: the last one that names a layout or a model is the training.
            best = command.words
    if best and not best[0].startswith("--"):
        return best[:_MOST_WORDS]
    loose: list[str] = []
    for value in script.variables.values():
        if any(marker in value for marker in _MARKERS):
            loose.extend(value.split())
    for values in script.arrays.values():
        if any(value.split("=")[0] in _MARKERS for value in values):
            loose.extend(word for value in values for word in value.split())
    # A plain file of arguments: each line looks like a command of its own.
    lines = [
        word
        for command in script.commands
        if command.words[0].startswith("--")
        for word in command.words
    ]
    return (loose or lines)[:_MOST_WORDS]


def _flags(words: list[str], lines: Mapping[str, int]) -> Iterator[Entry]:
    """Yield one entry for each flag; a flag without a value is a switch."""
    spread = [piece for word in words for piece in (word.split() if word[:2] == "--" else [word])]
    for place, word in enumerate(spread):
        flag, equals, inline = word.partition("=")
        if not _FLAG.match(flag):
            continue
        value: object = inline if equals else None
        if (
            not equals
            and place + 1 < len(spread)
            and not _FLAG.match(spread[place + 1].partition("=")[0])
        ):
            value = spread[place + 1]
        key = flag.lstrip("-").replace("-", "_")
        line = lines.get(flag, 0)
        if value is None:
            yield Entry(key, True, line, flag)
            continue
        text = str(value).strip("'\"")
        yield Entry(key, readable(text), line, flag, known=is_known(text))


def _lines_of_flags(text: str) -> dict[str, int]:
    """Return the last line on which each flag stands outside a comment."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if "--" in line and not line.lstrip().startswith("#"):
            for match in re.finditer(r"--[A-Za-z][\w-]*", line):
                found[match[0]] = number
    return found


def _launcher(script: Script) -> Iterator[Entry]:
    """Yield nodes and GPUs per node from torchrun, deepspeed or srun, wherever they stand."""
    names = {
        "--nproc_per_node": "nproc_per_node",
        "--nproc-per-node": "nproc_per_node",
        "--nnodes": "nnodes",
        "--num_nodes": "nnodes",
        "--num_gpus": "nproc_per_node",
    }
    for command in script.commands:
        for place, word in enumerate(command.words):
            flag, equals, inline = word.partition("=")
            if flag not in names:
                continue
            value = inline if equals else (command.words[place + 1 : place + 2] or [""])[0]
            # torchrun may be given a range of nodes; the larger end is the job.
            value = value.split(":")[-1] if is_known(value) else value
            yield Entry(names[flag], readable(value), command.line, flag, known=is_known(value))


def _sbatch(text: str) -> Iterator[Entry]:
    """Yield nodes and GPUs per node from a batch system's header."""
    for match in _SBATCH.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        number = match[3].rsplit(":", 1)[-1]
        if not number.isdigit():
            continue
        if match[2] or match[1] == "nodes":
            yield Entry("slurm_nodes", number, line, "#SBATCH nodes")
        elif match[1] in ("gpus-per-node", "gres"):
            yield Entry("slurm_gpus_per_node", number, line, f"#SBATCH {match[1]}")
