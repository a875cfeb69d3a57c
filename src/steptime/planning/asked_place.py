"""A job on racks and servers, asked by name: what the command and Python share."""

from __future__ import annotations

from typing import Any, Unpack

from steptime.inputs.face import PlaceInputs
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import Layout
from steptime.inputs.signed import checked_names
from steptime.inputs.training_step import device_named
from steptime.inputs.usual import dp_of
from steptime.planning.placement import SERVER, Placement
from steptime.planning.placement import place as place_layout


@checked_names
def place(**inputs: Unpack[PlaceInputs]) -> Placement:
    """Return which groups of a job stay inside an NVLink domain, and which cross.

    Args:
        **inputs: As in `steptime.inputs.face.PlaceInputs`.

    Raises:
        ConfigError: If the sizes do not fit.

    Example:
        >>> import steptime
        >>> steptime.place(tp=8, pp=4, num_gpus=64, domain_size=8).group("tensor").crossing
        0
    """
    domain_size = inputs["domain_size"]
    if domain_size is None:
        device = inputs["accelerator"]
        domain_size = SERVER if device is None else device_named(device).nvlink_domain
    return place_layout(
        placed_layout(**inputs),
        domain_size=domain_size,
        order=inputs["order"],
        spares_per_domain=inputs["spares_per_domain"],
    )


def placed_layout(**sizes: Any) -> Layout:
    """Return the layout of a job by its sizes; those that nobody states are 1.

    Args:
        **sizes: Of `steptime.inputs.fields.SIZES`, and ``num_gpus``; others are left alone.

    Raises:
        ConfigError: If the sizes do not fit the devices.
    """
    stated = {name: sizes[name] for name in SIZES if sizes.get(name) is not None}
    tp, cp, pp = (stated.get(name, 1) for name in ("tp", "cp", "pp"))
    return Layout(**stated | {"dp": dp_of(stated.get("dp"), sizes["num_gpus"], (tp, cp, pp))})
