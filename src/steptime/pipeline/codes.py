"""Actions as whole numbers, so that the executor is one loop over flat lists.

With S stages and M micro-batches, an action is ``row * M + micro_batch``. Rows are laid
out so that the data an action waits for always comes from the code ``M`` lower:

====================  ==============================================================
rows                  action
====================  ==============================================================
0                     nothing: stands for inputs that are there from the start
1 .. S                F, forward of stages 0 .. S-1
S+1 .. 2S             B, backward in one piece, of stages S-1 .. 0
2S+1 .. 3S            I, backward for inputs, of stages S-1 .. 0
3S+1 .. 4S            W, backward for weights, of stages S-1 .. 0
4S+1                  a mark: the next two actions, an F and a backward, run as a pair
====================  ==============================================================

I sits S rows above the B of its stage and W another S: both hand on what B would.
This file is also turned into JavaScript; it keeps to whole numbers, lists and loops.
"""

from __future__ import annotations

KINDS = "FBIW"


def forward_code(stage: int, micro_batch: int, stages: int, micro_batches: int) -> int:
    """Return the code of the forward of a stage.

    Args:
        stage: From 0.
        micro_batch: From 0.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    return (stage + 1) * micro_batches + micro_batch


def backward_code(stage: int, micro_batch: int, stages: int, micro_batches: int) -> int:
    """Return the code of the whole backward (B) of a stage."""
    return (2 * stages - stage) * micro_batches + micro_batch


def input_code(stage: int, micro_batch: int, stages: int, micro_batches: int) -> int:
    """Return the code of the backward for inputs (I) of a stage."""
    return (3 * stages - stage) * micro_batches + micro_batch


def weight_code(stage: int, micro_batch: int, stages: int, micro_batches: int) -> int:
    """Return the code of the backward for weights (W) of a stage."""
    return (4 * stages - stage) * micro_batches + micro_batch


def pair_code(stages: int, micro_batches: int) -> int:
    """Return the mark that makes a pair of the next two actions."""
    return (4 * stages + 1) * micro_batches


def kind_of(code: int, stages: int, micro_batches: int) -> int:
    """Return 0 for F, 1 for B, 2 for I, 3 for W and 4 for the mark of a pair."""
    return (code // micro_batches - 1) // stages


def stage_of(code: int, stages: int, micro_batches: int) -> int:
    """Return the stage of an action, which must not be the mark of a pair."""
    row = code // micro_batches - 1
    if row < stages:
        return row
    return stages - 1 - row % stages


def action_name(code: int, stages: int, micro_batches: int) -> str:
    """Return an action as PyTorch prints it: stage, kind, micro-batch, as in ``2F0``."""
    letter = KINDS[kind_of(code, stages, micro_batches)]
    stage = stage_of(code, stages, micro_batches)
    return str(stage) + letter + str(code % micro_batches)


def action_names(order: list[int], stages: int, micro_batches: int) -> list[str]:
    """Return the names of one rank's order; a pair is one entry, ``(0F3;3B1)OVERLAP_F_B``.

    Args:
        order: Action codes.
        stages: Stages in all, S.
        micro_batches: Micro-batches in all, M.
    """
    mark = pair_code(stages, micro_batches)
    names: list[str] = []
    i = 0
    while i < len(order):
        if order[i] == mark:
            first = action_name(order[i + 1], stages, micro_batches)
            second = action_name(order[i + 2], stages, micro_batches)
            names.append("(" + first + ";" + second + ")OVERLAP_F_B")
            i += 3
        else:
            names.append(action_name(order[i], stages, micro_batches))
            i += 1
    return names
