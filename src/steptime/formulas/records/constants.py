"""What was fitted or assumed, shared by all runs."""

from typing import Protocol

from steptime.formulas.number import Number


class Constants(Protocol):
    """Constants of the roofline model."""

    @property
    def ampere_efficiency(self) -> Number:
        """Share of the measured matrix rate that a step reaches, A100."""

    @property
    def hopper_efficiency(self) -> Number:
        """The same of H100 and its kin."""

    @property
    def blackwell_efficiency(self) -> Number:
        """The same of B200 and its kin."""

    @property
    def hbm_efficiency(self) -> Number:
        """Share of the memory bandwidth."""

    @property
    def link_efficiency(self) -> Number:
        """Share of NVLink's bandwidth."""

    @property
    def network_efficiency(self) -> Number:
        """Share of the network's bandwidth."""

    @property
    def contention(self) -> Number:
        """Share of what hides behind other work that shows all the same."""

    @property
    def launch_s(self) -> Number:
        """Time to launch a kernel and drain it, on the device."""

    @property
    def host_launch_s(self) -> Number:
        """Time of the host to launch a kernel of plain PyTorch."""

    @property
    def hop_s(self) -> Number:
        """Time to pass one domain."""


class BaselineConstants(Protocol):
    """Constants of the baseline model."""

    @property
    def eta(self) -> Number:
        """Share of the peak that matrix products reach: the one fitted constant."""

    @property
    def latency_s(self) -> Number:
        """Cost of a message or of a ring step beyond its bytes: assumed."""
