"""What each function of the public face takes, put together from the entries of fields."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from steptime.formulas.judgement import SURE_CHANCE
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.entries import Field
from steptime.inputs.fields import (
    BatchInputs,
    ChoiceInputs,
    NeededInputs,
    SizeInputs,
)
from steptime.inputs.how_fields import CountInputs, HowInputs
from steptime.inputs.model import ModelShape

Tried = int | Iterable[int] | None
Words = str | Iterable[str] | None


class AnswerInputs(TypedDict, total=False):
    """What answers."""

    predictor: Annotated[
        str | None,
        Field(help="roofline, baseline or chapter; default: the better one that knows the device."),
    ]
    constants: Annotated[
        RooflineConstants | str | Path | None,
        Field(
            help="Of the roofline model, or the .toml file with yours; default: the published ones."
        ),
    ]


class PredictInputs(
    NeededInputs,
    BatchInputs[int | None],
    SizeInputs[int, int | None],
    ChoiceInputs[int | None, str | None],
    CountInputs,
    HowInputs,
    AnswerInputs,
):
    """All that an answer for one step is asked with."""


class SearchedInputs(TypedDict):
    """How many devices a search has."""

    num_gpus: Annotated[int, Field(help="Devices in the job.")]


FITS_WITH = SURE_CHANCE
"""Chance to fit that a layout must have to be ranked, where nobody says it: 0 ranks all whose
counted bytes fit. Where none has it, the fastest of the most likely stands alone."""
NEAR_CHANCE = 0.02
"""Chances this near the best count as it: peaks that were measured tell no finer."""


class RankedInputs(TypedDict, total=False):
    """Which layouts a search ranks."""

    memory_share: Annotated[float, Field(help="Share of the memory that may be used.", default=1.0)]
    fits_with: Annotated[
        float,
        Field(
            help="Chance to fit that a layout must have, such as 0.9; 0 for any.", default=FITS_WITH
        ),
    ]


class SearchInputs(
    NeededInputs,
    BatchInputs[Tried],
    SizeInputs[Tried, Tried],
    ChoiceInputs[Tried, Words],
    SearchedInputs,
    HowInputs,
    AnswerInputs,
    RankedInputs,
):
    """All that a search is asked with: one value, or several to try."""


class EmitInputs(TypedDict, total=False):
    """Which file of a framework a search writes."""

    emit: Annotated[
        str | None,
        Field(help="Framework whose file is made, such as megatron: `emission` of the result."),
    ]
    emit_to: Annotated[str | Path | None, Field(help="Where the file is written; nowhere if None.")]
    choice: Annotated[
        int | None,
        Field(help="Which layout it is of, 1 is the best; the best that it can run if None."),
    ]
    tokens: Annotated[
        float | None, Field(help="Of the whole run, which the file then says in steps.")
    ]


class SearchedAndEmitted(
    NeededInputs,
    BatchInputs[Tried],
    SizeInputs[Tried, Tried],
    ChoiceInputs[Tried, Words],
    SearchedInputs,
    HowInputs,
    AnswerInputs,
    RankedInputs,
    EmitInputs,
):
    """What a search is asked with, and the file to make of it.

    Python 3.11 tells no more of a dictionary made of another than its keys, so all stand here.
    """


class DeviceInputs(TypedDict):
    """What no launch file names."""

    accelerator: Annotated[
        str | Path | Accelerator, Field(help="Preset name, file, or accelerator.")
    ]


class LeftOutInputs(TypedDict, total=False):
    """What a launch file may leave out, and what its launcher adds."""

    settings: Annotated[Mapping[str, str] | None, Field(help="What the launcher sets, by name.")]
    arguments: Annotated[Sequence[str], Field(help="What the script is started with.", default=())]
    model: Annotated[
        str | Path | ModelShape | None, Field(help="In place of the one that the file names.")
    ]
    num_gpus: Annotated[
        int | None, Field(help="Where the file does not say; likewise the next three.")
    ]
    seq_length: Annotated[int | None, Field(help="Tokens per sequence.")]
    global_batch_size: Annotated[int | None, Field(help="Sequences per step.")]
    micro_batch_size: Annotated[int | None, Field(help="Sequences per micro-batch.")]


class MeasuredInputs(TypedDict, total=False):
    """What a run of a launch file gave."""

    measured: Annotated[
        str | float | None,
        Field(help="TFLOP/s of a GPU (296), 11.2s, 950ms, 3500tok/s of the job or 220tok/s/gpu."),
    ]


class ExplainInputs(DeviceInputs, LeftOutInputs, HowInputs, AnswerInputs, MeasuredInputs):
    """What is asked of a launch file."""


class DomainInputs(TypedDict, total=False):
    """Devices and the domains that they stand in."""

    num_gpus: Annotated[int | None, Field(help="Devices in the job; what the sizes make if None.")]
    order: Annotated[str, Field(help="Rank order.", default="megatron")]
    accelerator: Annotated[
        str | Path | Accelerator | None, Field(help="Gives the size of a domain.")
    ]
    domain_size: Annotated[
        int | None,
        Field(help="GPUs in one domain: 8 in a server (where nothing says it), 72 in a rack."),
    ]
    spares_per_domain: Annotated[int, Field(help="GPUs to keep free in each domain.", default=0)]


class PlaceInputs(SizeInputs[int, int | None], DomainInputs):
    """What is asked of a placement."""
