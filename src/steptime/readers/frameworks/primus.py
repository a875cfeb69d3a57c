"""Unwrap a Primus file: the keys of the framework that it starts, and the model that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from posixpath import dirname, join, normpath

from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import model as preset_model
from steptime.readers.keys.formats import Format, format_named
from steptime.readers.keys.leaves import file_leaves
from steptime.readers.keys.reading import DEFAULT
from steptime.readers.keys.safe import shown
from steptime.readers.keys.yaml_lines import Leaf

FRAMEWORKS = {
    "megatron": "megatron-bridge",
    "torchtitan": "torchtitan",
    "maxtext": "maxtext",
    "megatron_bridge": "megatron-bridge",
}
"""Whose keys a framework's overrides have; Megatron-LM's are read as those of a recipe."""

EIGHT_BITS = "-fp8"
"""How the name of a file of a model ends whose products are in 8 bits."""

_SOFTWARE = {"megatron": "megatron"}
_OWN_WORDS = ("megatron", "torchtitan")


MODELS = "primus/configs/models"
"""Where Primus keeps its files of models: a folder for each framework."""

_VARIABLE = re.compile(r"\$\{(\w+):([^}]*)\}")
_ADDS_TO = ("extends", "bases")
_MOST_FILES = 12

TextOf = Callable[[str], str | None]


def unwrapped(
    leaves: list[Leaf], name: str, text_of: TextOf, given: Mapping[str, str]
) -> tuple[Format, list[Leaf]]:
    """Return the inner format, and the leaves as that format names them.

    Args:
        leaves: Of the file.
        name: What to call the file.
        text_of: What gives the text of a file by its place in Primus; None if it is not here.
        given: What its user sets.

    Raises:
        ConfigError: If its framework is not read.
    """
    inside = [leaf for leaf in leaves if leaf.path[:1] == ("modules",) and len(leaf.path) > 2]
    framework = next((leaf for leaf in inside if leaf.path[2] == "framework"), None)
    word = str(framework.value) if framework is not None else ""
    if word not in FRAMEWORKS:
        line = framework.line if framework is not None else 1
        raise ConfigError(
            f"{name}:{line}: the framework {shown(word)} of a Primus file is not read; read are "
            f"{', '.join(FRAMEWORKS)}"
        )
    form = format_named(FRAMEWORKS[word])
    software = _SOFTWARE.get(word, form.software)
    out = _leaves(inside, word, text_of, given)
    # A model that its own file describes is named by nothing else.
    named = any(leaf.path == ("primus_model",) for leaf in out)
    keys = {**form.keys, **({"primus_model": "primus_model"} if named else {})}
    is_megatron = form.kind == "megatron-bridge"
    own = format_named("primus").defaults if is_megatron else {}
    defaults = {**form.defaults, **own}
    return replace(
        form,
        kind="primus" if is_megatron else form.kind,
        title=f"Primus YAML ({word})",
        software=software,
        defaults=defaults,
        # Primus has its own words for what a file leaves out.
        unsaid=format_named("primus").unsaid if word in _OWN_WORDS else {},
        keys=keys,
    ), out


def _leaves(
    inside: list[Leaf], framework: str, text_of: TextOf, given: Mapping[str, str]
) -> list[Leaf]:
    """Return what a file changes, and below it its model: by name, or by the file of that name."""
    out: list[Leaf] = []
    for leaf in inside:
        if leaf.path[2] == "model":
            # llama3.1_8B.yaml is a file of Primus; its name tells the model.
            named = _plain(leaf.value, given)
            whole = {} if _is_preset(named) else _model_file(f"{named}.yaml", framework, text_of)
            if whole:
                out.extend(whole.values())
                continue
            if named.endswith(EIGHT_BITS):
                named = named.removesuffix(EIGHT_BITS)
                converter = Leaf(("model", "converters"), "quantize.linear.float8", leaf.line)
                out.extend([converter] if framework == "torchtitan" else [])
            out.append(Leaf(("primus_model",), named, leaf.line))
        elif leaf.path[2] == "overrides":
            out.append(Leaf(leaf.path[3:], leaf.value, leaf.line))
    own_paths = {leaf.path for leaf in out if not leaf.file}
    return [leaf for leaf in out if not leaf.file or leaf.path not in own_paths]


def _plain(value: object, given: Mapping[str, str]) -> str:
    """Return the name of a file of a model; ``${NAME:grok1}.yaml`` carries its default."""
    text = str(value)[:300].removesuffix(".yaml")
    variable = _VARIABLE.fullmatch(text)
    return given.get(variable[1], variable[2]) if variable is not None else text


def _is_preset(name: str) -> bool:
    try:
        preset_model(name.removesuffix(EIGHT_BITS))
    except ConfigError:
        return False
    return True


def _model_file(name: str, framework: str, text_of: TextOf) -> dict[tuple[str, ...], Leaf]:
    """Return what Primus's own file of a model says, below it what that adds to; empty if not here.

    Args:
        name: The file.
        framework: The folder that it is of.
        text_of: What gives a text.
    """
    found: dict[tuple[str, ...], Leaf] = {}
    name = normpath(name)
    waiting, seen = [name], set[str]()
    while waiting and len(seen) < _MOST_FILES:
        this = waiting.pop()
        # Nothing above the folder of models is one.
        is_one = this not in seen and not this.startswith(("/", ".."))
        text = text_of(f"{MODELS}/{framework}/{this}") if is_one else None
        seen.add(this)
        for leaf in file_leaves(text, "yaml", this) if text is not None else ():
            if leaf.path[0] in _ADDS_TO:
                added = leaf.value if isinstance(leaf.value, list) else [leaf.value]
                waiting.extend(normpath(join(dirname(this), str(one)[:200])) for one in added)
            else:
                # The file that is named comes first, and so before what it adds to.
                line = 0 if this == name else DEFAULT
                found.setdefault(leaf.path, Leaf(leaf.path, leaf.value, line, this))
    return found
