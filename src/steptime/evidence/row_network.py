"""What a cell on the network says: Gb/s of one GPU, from a number, a unit and whose it is."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.inputs.run_words import below_zero, entries, pieces, word_of


@dataclass(slots=True)
class _Network:
    """What a cell on the network says, word by word."""

    rate: float = 0.0
    adapter: float = 0.0
    count: float = 0.0
    gpus: int = 0
    shared: bool = False
    per_gpu: bool = False
    understood: bool = True

    def number(self, value: float, before: str, following: str) -> None:
        """Take a number by the words beside it: "ConnectX-7" has no rate."""
        word, model = word_of("network", following), word_of("network", before)
        if model is not None and model.key == "models":
            return
        units, adapters = (
            entries("network")["units"]["gbit"],
            entries("network")["generation"]["gbit"],
        )
        if following in units and not self.rate:
            self.rate = value * float(units[following])
        elif following.casefold() in ("x", *adapters) and not self.count:
            self.count = value
        elif word is not None and word.key == "gpu" and value >= 1.0:
            self.gpus = int(value)
        elif adapters.get(before.casefold()) == value:
            pass  # "NDR400" says its rate twice.
        else:
            self.understood = False

    def name(self, part: str) -> None:
        """Take a word."""
        word = word_of("network", part)
        key = "" if word is None else word.key
        adapters = entries("network")["generation"]["gbit"]
        if part.casefold() in adapters:
            self.shared = True
            self.adapter = float(adapters[part.casefold()])
        elif key == "gpu":
            self.per_gpu = not self.gpus
        elif key == "node":
            self.shared = True
        elif key not in ("beside", "models") and part not in entries("network")["units"]["gbit"]:
            self.understood = False


def network_gbit(text: str, gpus_per_node: int = 8) -> float | None:
    """Return Gb/s of one GPU in one direction, or None where the cell is not understood.

    Args:
        text: Such as ``400``, ``400 Gb/s per GPU``, ``3200 Gb/s per node``, ``8 x 400 Gb/s`` or
            ``4x HDR``: adapters are a node's.
        gpus_per_node: Where a node is named and its GPUs are not.
    """
    if below_zero(text):
        return None
    parts = pieces(text, "/")
    if len(parts) == 1 and _number(parts[0]):
        return _number(parts[0])
    said = _Network()
    for place, part in enumerate(parts):
        if part[0].isalpha() or part[0] == "/":
            said.name(part)
        else:
            before = parts[place - 1] if place else ""
            said.number(_number(part), before, parts[place + 1] if place + 1 < len(parts) else "")
    # A stated rate comes before the adapter's own, "8x HDR 200 Gb/s".
    total = (said.rate or said.adapter) * (said.count or 1.0)
    # "per GPU" and "per node" beside each other leave open whose the rate is.
    unclear = said.shared and said.per_gpu and not (said.count or said.gpus)
    if not said.understood or not total or unclear:
        return None
    whole = (said.shared or said.count) and not said.per_gpu
    return total / (said.gpus or gpus_per_node) if whole else total


def _number(text: str) -> float:
    """Return a number of digits and one point, or 0."""
    return float(text) if text.replace(".", "", 1).isdecimal() else 0.0
