"""What launchers are told of nodes and devices: torchrun, deepspeed, accelerate, mpirun, srun."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_ATTACHED = re.compile(r"(-[Nn])(\d{1,6})\Z")
_BATCH = ("srun", "sbatch", "salloc")
NODE_VARIABLES = ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""What a batch system sets to a job's number of nodes."""


def launcher_flags(words: list[str]) -> set[str]:
    """Return the flags of a command that speak to its launcher, not to what it starts.

    Args:
        words: Of the command.
    """
    is_batch = bool(words) and words[0].rpartition("/")[2] in _BATCH
    return {*LAUNCHER, *(_SLURM if is_batch else ())}


def launch_options(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield what a command tells its launcher: our name, the flag and its value.

    Args:
        words: Of the command.
    """
    is_batch = words[0].rpartition("/")[2] in _BATCH
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
            # torchrun may be given a range of nodes; the larger end is the job. A kind of GPU
            # stands before its count.
            value = value.split(":")[-1]
        if not is_known(value) or value.isdigit():
            yield name, flag, value


def nodes_of(words: list[str]) -> dict[str, str]:
    """Return what a batch system's launcher sets for the shell that it starts.

    Args:
        words: Of the command, up to the shell.
    """
    if words[0].rpartition("/")[2] not in _BATCH:
        return {}
    found = [value for name, flag, value in launch_options(words) if flag in ("-N", "--nodes")]
    return dict.fromkeys(NODE_VARIABLES, found[-1]) if found else {}
