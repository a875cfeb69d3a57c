"""Named accelerators and model shapes, read from ``data/``."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from statistics import median
from typing import Any

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.datafiles import data_table, read_toml
from steptime.inputs.device_bands import check_bands, check_products, sparse_caution
from steptime.inputs.device_keys import GIGA, MEBI, check_contradictions, check_keys
from steptime.inputs.device_words import preset_named
from steptime.inputs.errors import ConfigError, alike, check_choice
from steptime.inputs.fact import Fact, facts_from
from steptime.inputs.kinds import must_be
from steptime.inputs.model import ModelShape
from steptime.inputs.no_shapes import INSTEAD, why_no_shape
from steptime.inputs.own_model import NOTES, PARTS, TYPE, placed, shape_entry

_TERA = 1e12
_HINTS = {
    "model": "a config.json or a TOML file of a model will do too; steptime models lists names",
    "accelerator": "a TOML file of a device will do too, with its data sheet's rates: steptime "
    "measure writes one, data/README.md explains it",
}
"""What else may stand for a name that nobody knows."""
_TAILS = re.compile(
    r"-(?:hf|base|it|pt|chat|instruct|instruct-2\d{3}|chat-hf|original|bf16|v0\.[12]|[24]k|128k|"
    r"32k-base|16k|pretrain|sft|2407|2507)\Z"
)
"""Ends of a checkpoint's name that tell how it was trained, not its shape."""


_SQUEEZED, _AS_IT_IS = re.compile(r"[-_ ]"), re.compile(r"(?!)")
"""What a name may have or lack and still mean the same."""


def listed_key(kind: str, name: str) -> str | None:
    """Return the entry whose key or alias a name is, or None.

    Args:
        kind: ``accelerator`` or ``model``.
        name: As it came in.
    """
    table = data_table(f"{kind}s.toml")
    if name in table:
        return name
    squeezed = _SQUEEZED if kind == "model" else _AS_IT_IS
    for folded in _forms(name) if kind == "model" else (name.strip().lower(),):
        for key, entry in table.items():
            if squeezed.sub("", folded) in {
                squeezed.sub("", known.lower()) for known in (key, *entry["aliases"])
            }:
                return key
    return None


def _key_of(kind: str, name: str) -> str:
    table = data_table(f"{kind}s.toml")
    if not isinstance(name, str):
        check_choice(kind, name, table)
    found = listed_key(kind, name)
    if found is None and kind == "accelerator":
        found = preset_named(name)
    if found is not None:
        return found
    why = why_no_shape(name) if kind == "model" else ""
    if why:
        raise ConfigError(f"no shape here has model {name[:80]!r}: {why}; {INSTEAD}")
    listed = "" if kind == "model" else f"one of: {', '.join(sorted(table))}"
    hints = (alike(name, table) or listed, _HINTS[kind])
    raise ConfigError(f"unknown {kind} {name[:80]!r}; {'; '.join(filter(None, hints))}")


def _forms(name: str) -> list[str]:
    """Return the forms of a model's name to look up: as it is, then without what tells no shape.

    ``meta-llama/Llama-3.1-8B-Instruct`` is the organization, the model, and how it was trained.
    """
    text = name.strip()[:200].rstrip("/").rsplit("/", 1)[-1].lower().replace("_", "-")
    forms = [name.strip().lower(), text, text.removeprefix("meta-")]
    while (match := _TAILS.search(forms[-1])) is not None:
        forms.append(forms[-1][: match.start()])
    return list(dict.fromkeys(forms))


@functools.cache
def measured_share() -> float:
    """Return the share of the data sheet that products of measured devices reach, the median."""
    table = data_table("accelerators.toml").values()
    measured = [one for one in table if one.get("matmul_tflop_per_s") and not _inferred(one)]
    return float(median(one["matmul_tflop_per_s"] / one["peak_tflop_per_s"] for one in measured))


def _inferred(entry: dict[str, Any]) -> bool:
    return bool(entry.get("matmul_inferred", False))


def _matmul_tflop_per_s(entry: dict[str, Any]) -> float:
    """Return the rate of 16-bit products: as the entry has it, inferred where it asks, or 0."""
    if _inferred(entry) and "matmul_tflop_per_s" not in entry:
        return float(entry["peak_tflop_per_s"]) * measured_share()
    return float(entry.get("matmul_tflop_per_s", 0))


def _rates_in(entry: dict[str, Any]) -> str:
    """Return the precision that all products of a measured device were timed in, if not 16-bit."""
    timed = {str(one.get("precision", "")) for one in entry.get("timings", []) if _is_product(one)}
    return timed.pop() if len(timed) == 1 and "bf16" not in timed else ""


def _is_product(timing: object) -> bool:
    return isinstance(timing, dict) and timing.get("kind") == "product"


