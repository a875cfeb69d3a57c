"""The options that commands share: each has one flag and one help text, here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

from typer import Option

from steptime.evidence.predict import PREDICTORS
from steptime.inputs.stack import stack_names
from steptime.inputs.training_step import training_step

CUT = "How it is cut"
MODELLED = "How it is modelled"

# Apart from their types: `explain` reads most of these from a file, and may do without.
MODEL = Option("--model", "-m", help="Preset, or a .toml or config.json file.")
GPUS = Option("--gpus", "-n", help="GPUs in the job.")
SEQ_LENGTH = Option("--seq-length", "-s", help="Tokens per sequence, s.")
GLOBAL_BATCH_SIZE = Option("--global-batch-size", "-B", help="Sequences per step, B.")
MICRO_BATCH_SIZE = Option("--micro-batch-size", "-b", help="Sequences per micro-batch, b.")

ModelName = Annotated[str, MODEL]
AcceleratorName = Annotated[
    str, Option("--accelerator", "-a", help="Preset such as h100, or a .toml file.")
]
Gpus = Annotated[int, GPUS]
SeqLength = Annotated[int, SEQ_LENGTH]
GlobalBatchSize = Annotated[int, GLOBAL_BATCH_SIZE]
MicroBatchSize = Annotated[int, MICRO_BATCH_SIZE]
NvlinkDomain = Annotated[
    int | None,
    Option("--nvlink-domain", help="GPUs joined by NVLink; default: as the accelerator is built."),
]
Precision = Annotated[str, Option("--precision", help="fp16, bf16, fp8, mxfp8 or nvfp4.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]


def cut(*flags: str, help: str) -> Any:
    """Return an option of the panel that says how a model is cut.

    Args:
        *flags: Its names.
        help: What it is.
    """
    return Option(*flags, help=help, rich_help_panel=CUT)


Tp = Annotated[int, cut("--tp", help="Tensor-parallel size, t.")]
Cp = Annotated[int, cut("--cp", help="Context-parallel size, c.")]
Pp = Annotated[int, cut("--pp", help="Pipeline stages, p.")]
Vpp = Annotated[
    int | None, cut("--vpp", help="Model chunks a device, v; default: 1, or by the schedule.")
]
Dp = Annotated[int, cut("--dp", help="Data-parallel size, d.")]
Ep = Annotated[int, cut("--ep", help="Expert-parallel size; takes no devices of its own.")]
Etp = Annotated[int | None, cut("--etp", help="Tensor-parallel size inside an expert; default: 1.")]
SequenceParallel = Annotated[
    bool | None,
    cut(
        "--sequence-parallel/--no-sequence-parallel",
        help="Split norms over the tensor ranks; default: on where tp > 1.",
    ),
]
Zero = Annotated[
    int | None,
    cut(
        "--zero",
        help="What data parallelism shards, 0 to 3 (3 is FSDP); default: as reported, or 1.",
    ),
]
Recompute = Annotated[str, cut("--recompute", help="none, selective or full.")]
Schedule = Annotated[
    str | None, cut("--schedule", help="Pipeline schedule; `steptime schedules` lists them.")
]
Order = Annotated[
    str,
    cut("--order", help="Rank order: megatron, llama3, or axes from the nearest, as tp-cp-dp-pp."),
]

Predictor = Annotated[
    str | None,
    Option(
        "--predictor",
        help=" or ".join(PREDICTORS) + "; default: roofline where the accelerator was measured.",
        rich_help_panel=MODELLED,
    ),
]
Stack = Annotated[
    str | None,
    Option("--stack", help="Software: " + ", ".join(stack_names()) + ".", rich_help_panel=MODELLED),
]

STEP: dict[str, Any] = {
    "model": ModelName,
    "accelerator": AcceleratorName,
    "seq_length": SeqLength,
    "global_batch_size": GlobalBatchSize,
    "micro_batch_size": MicroBatchSize,
    "tp": Tp,
    "cp": Cp,
    "pp": Pp,
    "vpp": Vpp,
    "dp": Dp,
    "ep": Ep,
    "etp": Etp,
    "sequence_parallel": SequenceParallel,
    "zero_stage": Zero,
    "recompute": Recompute,
    "precision": Precision,
    "schedule": Schedule,
    "nvlink_domain": NvlinkDomain,
}
"""The option for each parameter of `steptime.inputs.training_step.training_step`."""


def takes_step(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a training step before its own.

    Order and defaults are those of `training_step`, so that Python and the command line agree.

    Args:
        command: Takes the step first, and options of its own after it.
    """
    asked = inspect.signature(training_step).parameters.values()
    shared = [one.replace(annotation=STEP[one.name]) for one in asked]
    _, *own = inspect.signature(command, eval_str=True).parameters.values()

    @functools.wraps(command)
    def called(**given: Any) -> None:
        step = training_step(**{name: given.pop(name) for name in STEP})
        command(step, **given)

    options = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*shared, *own)]
    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return called
