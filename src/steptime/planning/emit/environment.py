"""What Megatron-LM asks of its environment before it starts."""

from __future__ import annotations

from steptime.inputs.layout import Layout

QUEUES = "CUDA_DEVICE_MAX_CONNECTIONS"
"""Queues of work of a device: with one, kernels start in the order of their launches."""
FREE_SINCE = 10
"""The compute capability from which on any number of queues will do: Blackwell's."""


def environment_lines(layout: Layout, capability: int) -> list[str]:
    """Return the lines of a script that stand before the launch.

    Without them Megatron-LM refuses to start: it asks for one queue beside tensor or context
    ranks on devices before Blackwell, and for more than one where it shards gradients or weights.

    Args:
        layout: The layout.
        capability: Major number of the device's compute capability, 0 where nothing is known.

    References:
        megatronlm2026, megatron/training/arguments.py at d98e8a64 (validate_args); before 2025-02
        --sequence-parallel asked for it on every device.
    """
    if layout.zero_stage > 1:
        return ["# Megatron-FSDP asks for more than one queue of work", f"unset {QUEUES}"]
    if layout.tp * layout.cp == 1 or capability >= FREE_SINCE:
        return []
    return [
        "# tensor and context ranks ask for one queue of work on GPUs before Blackwell",
        f"export {QUEUES}=1",
    ]
