"""The fields of a training step as users meet them: one entry each, for every way to ask.

The command line makes its options from these entries, JSON and CSV their keys, the search and the
sweep their columns, the layout page its labels. Types and defaults stand where Python users read
them, in the signature of `steptime.inputs.training_step.training_step`; a test holds that both
have the same fields in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a training step.

    Attributes:
        name: As a parameter in Python and as a key in JSON.
        flags: As options of the command line.
        help: What it is, in a line.
        group: asked, batch, cut, choice (of the layout), device or software.
        label: Short name of a column or a control.
        tried: What a search tries where nothing is said; empty where it is asked one value only.
        key: As a key in the address of the layout page; empty where the page does not ask it.
    """

    name: str
    flags: tuple[str, ...]
    help: str
    group: str
    label: str = ""
    tried: str = ""
    key: str = ""


FIELDS = (
    Field(
        name="model",
        flags=("--model", "-m"),
        help="Preset, or a .toml or config.json file.",
        group="asked",
        label="model",
        key="model",
    ),
    Field(
        name="accelerator",
        flags=("--accelerator", "-a"),
        help="Preset such as h100, or a .toml file.",
        group="asked",
        label="GPU",
        key="gpu",
    ),
    Field(
        name="seq_length",
        flags=("--seq-length", "-s"),
        help="Tokens per sequence, s.",
        group="batch",
        label="sequence",
        key="seq",
    ),
    Field(
        name="global_batch_size",
        flags=("--global-batch-size", "-B"),
        help="Sequences per step, B.",
        group="batch",
        label="batch",
        key="batch",
    ),
    Field(
        name="micro_batch_size",
        flags=("--micro-batch-size", "-b"),
        help="Sequences per micro-batch, b; default: 1.",
        group="batch",
        label="mb",
        tried="1, 2, 4, … 64",
        key="mb",
    ),
    Field(
        name="tp",
        flags=("--tp",),
        help="Tensor-parallel size, t.",
        group="cut",
        label="tp",
        key="tp",
    ),
    Field(
        name="cp",
        flags=("--cp",),
        help="Context-parallel size, c.",
        group="cut",
        label="cp",
        key="cp",
    ),
    Field(
        name="pp", flags=("--pp",), help="Pipeline stages, p.", group="cut", label="pp", key="pp"
    ),
    Field(
        name="vpp",
        flags=("--vpp",),
        help="Model chunks a device, v; default: 1, or by the schedule.",
        group="cut",
        label="vpp",
        key="vpp",
    ),
    Field(
        name="dp",
        flags=("--dp",),
        help="Data-parallel size, d.",
        group="cut",
        label="dp",
    ),
    Field(
        name="dp_replicate",
        flags=("--dp-replicate",),
        help="Copies of what is sharded over the data-parallel ranks (HSDP); default: 1.",
        group="cut",
        label="copies",
        tried="1",
        key="copies",
    ),
    Field(
        name="ep",
        flags=("--ep",),
        help="Expert-parallel size; takes no devices of its own.",
        group="cut",
        label="ep",
        key="ep",
    ),
    Field(
        name="etp",
        flags=("--etp",),
        help="Tensor-parallel size inside an expert; default: 1.",
        group="cut",
        label="etp",
        key="etp",
    ),
    Field(
        name="sequence_parallel",
        flags=("--sequence-parallel/--no-sequence-parallel",),
        help="Split norms over the tensor ranks; default: on where tp > 1.",
        group="cut",
        label="SP",
        key="sp",
    ),
    Field(
        name="zero_stage",
        flags=("--zero",),
        help="What data parallelism shards, 0 to 3 (3 is FSDP); default: as reported, or usual.",
        group="cut",
        label="ZeRO",
        tried="0, 1 and 3, where the software has them",
        key="zero",
    ),
    Field(
        name="recompute",
        flags=("--recompute",),
        help="none, selective or full.",
        group="choice",
        label="redo",
        tried="all",
        key="recompute",
    ),
    Field(
        name="precision",
        flags=("--precision",),
        help="fp16, bf16, fp8, mxfp8 or nvfp4.",
        group="choice",
        label="precision",
        key="precision",
    ),
    Field(
        name="schedule",
        flags=("--schedule",),
        help="Pipeline schedule; `steptime schedules` lists them.",
        group="choice",
        label="schedule",
        tried="1f1b and interleaved-1f1b",
        key="schedule",
    ),
    Field(
        name="order",
        flags=("--order",),
        help="Rank order: megatron, llama3, or axes from the nearest, as tp-cp-dp-pp.",
        group="choice",
        label="order",
    ),
    Field(
        name="nvlink_domain",
        flags=("--nvlink-domain",),
        help="GPUs joined by NVLink; default: as the accelerator is built.",
        group="device",
        label="domain",
        key="domain",
    ),
    Field(
        name="network_gbit",
        flags=("--network-gbit",),
        help="Gb/s of a GPU's share of the network, one way; default: as in its row.",
        group="device",
        label="network",
        key="net",
    ),
    Field(
        name="stack",
        flags=("--stack",),
        help="Software: an exact stack or a family; `steptime stacks` lists them.",
        group="software",
        label="software",
        key="stack",
    ),
    Field(
        name="date",
        flags=("--date",),
        help="Month in which the software was current, YYYY-MM.",
        group="software",
        label="date",
        key="date",
    ),
    Field(
        name="facts",
        flags=("--fact",),
        help="One fact of the software, NAME=VALUE such as overlap_dp=0; repeat it.",
        group="software",
        label="facts",
    ),
)
"""Every field, in the order of Python's signature."""

BY_NAME = {field.name: field for field in FIELDS}
LAYOUT_FIELDS = tuple(field.name for field in FIELDS if field.group in ("cut", "choice"))
"""The fields of `steptime.inputs.layout.Layout`, in order."""
CUT_FIELDS = tuple(field.name for field in FIELDS if field.group == "cut")
