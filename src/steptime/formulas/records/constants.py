"""What was fitted or assumed, shared by all runs."""

from dataclasses import dataclass

from steptime.formulas.number import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Constants of the roofline model, for one device or an entry a run.

    Attributes:
        efficiency: Share of the measured matrix rate that a step reaches on this generation.
        hbm_efficiency: Share of the memory bandwidth.
        link_efficiency: Share of NVLink's bandwidth.
        network_efficiency: Share of the network's bandwidth.
        contention: Share of what hides behind other work that shows all the same.
        launch_s: Time to launch a kernel and drain it, on the device.
        host_launch_s: Time of the host to launch a kernel of plain PyTorch.
        hop_s: Time to pass one domain.
    """

    efficiency: Number
    hbm_efficiency: Number
    link_efficiency: Number
    network_efficiency: Number
    contention: Number
    launch_s: Number
    host_launch_s: Number
    hop_s: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineConstants:
    """Constants of the baseline model.

    Attributes:
        eta: Share of the peak that matrix products reach: the one fitted constant.
        latency_s: Cost of a message or of a ring step beyond its bytes: assumed.
    """

    eta: Number
    latency_s: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakWidth:
    """How measured peaks of memory lie about predicted ones: measured / predicted - 1, logistic.

    Attributes:
        middle: What is usual.
        scale: Of the logistic distribution.
        runs: Peaks it rests on.
        num_sources: Sources that measured them.
    """

    middle: Number
    scale: Number
    runs: int = 0
    num_sources: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """Half-width of an interval in ln(step time): ``factor`` times the scale, about ``middle``.

    Attributes:
        factor: Times the scale.
        base: Scale of a step that only computes.
        slope: What a step adds that does nothing else.
        runs: Left-out runs it rests on.
        middle: ln(predicted / measured) that is usual for such runs.
        num_sources: Sources that measured them.
        unhidden: 1 where the later end is that of a step that hides nothing, as nobody says
            what the software hides.
    """

    factor: Number
    base: Number
    slope: Number
    runs: int = 0
    middle: Number = 0.0
    num_sources: int = 0
    unhidden: Number = 0.0
