"""The model shape of a published run; what a row leaves blank comes from a preset or a habit."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from steptime.evidence.schema import Incomplete, PublishedRow
from steptime.inputs.assumed import Assumed, not_stated
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import Experts, ModelShape
from steptime.inputs.presets import listed_key, model
from steptime.inputs.run_words import words

_USUAL_HEAD = 128
_USUAL_VOCABULARY = 50304


def _squashed(name: str) -> str:
    """Return a model's name as presets are compared: without case, marks and idle words."""
    return "".join(part for part in _parts(name) if _meaning(part) != "beside")


def _parts(name: str) -> list[str]:
    plain = "".join(mark if mark.isalnum() or mark == "." else " " for mark in name.casefold())
    return plain.split()


def _meaning(part: str) -> str:
    word = words("model").get(part)
    return "" if word is None else word.key


@functools.cache
def _preset_names() -> dict[str, str]:
    table = data_table("models.toml")
    names = {_squashed(key): key for key in table}
    for key, entry in table.items():
        names |= {_squashed(alias): key for alias in entry["aliases"]}
    return names


def preset_of(name: str) -> ModelShape | None:
    """Return the preset that a model's name means, or None.

    Args:
        name: The cell, such as ``Llama 3 8B`` or ``meta-llama/Llama-3-8B``.
    """
    plain = name.split(" (")[0].rpartition("/")[2]
    key = _preset_names().get(_squashed(plain))
    return None if key is None else model(key)


def _from_file(name: str) -> ModelShape | None:
    """Return the shape in a file that a cell names, or None where it names none."""
    if not name.endswith(".toml"):
        return None
    try:
        return model(name)
    except ConfigError as error:
        raise Incomplete(str(error)) from None


def _experts_of(
    row: PublishedRow, known: ModelShape | None, assumed: list[Assumed]
) -> Experts | None:
    usual = known.experts if known else None
    if row.moe_experts is None:
        return usual
    top_k = row.moe_topk or (usual.top_k if usual else None)
    width = row.moe_expert_ffn or (usual.expert_ffn_hidden_size if usual else None)
    if top_k is None or width is None:
        raise Incomplete("moe_topk or moe_expert_ffn is not stated")
    shared = {
        "moe_shared": (row.moe_shared, usual.num_shared_experts if usual else None),
        "moe_dense_layers": (row.moe_dense_layers, usual.num_dense_layers if usual else None),
    }
    counts = {}
    for column, (stated, preset) in shared.items():
        counts[column] = stated if stated is not None else (preset or 0)
        if stated is None and preset is None:
            assumed.append(not_stated(column, 0))
    grouped = usual is not None and usual.num_experts == row.moe_experts
    return Experts(
        num_experts=row.moe_experts,
        num_groups=usual.num_groups if usual and grouped else 1,
        max_groups=usual.max_groups if usual and grouped else 0,
        top_k=top_k,
        expert_ffn_hidden_size=width,
        num_shared_experts=counts["moe_shared"],
        num_dense_layers=counts["moe_dense_layers"],
    )


def _widths(
    row: PublishedRow, known: ModelShape | None, gated: bool, assumed: list[Assumed]
) -> dict[str, int]:
    """Return heads, width of the feed-forward part and vocabulary: stated, known, or usual."""
    hidden = row.hidden or 0
    habit_ffn = -(-8 * hidden // 768) * 256 if gated else 4 * hidden
    usual = {
        "heads": (known and known.num_attention_heads, max(hidden // _USUAL_HEAD, 1)),
        "ffn": (known and known.ffn_hidden_size, habit_ffn),
        "vocab": (known and known.vocab_size, _USUAL_VOCABULARY),
    }
    found = {}
    for column, (preset, habit) in usual.items():
        stated = getattr(row, column)
        found[column] = stated or preset or habit
        if stated is None:
            whose = f"of the preset {known.name}" if known else "assumed"
            assumed.append(not_stated(column, found[column], whose=whose))
    return found


def _of_preset(known: ModelShape) -> Assumed:
    why = f"sizes of the preset {known.name}"
    return Assumed(what="model", value=known.name, why=why, how="columns layers, hidden, ...")


def shape_of(row: PublishedRow, assumed: list[Assumed]) -> ModelShape:
    """Return the model shape of a row; what it lacks comes from the preset of that name.

    Args:
        row: The row.
        assumed: Gets a record of each assumption.

    Raises:
        Incomplete: If layers or width are blank and no preset has the name.
    """
    known = _from_file(row.model) or preset_of(row.model)
    if known is not None and row.layers is None and row.hidden is None:
        if listed_key("model", row.model) is None:
            # A preset's own name says its sizes; another name is read as it.
            assumed.append(_of_preset(known))
        return known
    for column, size in (("layers", "num_layers"), ("hidden", "hidden_size")):
        if getattr(row, column) is None:
            if known is None:
                raise Incomplete(f"{column} is not stated, and no preset is called {row.model!r}")
            row = row.model_copy(update={column: getattr(known, size)})
            assumed.append(not_stated(column, getattr(row, column), whose="of the preset"))
    return _stated_shape(row, known, assumed)


def _stated_shape(
    row: PublishedRow, known: ModelShape | None, assumed: list[Assumed]
) -> ModelShape:
    gated = row.gated_mlp == "y"
    if row.gated_mlp is None:
        gated = known.gated if known else row.moe_experts is not None
        if known is None:
            assumed.append(not_stated("gated_mlp", "yes" if gated else "no"))
    tied = None if row.tied is None else row.tied == "y"
    if tied is None:
        tied = known.tied if known else not gated
        if known is None:
            assumed.append(not_stated("tied", "yes" if tied else "no"))
    widths = _widths(row, known, gated, assumed)
    same_heads = known is not None and known.num_attention_heads == widths["heads"]
    groups = known.num_query_groups if known and same_heads else widths["heads"]
    same = known is not None and same_heads and known.hidden_size == row.hidden
    usual_head = known.head_dim if known and same else 0
    fields: dict[str, Any] = {
        "name": row.model or "unnamed",
        "num_layers": row.layers,
        "hidden_size": row.hidden,
        "ffn_hidden_size": widths["ffn"],
        "num_attention_heads": widths["heads"],
        "num_query_groups": row.kv_heads or groups,
        "vocab_size": widths["vocab"],
        "head_dim": row.head_dim or usual_head,
        "gated": gated,
        "tied": tied,
        "experts": _experts_of(row, known, assumed),
        "source": f"{row.source}, {row.location}",
    }
    if known is not None:
        return replace(known, **fields)
    if any(_meaning(part) == "latent_attention" for part in _parts(row.model)):
        raise Incomplete("latent attention of a model that is no preset: its ranks are not stated")
    return ModelShape(**fields)
