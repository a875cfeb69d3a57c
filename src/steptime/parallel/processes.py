"""The same programs over several processes: on this machine, or on many.

On one machine, this starts two processes of four devices each and has them work as one::

    python -m steptime.parallel.processes --processes 2 --devices 4

On a cluster each machine runs one process and is told where the first one is::

    python -m steptime.parallel.processes --processes 2 --process-id 0 --coordinator HOST:PORT
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import jax

from steptime.inputs.errors import ConfigError, check_choice, check_count
from steptime.parallel import compare, context, data, devices, expert, layer, transformer
from steptime.parallel.program import Program, run
from steptime.parallel.training import Training, train

TOLERANCE = 1e-12
LOOPBACK = "127.0.0.1"


def layer_program() -> Program:
    """Return a transformer layer, its heads and columns over all devices."""
    return layer.layer(
        tensor_parallel_size=jax.device_count(),
        hidden_size=4 * jax.device_count(),
        num_attention_heads=jax.device_count(),
    )


def ring_program() -> Program:
    """Return ring attention, its tokens over all devices."""
    return context.attention(
        form="ring",
        order="zigzag",
        context_parallel_size=jax.device_count(),
        num_attention_heads=4,
        num_query_groups=2,
        head_dim=4,
        seq_length=2 * jax.device_count(),
    )


def mixture_program() -> Program:
    """Return a mixture of experts, one expert on each device."""
    return expert.mixture(
        kind="gshard",
        expert_parallel_size=jax.device_count(),
        num_experts=jax.device_count(),
        hidden_size=8,
        expert_ffn_hidden_size=16,
        tokens_per_device=8,
    )


def zero_training() -> Training:
    """Return ZeRO-1 training, optimizer states over all devices."""
    return data.training(
        zero_stage=1,
        data_parallel_size=jax.device_count(),
        num_layers=2,
        hidden_size=8,
        num_microbatches=2,
    )


def three_way_training() -> Training:
    """Return the three-way transformer, its replicas two and as many stages as fit."""
    return transformer.training(
        tensor_parallel_size=2,
        pipeline_parallel_size=max(1, jax.device_count() // 4),
        data_parallel_size=2,
        num_layers=max(1, jax.device_count() // 4),
        hidden_size=16,
        num_attention_heads=2,
        vocab_size=32,
        num_microbatches=2,
    )


TRIES: dict[str, Callable[[], Program | Training]] = {
    "layer": layer_program,
    "ring": ring_program,
    "mixture": mixture_program,
    "zero-1": zero_training,
    "transformer": three_way_training,
}


def report(name: str) -> bool:
    """Run one try, let the first process print how it went, and return whether all is equal.

    Args:
        name: A key of ``TRIES``.
    """
    built = TRIES[name]()
    outcome = run(built) if isinstance(built, Program) else train(built)
    account = compare.lines(built, outcome)
    exact = outcome.worst_error <= TOLERANCE
    equal = all(line.equal for line in account)
    if jax.process_index() == 0:
        count = sum(line.measured for line in account)
        print(
            f"{built.name}: {jax.device_count()} devices of {jax.process_count()} processes, "
            f"results {'equal' if exact else 'NOT equal'} to one device's, "
            f"{count} collectives {'as' if equal else 'NOT as'} in the formulas",
            flush=True,
        )
    return exact and equal


def join(arguments: argparse.Namespace) -> int:
    """Become one of several processes, run what is asked for, and return the exit status.

    Args:
        arguments: The command line.
    """
    devices.start(arguments.devices)
    jax.distributed.initialize(
        coordinator_address=arguments.coordinator,
        num_processes=arguments.processes,
        process_id=arguments.process_id,
        coordinator_bind_address=arguments.coordinator
        if arguments.coordinator.startswith(LOOPBACK)
        else None,
    )
    outcomes = [report(name) for name in arguments.only or TRIES]
    jax.distributed.shutdown()
    return 0 if all(outcomes) else 1


def start_here(arguments: argparse.Namespace, given: Sequence[str]) -> int:
    """Start every process on this machine, wait for all, and return the exit status.

    Args:
        arguments: The command line.
        given: The same, as it was typed.
    """
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "steptime.parallel.processes", *given]
    # Told by each process itself; a count from outside would be for all of them.
    surroundings = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    started = [
        subprocess.Popen(
            [*command, "--process-id", str(number), "--coordinator", f"{LOOPBACK}:{port}"],
            env=surroundings,
        )
        for number in range(arguments.processes)
    ]
    return wait_for(started)


def wait_for(started: Sequence[subprocess.Popen[bytes]]) -> int:
    """Return the worst exit status; once one has failed, the others need not go on waiting.

    Args:
        started: Processes that talk to each other.
    """
    while any(process.poll() is None for process in started):
        if any(process.poll() for process in started):
            for process in started:
                process.terminate()
        time.sleep(0.1)
    return max(abs(process.wait()) for process in started)


def main(given: Sequence[str] | None = None) -> int:
    """Return the exit status: 0 if every program came out equal, 2 if it cannot be run.

    Args:
        given: The command line without its first word.
    """
    given = sys.argv[1:] if given is None else given
    parser = argparse.ArgumentParser(prog="python -m steptime.parallel.processes")
    parser.add_argument("--processes", type=int, default=2, help="how many in all")
    parser.add_argument("--devices", type=int, default=4, help="of each process, on a CPU")
    parser.add_argument("--only", action="append", help=f"one of {', '.join(TRIES)}; repeatable")
    parser.add_argument("--process-id", type=int, help="this one's number, from 0")
    parser.add_argument("--coordinator", default="", help="host and port of process 0")
    arguments = parser.parse_args(given)
    try:
        check_count("processes", arguments.processes, most=4096)
        check_count("devices", arguments.devices, most=64)
        for name in arguments.only or ():
            check_choice("program", name, TRIES)
        if arguments.process_id is None:
            return start_here(arguments, given)
        if not arguments.coordinator:
            raise ConfigError("--process-id needs --coordinator HOST:PORT, that of process 0")
        return join(arguments)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
