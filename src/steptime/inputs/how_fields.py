"""The fields that say on what a step runs: how many devices, their links, the software."""

from collections.abc import Mapping
from typing import Annotated, TypedDict

from steptime.inputs.entries import Field
from steptime.inputs.fact import Value


class CountInputs(TypedDict, total=False):
    """How many devices."""

    num_gpus: Annotated[
        int | None,
        Field(
            flags=("--gpus", "-n"),
            help="GPUs in the job; dp is what the other sizes leave of them.",
            group="device",
            label="GPUs",
        ),
    ]


class HowInputs(TypedDict, total=False):
    """Links and software, which every question may state."""

    nvlink_domain: Annotated[
        int | None,
        Field(
            flags=("--nvlink-domain",),
            help="GPUs joined by NVLink; default: as the accelerator is built.",
            group="device",
            label="domain",
            key="domain",
            most=2**20,
        ),
    ]
    network_gbit: Annotated[
        float | None,
        Field(
            flags=("--network-gbit",),
            help="Gb/s of a GPU's share of the network, one way; default: as in its row.",
            group="device",
            label="network",
            key="net",
            most=10**6,
        ),
    ]
    stack: Annotated[
        str | None,
        Field(
            flags=("--stack",),
            help="Software: an exact stack or a family; `steptime stacks` lists them.",
            group="software",
            label="software",
            key="stack",
        ),
    ]
    date: Annotated[
        str | None,
        Field(
            flags=("--date",),
            help="Month in which the software was current, YYYY-MM.",
            group="software",
            label="date",
            key="date",
        ),
    ]
    facts: Annotated[
        Mapping[str, Value] | None,
        Field(
            flags=("--fact",),
            help="A fact of the software: overlap_dp=0; repeat it. {'overlap_dp': 0} in Python.",
            group="software",
            label="facts",
        ),
    ]
