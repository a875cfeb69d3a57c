"""Unwrap a Primus file: the keys of the framework that it starts, and the model that it names."""

from __future__ import annotations

from dataclasses import replace

from steptime.inputs.errors import ConfigError
from steptime.readers.formats import Format, format_named
from steptime.readers.safe import shown
from steptime.readers.yaml_lines import Leaf

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


def unwrapped(leaves: list[Leaf], name: str) -> tuple[Format, list[Leaf]]:
    """Return the inner format, and the leaves as that format names them.

    Args:
        leaves: Of the file.
        name: What to call the file.

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
    out: list[Leaf] = []
    for leaf in inside:
        if leaf.path[2] == "model":
            # llama3.1_8B.yaml is a file of Primus; its name tells the model.
            named = str(leaf.value).removesuffix(".yaml")
            if named.endswith(EIGHT_BITS):
                named = named.removesuffix(EIGHT_BITS)
                converter = Leaf(("model", "converters"), "quantize.linear.float8", leaf.line)
                out.extend([converter] if word == "torchtitan" else [])
            out.append(Leaf(("primus_model",), named, leaf.line))
        elif leaf.path[2] == "overrides":
            out.append(Leaf(leaf.path[3:], leaf.value, leaf.line))
    software = _SOFTWARE.get(word, form.software)
    keys = dict(form.keys) | {"primus_model": "primus_model"}
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
