"""A job on racks and servers, asked by name: what the command and Python share."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.inputs.signed import checked_names
from steptime.inputs.training_step import device_named
from steptime.inputs.usual import dp_of
from steptime.planning.placement import Placement
from steptime.planning.placement import place as place_layout


@checked_names
def place(
    *,
    tp: int = 1,
    cp: int = 1,
    pp: int = 1,
    vpp: int = 1,
    dp: int | None = None,
    ep: int = 1,
    etp: int = 1,
    num_gpus: int | None = None,
    order: str = "megatron",
    accelerator: str | Path | Accelerator | None = None,
    domain_size: int | None = None,
    spares_per_domain: int = 0,
) -> Placement:
    """Return which groups of a job stay inside an NVLink domain, and which cross.

    Args:
        tp: Tensor-parallel size.
        cp: Context-parallel size.
        pp: Pipeline stages.
        vpp: Model chunks a device.
        dp: Data-parallel size; what ``num_gpus`` leaves, or 1, if None.
        ep: Expert-parallel size.
        etp: Tensor-parallel size inside an expert.
        num_gpus: Devices in the job; what the sizes make if None.
        order: Rank order.
        accelerator: Gives the size of a domain.
        domain_size: GPUs in one domain: 8 in a server, 72 in an NVL72 rack.
        spares_per_domain: GPUs to keep free in each domain.

    Raises:
        ConfigError: If the sizes do not fit, or nothing gives the size of a domain.

    Example:
        >>> import steptime
        >>> steptime.place(tp=8, pp=4, num_gpus=64, domain_size=8).group("tensor").crossing
        0
    """
    if domain_size is None:
        if accelerator is None:
            raise ConfigError("place needs domain_size=… or accelerator=…")
        domain_size = device_named(accelerator).nvlink_domain
    dp = dp_of(dp, num_gpus, (tp, cp, pp))
    layout = Layout(tp=tp, cp=cp, pp=pp, vpp=vpp, dp=dp, ep=ep, etp=etp)
    return place_layout(
        layout, domain_size=domain_size, order=order, spares_per_domain=spares_per_domain
    )
