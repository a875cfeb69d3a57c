"""The fields of a training step: one entry each, for every way to ask.

An entry is a key of a typed dictionary: its name, its type, and what users meet. Python's
functions take these dictionaries (`steptime.inputs.signed` makes signatures of them), and of the
entries are made the command line's options, JSON's keys, columns, and the layout page's labels.
A search takes several values where a step takes one, so some types are variables.
"""

from pathlib import Path
from typing import Annotated, Generic, TypedDict, TypeVar

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.entries import Field, cut_field, entries, powers
from steptime.inputs.how_fields import CountInputs, HowInputs
from steptime.inputs.model import ModelShape

Size = TypeVar("Size")
Open = TypeVar("Open")
Word = TypeVar("Word")


class NeededInputs(TypedDict):
    """What no question is without."""

    model: Annotated[
        str | Path | ModelShape,
        Field(
            flags=("--model", "-m"),
            help="Preset, or a .toml or config.json file, or the folder of one.",
            group="asked",
            label="model",
            key="model",
        ),
    ]
    accelerator: Annotated[
        str | Path | Accelerator,
        Field(
            flags=("--accelerator", "-a"),
            help="Preset such as h100, or a .toml file.",
            group="asked",
            label="GPU",
            key="gpu",
        ),
    ]
    seq_length: Annotated[
        int,
        Field(
            flags=("--seq-length", "-s"),
            help="Tokens per sequence, s.",
            group="batch",
            label="sequence",
            word="sequence",
            key="seq",
            most=2**24,
        ),
    ]
    global_batch_size: Annotated[
        int,
        Field(
            flags=("--global-batch-size", "-B"),
            help="Sequences per step, B.",
            group="batch",
            label="batch",
            word="batch",
            key="batch",
            most=2**24,
        ),
    ]


class BatchInputs(TypedDict, Generic[Open], total=False):
    """What may be left open of the batch."""

    micro_batch_size: Annotated[
        Open,
        Field(
            flags=("--micro-batch-size", "-b"),
            help="Sequences per micro-batch, b; default: 1.",
            group="batch",
            label="mb",
            word="micro-batch",
            tried="1, 2, 4, … 64",
            key="mb",
            usual=True,
            offered=powers(16),
            most=2**12,
        ),
    ]


class SizeInputs(TypedDict, Generic[Size, Open], total=False):
    """How many ranks share what."""

    tp: Annotated[
        Size,
        cut_field("tp", "Tensor-parallel size, t.", word="tensor", offered=powers(32), default=1),
    ]
    cp: Annotated[
        Size,
        cut_field(
            "cp",
            "Context-parallel size, c.",
            word="context",
            offered=powers(16),
            most=2**20,
            default=1,
        ),
    ]
    pp: Annotated[
        Size,
        cut_field("pp", "Pipeline stages, p.", word="pipeline", offered=powers(64), default=1),
    ]
    vpp: Annotated[
        Open,
        cut_field(
            "vpp",
            "Model chunks a device, v; default: 1, or by the schedule.",
            word="chunks",
            offered=(1, 2, 3, 4, 6, 8, 12),
            most=512,
            usual=True,
        ),
    ]
    dp: Annotated[
        Open,
        cut_field(
            "dp", "Data-parallel size, d; default: 1, or what the GPUs leave.", word="data", key=""
        ),
    ]
    dp_replicate: Annotated[
        Size,
        cut_field(
            "copies",
            "Copies of what is sharded over the data-parallel ranks (HSDP); default: 1.",
            word="copies",
            most=2**20,
            flags=("--dp-replicate",),
            tried="1",
            default=1,
        ),
    ]
    ep: Annotated[
        Size,
        cut_field(
            "ep",
            "Expert-parallel size; takes no devices of its own.",
            word="expert",
            offered=powers(64),
            default=1,
        ),
    ]
    etp: Annotated[
        Open,
        cut_field(
            "etp",
            "Tensor-parallel size inside an expert; default: 1.",
            word="tensor inside an expert",
            usual=True,
        ),
    ]


class ChoiceInputs(TypedDict, Generic[Open, Word], total=False):
    """What is done besides cutting."""

    sequence_parallel: Annotated[
        bool | None,
        Field(
            flags=("--sequence-parallel/--no-sequence-parallel",),
            help="Split norms over tensor ranks; default: as usual with the software.",
            group="cut",
            label="SP",
            key="sp",
            usual=True,
        ),
    ]
    zero_stage: Annotated[
        Open,
        Field(
            flags=("--zero",),
            help="What data parallelism shards, 0 to 3 (FSDP); default: as reported, or usual.",
            group="cut",
            label="ZeRO",
            word="ZeRO",
            tried="0, 1 and 3, where the software has them",
            key="zero",
            usual=True,
        ),
    ]
    recompute: Annotated[
        Word,
        Field(
            flags=("--recompute",),
            help="none, selective or full.",
            group="choice",
            label="redo",
            tried="all",
            key="recompute",
            usual=True,
        ),
    ]
    precision: Annotated[
        str,
        Field(
            flags=("--precision",),
            help="bf16, fp16, fp8, mxfp8 or nvfp4, or another usual word for one of them.",
            group="choice",
            label="precision",
            key="precision",
            default="bf16",
        ),
    ]
    schedule: Annotated[
        Word,
        Field(
            flags=("--schedule",),
            help="Pipeline schedule; `steptime schedules` lists them.",
            group="choice",
            label="schedule",
            tried="1f1b and interleaved-1f1b; all tries every one",
            key="schedule",
            usual=True,
        ),
    ]
    order: Annotated[
        str,
        Field(
            flags=("--order",),
            help="Rank order: megatron; with --predictor baseline also llama3, or axes from the "
            "nearest, as tp-cp-dp-pp.",
            group="choice",
            label="order",
            default="megatron",
        ),
    ]
    first_stage_layers: Annotated[
        int,
        Field(
            flags=("--first-stage-layers",),
            help="Layers of the first pipeline rank; default: 0, cut as the software cuts.",
            group="choice",
            label="first",
            default=0,
        ),
    ]
    last_stage_layers: Annotated[
        int,
        Field(
            flags=("--last-stage-layers",),
            help="Layers of the last pipeline rank; default: 0, cut as the software cuts.",
            group="choice",
            label="last",
            default=0,
        ),
    ]


class StepInputs(
    NeededInputs,
    BatchInputs[int | None],
    SizeInputs[int, int | None],
    ChoiceInputs[int | None, str | None],
    CountInputs,
    HowInputs,
):
    """All that a training step is asked with."""


FIELDS = tuple(field for _, field in entries(StepInputs))
"""Every field, in the order of Python's signature."""

BY_NAME = {field.name: field for field in FIELDS}
LAYOUT_FIELDS = tuple(field.name for field in FIELDS if field.group in ("cut", "choice"))
"""The fields of `steptime.inputs.layout.Layout`, in order."""
SIZES = tuple(field.name for _, field in entries(SizeInputs[int, int]))
"""Those that are counts of ranks, or of chunks a rank."""
USUAL_FIELDS = tuple(field.name for field in FIELDS if field.usual)
"""Those that may be left open, for what is usual with model and software."""
