"""The options that say what is trained, on what, and how it is cut: shared by commands."""

from __future__ import annotations

from typing import Annotated

import typer

ModelName = Annotated[
    str, typer.Option("--model", "-m", help="Preset, or a .toml or config.json file.")
]
AcceleratorName = Annotated[
    str, typer.Option("--accelerator", "-a", help="Preset such as h100, or a .toml file.")
]
Tp = Annotated[int, typer.Option("--tp", help="Tensor-parallel size, t.")]
Cp = Annotated[int, typer.Option("--cp", help="Context-parallel size, c.")]
Pp = Annotated[int, typer.Option("--pp", help="Pipeline stages, p.")]
Vpp = Annotated[
    int | None,
    typer.Option("--vpp", help="Model chunks a device, v; default: 1, or by the schedule."),
]
Dp = Annotated[int, typer.Option("--dp", help="Data-parallel size, d.")]
Ep = Annotated[int, typer.Option("--ep", help="Expert-parallel size; takes no devices of its own.")]
Etp = Annotated[int, typer.Option("--etp", help="Tensor-parallel size inside an expert.")]
SeqLength = Annotated[int, typer.Option("--seq-length", "-s", help="Tokens per sequence, s.")]
GlobalBatchSize = Annotated[
    int, typer.Option("--global-batch-size", "-B", help="Sequences per step, B.")
]
MicroBatchSize = Annotated[
    int, typer.Option("--micro-batch-size", "-b", help="Sequences per micro-batch, b.")
]
Recompute = Annotated[str, typer.Option("--recompute", help="none, selective or full.")]
Zero = Annotated[
    int | None,
    typer.Option(
        "--zero",
        help="What data parallelism shards, 0 to 3 (3 is FSDP); default: as reported, or 1.",
    ),
]
Precision = Annotated[str, typer.Option("--precision", help="fp16, bf16, fp8, mxfp8 or nvfp4.")]
Schedule = Annotated[
    str | None,
    typer.Option("--schedule", help="Pipeline schedule; `steptime schedules` lists them."),
]
SequenceParallel = Annotated[
    bool | None,
    typer.Option(
        "--sequence-parallel/--no-sequence-parallel",
        help="Split norms over the tensor ranks; default: on where tp > 1.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
