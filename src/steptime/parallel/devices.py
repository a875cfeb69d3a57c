"""The devices that the programs run on: eight on one CPU, or whatever there is.

A GPU or TPU machine, or many of them, needs no other code: the mesh is built from
``jax.devices()``, wherever these are.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from steptime.inputs.errors import ConfigError, check_count

NUM_CPU_DEVICES = 8


def start(num_cpu_devices: int = 0) -> None:
    """Switch float64 on and ask the CPU for several devices in this process.

    To be called before JAX makes its first array: every builder of a program does so.
    Afterwards, and on accelerators, it leaves the devices as they are.

    Args:
        num_cpu_devices: Devices that the CPU backend shall show; 0 for what was asked
            before, or else ``NUM_CPU_DEVICES``.
    """
    check_count("num_cpu_devices", num_cpu_devices, least=0, most=512)
    jax.config.update("jax_enable_x64", True)
    before = int(getattr(jax.config, "jax_num_cpu_devices", -1))
    wanted = num_cpu_devices or (before if before > 0 else NUM_CPU_DEVICES)
    # Once the backend is up its devices can no longer be changed, only counted: `mesh` does.
    with contextlib.suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", wanted)


def mesh(**axes: int) -> Mesh:
    """Return a mesh of the first devices, its axes in the order given.

    The last axis has the nearest neighbours, so tensor parallelism belongs there.

    Args:
        **axes: Size of each named axis.

    Raises:
        ConfigError: If there are too few devices.
    """
    for name, size in axes.items():
        check_count(name, size)
    start()
    count = math.prod(axes.values())
    devices = jax.devices()
    if count > len(devices):
        shown = " x ".join(f"{name}={size}" for name, size in axes.items())
        raise ConfigError(f"{shown} needs {count} devices, and there are {len(devices)}")
    grid = np.array(devices[:count]).reshape(tuple(axes.values()))
    return Mesh(grid, tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def groups(on: Mesh, axes: tuple[str, ...]) -> frozenset[tuple[int, ...]]:
    """Return the sets of devices, as positions in the mesh, that differ along ``axes`` alone.

    Args:
        on: The mesh.
        axes: Names of the axes that a collective runs over.
    """
    positions = np.arange(on.devices.size).reshape(on.devices.shape)
    moved = [on.axis_names.index(name) for name in axes]
    last = np.moveaxis(positions, moved, range(-len(moved), 0))
    size = math.prod(on.devices.shape[index] for index in moved)
    return frozenset(tuple(int(i) for i in group) for group in last.reshape(-1, size))


def index_map(
    on: Mesh, spec: PartitionSpec, shape: tuple[int, ...]
) -> list[tuple[tuple[int, int], ...]]:
    """Return, for each device of a mesh, the first and last index it holds along each axis.

    Args:
        on: The mesh.
        spec: How the array is cut.
        shape: Its whole shape.
    """
    placed = NamedSharding(on, spec).devices_indices_map(shape)
    return [
        tuple(part.indices(size)[:2] for part, size in zip(placed[device], shape, strict=True))
        for device in on.devices.flat
    ]


def place(value: Any, where: NamedSharding) -> jax.Array:
    """Return an array cut over devices, which may belong to several processes.

    Args:
        value: The whole array; the same in every process.
        where: How to cut it.
    """
    # From host memory: an array already on a device of this process cannot move to others'.
    placed: jax.Array = jax.device_put(np.asarray(value), where)
    return placed


def whole(value: jax.Array) -> np.ndarray:
    """Return a cut array in host memory, wherever its parts are.

    Args:
        value: The array; all processes must ask for it together.
    """
    if value.is_fully_addressable:
        return np.asarray(value)
    return np.asarray(multihost_utils.process_allgather(value, tiled=True))
