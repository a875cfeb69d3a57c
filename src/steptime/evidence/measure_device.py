"""What is timed: the device as a library sees it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """What the library says of the device.

    Attributes:
        name: As the driver has it.
        generation: One the roofline model knows, or empty.
        num_sms: Streaming multiprocessors; cores of a CPU.
        memory_bytes: Its memory.
        versions: Of the library and what it rests on.
        is_gpu: Whether it has links of its own, which one process cannot measure.
    """

    name: str
    generation: str
    num_sms: int
    memory_bytes: float
    versions: str
    is_gpu: bool = False


def cpu_name() -> str:
    """Return what the machine calls its CPU."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return f"{platform.machine()} CPU"


def cpu_memory_bytes() -> float:
    """Return the machine's memory."""
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
