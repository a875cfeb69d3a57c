"""Named accelerators and model shapes, read from ``data/``."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.datafiles import data_table, read_toml
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import facts_from
from steptime.inputs.model import Experts, LatentAttention, ModelShape

_TERA, _GIGA = 1e12, 1e9
_MEBI = 2.0**20
_MODEL_NOTES = ("aliases", "params_billion", "zero_source")


def _key_of(table: dict[str, Any], kind: str, name: str) -> str:
    if name in table:
        return name
    folded = name.strip().lower() if isinstance(name, str) else name
    for key, entry in table.items():
        if folded == key or any(folded == alias.lower() for alias in entry["aliases"]):
            return key
    check_choice(kind, name, table)
    raise AssertionError("check_choice refuses what is not in the table")


def accelerator_from_entry(key: str, entry: dict[str, Any]) -> Accelerator:
    """Return the accelerator that one table of ``accelerators.toml`` describes.

    Args:
        key: Its name.
        entry: The table; units are in the key names.

    Raises:
        ConfigError: If a field is missing or out of range.
    """
    try:
        return Accelerator(
            name=key,
            peak_flop_per_s=entry["peak_tflop_per_s"] * _TERA,
            peak_fp8_flop_per_s=entry.get("peak_fp8_tflop_per_s", 0) * _TERA,
            matmul_flop_per_s=entry.get("matmul_tflop_per_s", 0) * _TERA,
            matmul_fp8_flop_per_s=entry.get("matmul_fp8_tflop_per_s", 0) * _TERA,
            hbm_bytes=(
                entry["hbm_mib"] * _MEBI if "hbm_mib" in entry else entry["hbm_gbyte"] * _GIGA
            ),
            hbm_sold_bytes=entry["hbm_gbyte"] * _GIGA,
            hbm_bytes_per_s=entry["hbm_gbyte_per_s"] * _GIGA,
            # Data sheets add both directions; a byte goes one way.
            nvlink_bytes_per_s=entry["nvlink_gbyte_per_s_both"] * _GIGA / 2,
            nvlink_domain=entry.get("nvlink_domain", 8),
            node_size=entry.get("node_size", 0),
            network_bytes_per_s=entry["network_gbit_per_s"] * _GIGA / 8,
            num_sms=entry.get("num_sms", 0),
            watt=float(entry.get("watt", 0)),
            product_scale=float(entry.get("product_scale", 1)),
            caution=entry.get("caution", ""),
            generation=entry.get("generation", ""),
            source=entry.get("source", {}).get("default", ""),
        )
    except KeyError as error:
        raise ConfigError(f"accelerator {key!r} lacks {error.args[0]}") from None
    except (TypeError, AttributeError):
        raise ConfigError(f"accelerator {key!r} has a field of the wrong type") from None


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
    key = _key_of(table, "accelerator", name)
    return accelerator_from_entry(key, table[key])


def model_from_entry(entry: dict[str, Any]) -> ModelShape:
    """Return the shape that one table of ``models.toml`` describes.

    Args:
        entry: The table; field names as in `ModelShape`.

    Raises:
        ConfigError: If a field is missing, unknown or out of range.
    """
    fields = {key: value for key, value in entry.items() if key not in _MODEL_NOTES}
    try:
        if "experts" in fields:
            fields["experts"] = Experts(**fields["experts"])
        if "facts" in fields:
            fields["facts"] = facts_from(fields["facts"])
        if "latent_attention" in fields:
            fields["latent_attention"] = LatentAttention(**fields["latent_attention"])
        return ModelShape(**fields)
    except TypeError as error:
        reason = str(error).split("__init__() ")[-1]
        raise ConfigError(f"model {entry.get('name', '?')!r}: {reason}") from None


def model(name: str) -> ModelShape:
    """Return a known model shape by name or alias, or the one in a ``.toml`` file.

    Args:
        name: A key or alias of ``data/models.toml``, or a path that ends in ``.toml``.

    Raises:
        ConfigError: If there is no such model; the nearest name is offered.
    """
    if isinstance(name, str) and name.endswith(".toml"):
        return model_from_entry({"name": Path(name).stem, **read_toml(Path(name))})
    return _known_model(name)


@functools.cache
def _known_model(name: str) -> ModelShape:
    table = data_table("models.toml")
    return model_from_entry(table[_key_of(table, "model", name)])


def accelerator_names() -> list[str]:
    """Return the keys of every known accelerator, in the order of the data file."""
    return list(data_table("accelerators.toml"))


def model_names() -> list[str]:
    """Return the keys of every known model shape, in the order of the data file."""
    return list(data_table("models.toml"))
