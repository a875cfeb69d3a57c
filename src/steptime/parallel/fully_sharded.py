"""ZeRO-3, one micro-batch: every layer's weights gathered for its forward and again backward.

Forward and backward are compiled apart here, as an engine that streams layers runs
them. In one program for a whole step (`steptime.parallel.data`), XLA sees that the
gathers repeat and keeps the first one's result, which costs the memory that ZeRO-3 saves.
"""

from __future__ import annotations

import jax
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import data as messages
from steptime.parallel import devices
from steptime.parallel.data import block
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import checked, divides
from steptime.parallel.tensor import VALUE_BYTES, random_inputs


@checked
def blocks(
    *, data_parallel_size: int, num_layers: int, hidden_size: int, rows_per_device: int = 2
) -> Program:
    """Return a stack of residual blocks with weights and rows of the batch cut over d devices.

    Args:
        data_parallel_size: Devices, d; they must divide a layer's weights.
        num_layers: Blocks, l.
        hidden_size: Width of the residual stream, h; a block has 8 h² weights.
        rows_per_device: Rows of the batch on each device.

    Raises:
        ConfigError: If d does not divide a layer's weights.

    References:
        rajbhandari2020, Sec. 7.2.2; zhao2023, Sec. 3.
    """
    size = 8 * hidden_size**2
    divides("data_parallel_size", data_parallel_size, "weights of a layer", size)
    names = [f"layer_{number}" for number in range(num_layers)]

    @jax.checkpoint
    def gathered(x: jax.Array, shard: jax.Array) -> jax.Array:
        return block(x, jax.lax.all_gather(shard, "dp", axis=0, tiled=True))

    def local(given: Arrays) -> jax.Array:
        x = given["x"]
        for name in names:
            x = gathered(x, given[name])
        return x

    def reference(given: Arrays) -> jax.Array:
        x = given["x"]
        for name in names:
            x = block(x, given[name])
        return x

    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(names, (size,))
    return Program(
        name="ZeRO-3, one micro-batch",
        mesh=devices.mesh(dp=data_parallel_size),
        local=local,
        specs=dict.fromkeys([*names, "x"], P("dp")),
        out_spec=P("dp"),
        reference=reference,
        inputs=random_inputs(shapes | {"x": (data_parallel_size * rows_per_device, hidden_size)}),
        traffic=messages.zero_3(float(num_layers * size), float(num_layers), 1.0, VALUE_BYTES),
    )
