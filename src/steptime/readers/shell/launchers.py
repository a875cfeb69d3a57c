"""What launchers are told of nodes and devices: torchrun, deepspeed, accelerate, mpirun, srun."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steptime.readers.common.open_counts import NOTHING, RANGE
from steptime.readers.shell.marks import is_known

LAUNCHER = {
    "--nproc_per_node": "nproc_per_node",
    "--nproc-per-node": "nproc_per_node",
    "--nnodes": "nnodes",
    "--num_nodes": "nnodes",
    "--num_gpus": "nproc_per_node",
    "--num_processes": "num_gpus",
    "--num_machines": "nnodes",
    "-np": "num_gpus",
    "--worker_num": "num_gpus",
}
"""What launchers call the devices: torchrun, deepspeed, accelerate, mpirun."""

_SLURM = {
    "-N": "nnodes",
    "--nodes": "nnodes",
    "-n": "num_gpus",
    "--gpus-per-node": "gpus_per_node",
}
_ATTACHED = re.compile(r"(-[Nn])(\d\S{0,12})\Z")
_BATCH = ("srun", "sbatch", "salloc")
_STARTERS = frozenset(
    (*_BATCH, "torchrun", "deepspeed", "accelerate", "mpirun", "mpiexec", "msrun", "colossalai")
)
_TASKS = ("-n", "-np")
_FIRST_WORDS = 40
_MODULES = ("torch.distributed.run", "torch.distributed.launch")
NODE_VARIABLES = ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""What a batch system sets to a job's number of nodes."""


def launcher_flags(words: list[str]) -> set[str]:
    """Return the flags of a command that speak to its launcher, not to what it starts.

    Args:
        words: Of the command.
    """
    is_batch = bool(words) and words[0].rpartition("/")[2] in _BATCH
    return {*LAUNCHER, *(_SLURM if is_batch else ())}


def launch_options(words: list[str], *, trains: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield what a command tells its launcher: our name, the flag and its value.

    What is no number is left out where the command may be no launcher, to which the flag may
    mean something else.

    Args:
        words: Of the command.
        trains: Whether the command is known to start a training.
    """
    is_batch = words[0].rpartition("/")[2] in _BATCH
    launches = trains or _starts(words)
    told = {LAUNCHER.get(word.partition("=")[0]) for word in words}
    for place, word in enumerate(words):
        flag, equals, inline = word.partition("=")
        attached = _ATTACHED.match(word) if is_batch else None
        if attached is not None:
            flag, equals, inline = attached[1], "=", attached[2]
        name = LAUNCHER.get(flag) or (_SLURM.get(flag) if is_batch else None)
        if name is None:
            continue
        value = inline if equals else (words[place + 1 : place + 2] or [""])[0]
        if is_known(value):
            value = _plain(name, value)
        if flag in _TASKS and "nproc_per_node" in told:
            # Each task starts the devices of a node.
            if "nnodes" in told:
                continue
            name = "nnodes"
        if not is_known(value) or value.isdigit() or launches:
            yield name, flag, value


def _plain(name: str, value: str) -> str:
    """Return a count without what may stand beside it; a word that says so where none is."""
    if name == "gpus_per_node":
        # A kind of GPU stands before its count.
        return value.rpartition(":")[2] or NOTHING
    ends = RANGE.match(value)
    if ends is not None and ends[1] == ends[2]:
        return ends[1]
    return NOTHING if not value or value.startswith("--") else value


def _starts(words: list[str]) -> bool:
    """Return whether a command is a launcher's that is known by name."""
    return any(
        word.rpartition("/")[2] in _STARTERS or word in _MODULES for word in words[:_FIRST_WORDS]
    )


def nodes_of(words: list[str]) -> dict[str, str]:
    """Return what a batch system's launcher sets for the shell that it starts.

    Args:
        words: Of the command, up to the shell.
    """
    if words[0].rpartition("/")[2] not in _BATCH:
        return {}
    found = [
        value
        for name, flag, value in launch_options(words)
        if flag in ("-N", "--nodes") and (value.isdigit() or not is_known(value))
    ]
    return dict.fromkeys(NODE_VARIABLES, found[-1]) if found else {}
