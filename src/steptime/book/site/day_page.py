"""Write the page of three users' days: every command of it is run as the page is made."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import json
import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from steptime.book.site.your_run_page import COLUMNS, made_trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What somebody wants to know, and the command that says it.

    Attributes:
        wish: In a sentence or two.
        words: Of the command, as they are broken over lines.
        most: Lines of the output to show; all if 0.
    """

    wish: str
    words: tuple[str, ...]
    most: int = 0


FILES = {
    "launch.sh": """\
torchrun --nproc-per-node 8 --nnodes 16 pretrain_gpt.py \\
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 \\
  --num-attention-heads 64 --group-query-attention --num-query-groups 8 \\
  --swiglu --untie-embeddings-and-output-weights --vocab-size 128256 \\
  --seq-length 8192 --max-position-embeddings 8192 \\
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 \\
  --sequence-parallel --micro-batch-size 1 --global-batch-size 256 --bf16 \\
  --use-distributed-optimizer --recompute-granularity full \\
  --recompute-method uniform --recompute-num-layers 1
""",
    "my_runs.csv": """\
model,gpu,gpus,tp,pp,mbs,gbs,seq_len,recompute,precision,software,step_time_s
llama3-8b,H100,64,2,1,1,128,8192,none,bf16,Megatron-Core,1.95
llama3-8b,H100,64,4,1,1,128,8192,none,bf16,Megatron-Core,2.2
llama3-8b,H100,64,2,2,1,128,8192,none,bf16,Megatron-Core,3.9
""",
}
"""What the days' commands read; the runs' times are made up, to have one that stands out."""

TRACE = "rank0.json.gz"
"""A made-up trace that a command reads; too long to show."""
UNFUSED = {"eager": 1.0}
"""What its run did, which the question does not say."""

PLANS = (
    Scene(
        wish="Which layout for Llama 3 70B on 64 servers, with tensor parallelism kept at four or "
        "eight, how long does the run take, and what do failures add to it?",
        words=(
            "search -m llama3-70b -a h100 --nodes 64 -s 8k -B 1k --tp 4,8",
            "--recompute none --memory-share 0.9 --tokens 15T",
            "--price-per-gpu-hour 2.5 --goodput --top 4",
        ),
    ),
    Scene(
        wish="The first of them in full: where does the time go, how sure is it, what would help?",
        words=(
            "predict -m llama3-70b -a h100 --gpus 512 --tp 4 --cp 2 --pp 4",
            "--vpp 4 -s 8k -B 1k --recompute none",
        ),
    ),
    Scene(
        wish="And as arguments of the framework.",
        words=(
            "search -m llama3-70b -a h100 --nodes 64 -s 8k -B 1k --tp 4,8",
            "--recompute none --memory-share 0.9 --emit megatron",
        ),
        most=14,
    ),
)
LAUNCHES = (
    Scene(
        wish="What does this script ask for, does it fit, and is there a faster layout?",
        words=("explain launch.sh -a h100",),
    ),
    Scene(
        wish="Without recomputing everything, would it still fit?",
        words=(
            "memory -m llama3-70b -a h100 --tp 8 --pp 8 --gpus 128",
            "-s 8k -B 256 --recompute selective",
        ),
    ),
    Scene(
        wish="Which of its groups leave a server?",
        words=("place --tp 8 --pp 8 --gpus 128 --domain 8",),
    ),
)
DEBUGS = (
    Scene(
        wish="Are the measured steps what they should be? Of these three, whose times are made "
        "up, one is not.",
        words=("validate my_runs.csv",),
    ),
    Scene(
        wish="A profile of another run, recorded with the PyTorch profiler: which part is slow, "
        "and why? This trace is made up too, of the predicted parts of a run whose element-wise "
        "work is not fused, so that the answer is known.",
        words=(
            "trace rank0.json.gz -m llama3-8b -a h100 --tp 2 -s 4k -B 8",
            "--stack megatron",
        ),
    ),
    Scene(
        wish="How much of a step may a pipeline of two idle, and where?",
        words=("schedule 1f1b --stages 2 --micro-batches 4",),
    ),
    Scene(
        wish="What does the model take the software to do, fact by fact?",
        words=("facts megatron-core --date 2025-02",),
        most=16,
    ),
)
DAYS = {
    "Somebody plans a run": PLANS,
    "Somebody launches one": LAUNCHES,
    "Somebody looks for what is slow": DEBUGS,
}

HEAD = """\
# Three days with it

What a planner, somebody who launches, and somebody who looks for what is slow would type. Every
command was run as this page was made, on the files that it shows; {doc}`/book/rerun` says how to
install it.
"""
TAKEAWAY = """\
:::{admonition} Takeaway
:class: tip
Ask with what you know; read what was assumed; say more of it, and ask again.
:::
"""

_CLOCK = "timed in "
"""How the line begins that says how long a search took: another number on each machine."""


class FailedError(RuntimeError):
    """A command of the page that does not run."""


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    """Work in an empty folder that holds the files of the page."""
    settings = {"COLUMNS": COLUMNS, "TERM": "dumb", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, settings):
        for file, text in FILES.items():
            (Path(name) / file).write_text(text, encoding="utf-8")
        trace = json.dumps(made_trace(0.0, stack="megatron", facts=UNFUSED)).encode()
        (Path(name) / TRACE).write_bytes(gzip.compress(trace, mtime=0))
        with contextlib.chdir(name):
            yield


def transcript(scene: Scene) -> str:
    """Return a command and what it prints, as a block of Markdown.

    Args:
        scene: Its words, and how many lines to show.

    Raises:
        FailedError: If it ends with another status than 0.
    """
    # The command line is a room above this one, so it is found by its name.
    run = importlib.import_module("steptime.cli.main").run
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = run(shlex.split(" ".join(scene.words)))
    if status:
        raise FailedError(f"steptime {' '.join(scene.words)}: {errors.getvalue()}")
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    lines = [line for line in lines if not line.startswith(_CLOCK)]
    if scene.most and len(lines) > scene.most:
        lines = [*lines[: scene.most], "…"]
    shown = " \\\n    ".join(scene.words)
    return "\n".join(["```console", f"$ steptime {shown}", *lines, "```", ""])


def page(days: dict[str, Sequence[Scene]] | None = None) -> str:
    """Return the page.

    Args:
        days: Scenes by heading; those of the book if None.
    """
    blocks = [HEAD]
    with _folder():
        for heading, scenes in (days or DAYS).items():
            blocks.append(f"## {heading}\n")
            for scene in scenes:
                blocks.append(f"{scene.wish}\n")
                for name, text in FILES.items():
                    if name in " ".join(scene.words):
                        blocks.append(f"`{name}`:\n\n```text\n{text}```\n")
                blocks.append(transcript(scene))
    return "\n".join([*blocks, TAKEAWAY])
