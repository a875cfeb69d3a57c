"""The keys of an accelerator's table: which there are, what each holds, and what contradicts."""

from __future__ import annotations

import functools
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError, alike, check_number, same_in_sense
from steptime.inputs.generation import generations
from steptime.inputs.kinds import holds, must_be

GIGA, MEBI = 1e9, 2.0**20
# 2**30 over 1e9: a GB that a data sheet sells may be a GiB. The device keeps some back.
_MOST_REPORTED, _LEAST_REPORTED = 1.0738, 0.9
_RATES = (
    *("peak_tflop_per_s", "hbm_gbyte", "hbm_gbyte_per_s"),
    *("nvlink_gbyte_per_s_both", "network_gbit_per_s"),
)
"""Keys that no accelerator is without."""
_KEYS: dict[str, type] = {
    **dict.fromkeys((*_RATES, "peak_fp8_tflop_per_s", "peak_fp4_tflop_per_s"), float),
    **dict.fromkeys((f"matmul_{kind}tflop_per_s" for kind in ("", "fp8_", "fp4_")), float),
    **dict.fromkeys(("hbm_mib", "watt", "product_scale"), float),
    **dict.fromkeys(("nvlink_domain", "node_size", "num_sms"), int),
    **dict.fromkeys(("name", "caution", "generation"), str),
    **{"matmul_inferred": bool, "aliases": list, "source": dict},
    # What `measure` writes beside the rates: of it, only in which bits products were timed counts.
    "timings": list,
}


def check_keys(key: str, entry: dict[str, Any]) -> None:
    """Refuse keys that are missing, unknown, of another type or not above 0, each by its name.

    Args:
        key: Name of the accelerator.
        entry: Its table.

    Raises:
        ConfigError: With what is wrong.
    """
    unknown = [name for name in entry if name not in _KEYS]
    said = "; ".join(f"{name} is no field, {_hint(name)}" for name in unknown[:3])
    if lacking := [name for name in _RATES if name not in entry]:
        more = f"; {said}" if said else ""
        raise ConfigError(f"accelerator {key!r} lacks {', '.join(lacking)}{more}")
    if unknown:
        raise ConfigError(f"accelerator {key!r}: {said}")
    for name, value in entry.items():
        if not holds(value, (_KEYS[name],)):
            raise ConfigError(
                f"accelerator {key!r}: {name} is of the wrong type: it must be "
                f"{must_be(_KEYS[name])}, got {value!r:.80}"
            )
    _check_generation(key, entry.get("generation", ""))
    for name in _RATES:
        check_number(f"accelerator {key!r}: {name}", entry[name])


def _hint(name: str) -> str:
    return alike(name, _KEYS) or f"known: {', '.join(_KEYS)}"


@functools.cache
def _generations() -> tuple[str, ...]:
    """Return the generations that are known, and those that devices of the data name."""
    named = (str(one.get("generation", "")) for one in data_table("accelerators.toml").values())
    return tuple(dict.fromkeys((*generations(), *filter(None, named))))


def _check_generation(key: str, name: str) -> None:
    """Refuse a generation that nobody knows: the answer would fall to the baseline in silence."""
    if not name or name in _generations():
        return
    for known in _generations():
        if same_in_sense(name, known):
            raise ConfigError(
                f"accelerator {key!r}: unknown generation {name[:80]!r}; did you mean {known!r}?"
            )
    raise ConfigError(
        f"accelerator {key!r}: unknown generation {name[:80]!r}; known: "
        f"{', '.join(_generations())}; name the one that is nearest, or leave the key out for a "
        "device of none: the baseline answers then"
    )


def check_contradictions(key: str, entry: dict[str, Any]) -> None:
    """Refuse what contradicts itself, in the words of the file.

    Args:
        key: Name of the accelerator.
        entry: Its table.

    Raises:
        ConfigError: With the two values.
    """
    numbers = {name: value for name, value in entry.items() if isinstance(value, (int, float))}
    for kind in ("tflop_per_s", "fp8_tflop_per_s"):
        measured, peak = numbers.get(f"matmul_{kind}", 0), numbers.get(f"peak_{kind}", 0)
        if measured > peak:
            raise ConfigError(
                f"accelerator {key!r}: matmul_{kind} {measured:g} is over peak_{kind} {peak:g}: "
                "a measured rate is at most the peak; both are dense"
            )
    wide, narrow = numbers.get("peak_tflop_per_s", 0), numbers.get("peak_fp8_tflop_per_s", 0)
    if 0 < narrow < wide:
        raise ConfigError(
            f"accelerator {key!r}: peak_fp8_tflop_per_s {narrow:g} is under peak_tflop_per_s "
            f"{wide:g}: 8 bits are no slower than 16; give 0 for a device without them"
        )
    sold, reported = numbers.get("hbm_gbyte", 0) * GIGA, numbers.get("hbm_mib", 0) * MEBI
    if reported and not _LEAST_REPORTED * sold <= reported <= _MOST_REPORTED * sold:
        raise ConfigError(
            f"accelerator {key!r}: hbm_mib {numbers['hbm_mib']:g} is {reported / GIGA:.1f} GB and "
            f"contradicts hbm_gbyte {numbers['hbm_gbyte']:g}; give what one device reports"
        )