def accelerator_from_entry(key: str, entry: dict[str, Any]) -> Accelerator:
    """Return the accelerator that one table of ``accelerators.toml`` describes.

    Args:
        key: Its name.
        entry: The table; units are in the key names.

    Raises:
        ConfigError: If a field is missing, unknown, of another type or out of range.
    """
    check_keys(key, entry)
    check_bands(key, entry)
    check_contradictions(key, entry)
    check_products(key, entry)
    return Accelerator(
        name=key,
        peak_flop_per_s=entry["peak_tflop_per_s"] * _TERA,
        peak_fp8_flop_per_s=entry.get("peak_fp8_tflop_per_s", 0) * _TERA,
        peak_fp4_flop_per_s=entry.get("peak_fp4_tflop_per_s", 0) * _TERA,
        matmul_flop_per_s=_matmul_tflop_per_s(entry) * _TERA,
        matmul_fp8_flop_per_s=entry.get("matmul_fp8_tflop_per_s", 0) * _TERA,
        matmul_fp4_flop_per_s=entry.get("matmul_fp4_tflop_per_s", 0) * _TERA,
        hbm_bytes=(entry["hbm_mib"] * MEBI if "hbm_mib" in entry else entry["hbm_gbyte"] * GIGA),
        hbm_sold_bytes=entry["hbm_gbyte"] * GIGA,
        hbm_bytes_per_s=entry["hbm_gbyte_per_s"] * GIGA,
        # Data sheets add both directions; a byte goes one way.
        nvlink_bytes_per_s=entry["nvlink_gbyte_per_s_both"] * GIGA / 2,
        nvlink_domain=entry.get("nvlink_domain", 8),
        node_size=entry.get("node_size", 0),
        network_bytes_per_s=entry["network_gbit_per_s"] * GIGA / 8,
        inferred=_inferred(entry),
        num_sms=entry.get("num_sms", 0),
        watt=float(entry.get("watt", 0)),
        product_scale=float(entry.get("product_scale", 1)),
        caution="; ".join(filter(None, (entry.get("caution", ""), sparse_caution(entry)))),
        generation=entry.get("generation", ""),
        rates_in=_rates_in(entry),
        source=entry.get("source", {}).get("default", ""),
    )


def accelerator(name: str) -> Accelerator:
    """Return a known accelerator by name or alias, or the one in a ``.toml`` file.

    Args:
        name: A key or alias of ``data/accelerators.toml``, or a path that ends in ``.toml``.

    Raises:
        ConfigError: If there is no such accelerator; the nearest name is offered.
    """
    if isinstance(name, str) and name.endswith(".toml"):
        table = read_toml(Path(name))
        if len(table) != 1 or not isinstance(next(iter(table.values())), dict):
            raise ConfigError(f"{name}: expected exactly one table, [my-gpu]")
        key, entry = next(iter(table.items()))
        return accelerator_from_entry(key, entry)
    return _known_accelerator(name)


@functools.cache
def _known_accelerator(name: str) -> Accelerator:
    table = data_table("accelerators.toml")
    key = _key_of("accelerator", name)
    return accelerator_from_entry(key, table[key])


@functools.cache
def facts_of_type(model_type: str) -> tuple[Fact, ...]:
    """Return what models of a type change of the software that trains them.

    Args:
        model_type: As ``config.json`` has it; nothing is known of most.
    """
    return facts_from(data_table("model_types.toml").get(model_type, {}).get("facts", {}))


def model_from_entry(entry: dict[str, Any]) -> ModelShape:
    """Return the shape that one table of ``models.toml`` describes.

    Args:
        entry: The table; field names as in `ModelShape`.

    Raises:
        ConfigError: If a field is missing, unknown or out of range.
    """
    fields = {key: value for key, value in entry.items() if key not in NOTES}
    try:
        for part, kind in PARTS.items():
            if part in fields:
                fields[part] = kind(**_table(part, fields[part]))
        facts = facts_of_type(_text(TYPE, fields.pop(TYPE, "")))
        fields["facts"] = (*facts, *facts_from(_table("facts", fields.get("facts", {}))))
        return ModelShape(**fields)
    except TypeError as error:
        reason = str(error).split("__init__() ")[-1]
        raise ConfigError(f"model {entry.get('name', '?')!r}: {reason}") from None


def _table(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{name} must be a table, got {value!r:.80}")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be {must_be(str)}, got {value!r:.80}")
    return value


def model(name: str) -> ModelShape:
    """Return a known model shape by name or alias, or the one in a ``.toml`` file.

    Args:
        name: A key or alias of ``data/models.toml``, or a path that ends in ``.toml``.

    Raises:
        ConfigError: If there is no such model; the nearest name is offered.
    """
    if isinstance(name, str) and name.endswith(".toml"):
        entry = shape_entry(Path(name))
        try:
            return model_from_entry(entry)
        except ConfigError as error:
            raise placed(error, Path(name)) from None
    return _known_model(name)


@functools.cache
def _known_model(name: str) -> ModelShape:
    table = data_table("models.toml")
    return model_from_entry(table[_key_of("model", name)])


def accelerator_names() -> list[str]:
    """Return the keys of every known accelerator, in the order of the data file."""
    return list(data_table("accelerators.toml"))


def model_names() -> list[str]:
    """Return the keys of every known model shape, in the order of the data file."""
    return list(data_table("models.toml"))
