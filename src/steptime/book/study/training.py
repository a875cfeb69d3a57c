"""§16: data and pipeline parallelism, and all three at once, claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steptime.book.study.claims import Claim, Slices, cut, sent_bytes, slices, trained, tried
from steptime.formulas.bubble import bubble_overhead
from steptime.formulas.traffic import pipeline_messages_per_step, tensor_all_reduces_per_layer
from steptime.parallel import data, fully_sharded, pipeline, transformer
from steptime.parallel.training import Training, TrainingRun

ADAM_ARRAYS = 3.0
"""Weights and two moments, all of the same size here."""


DATA_CLAIMS = (
    "plain: gradients added up once a step",
    "ZeRO-1: the same bytes in two halves",
    "ZeRO-2: gradients sent in every micro-batch",
    "ZeRO-3: weights gathered twice in every micro-batch",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One number of the step model beside the same one counted in a compiled program.

    Attributes:
        text: What is counted.
        model: By the step model.
        compiled: As counted.
    """

    text: str
    model: float
    compiled: float

    @property
    def equal(self) -> bool:
        """Whether both are the same."""
        return self.model == self.compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStudy:
    """What §16 shows.

    Attributes:
        data: Data-parallel trainings, and one pass with sharded weights.
        merged: The same sharded weights, a whole step in one program.
        pipeline: GPipe.
        three: Tensor, pipeline and data parallelism at once.
        checks: Numbers of the step model, counted.
        slices: Which device holds what of the three-way transformer.
        alone: The same of each parallelism by itself.
    """

    data: Sequence[Claim]
    merged: Claim
    pipeline: Claim
    three: Claim
    checks: Sequence[Check]
    slices: Sequence[Slices]
    alone: Sequence[Slices]

    @property
    def alone_sent(self) -> list[tuple[str, np.ndarray]]:
        """Name and bytes from each device to each other, of each parallelism by itself."""
        named = (
            ("data parallel", self.data[0]),
            ("ZeRO-3", self.data[3]),
            ("GPipe", self.pipeline),
        )
        return [(name, sent_bytes(claim)) for name, claim in named]

    @property
    def claims(self) -> list[Claim]:
        """Everything that should come out equal."""
        return [*self.data, self.pipeline, self.three]

    @property
    def merged_gathers(self) -> tuple[int, int]:
        """Gathers of weights in a step of ZeRO-3, by the formula and compiled as one program."""
        gathers = [line for line in self.merged.lines if line.kind == "all_gather"]
        return sum(line.formula for line in gathers), sum(line.measured for line in gathers)

    @property
    def losses(self) -> Sequence[float]:
        """Losses of the three-way transformer, step by step."""
        return self.three.run.losses if isinstance(self.three.run, TrainingRun) else ()

    @property
    def sent(self) -> np.ndarray:
        """Bytes from each device to each other in a step of the three-way transformer."""
        return sent_bytes(self.three)


def training_study(
    *,
    tensor_parallel_size: int,
    pipeline_parallel_size: int,
    data_parallel_size: int,
    hidden_size: int,
    num_layers: int,
    num_attention_heads: int,
    vocab_size: int,
    num_microbatches: int,
    seq_length: int,
    num_steps: int,
) -> TrainingStudy:
    """Return every claim about data and pipeline parallelism, run.

    Args:
        tensor_parallel_size: t of the three-way transformer.
        pipeline_parallel_size: Its p. GPipe alone runs on twice as many stages.
        data_parallel_size: Its d. Data parallelism alone runs on twice as many devices.
        hidden_size: Width of the residual stream, h.
        num_layers: Layers, l; twice as many for GPipe alone.
        num_attention_heads: Heads of the transformer.
        vocab_size: Its vocabulary, V.
        num_microbatches: Micro-batches per step, m.
        seq_length: Tokens of a sequence, s.
        num_steps: Steps of each training.

    Raises:
        ConfigError: If the sizes cannot be cut so.
    """
    steps = {"num_microbatches": num_microbatches, "num_steps": num_steps}
    width: dict[str, Any] = {"hidden_size": hidden_size, "num_layers": num_layers}
    trainings, sharded = data_claims(2 * data_parallel_size, width, steps)
    twice = width | {"num_layers": 2 * num_layers, "seq_length": seq_length}
    piped = tried(
        "GPipe: each boundary crossed m times each way",
        pipeline.blocks(
            pipeline_parallel_size=2 * pipeline_parallel_size,
            num_microbatches=num_microbatches,
            **twice,
        ),
    )
    three = trained(
        "transformer, three ways at once",
        transformer.training(
            tensor_parallel_size=tensor_parallel_size,
            pipeline_parallel_size=pipeline_parallel_size,
            data_parallel_size=data_parallel_size,
            num_attention_heads=num_attention_heads,
            vocab_size=vocab_size,
            seq_length=seq_length,
            **width,
            **steps,
        ),
    )
    return TrainingStudy(
        data=[*trainings[:3], sharded],
        merged=trainings[3],
        pipeline=piped,
        three=three,
        checks=[
            *(state_check(claim) for claim in trainings),
            *step_checks(piped, three, pipeline_parallel_size, num_layers, num_microbatches),
        ],
        slices=three_way_slices(three.program),
        alone=alone_slices(trainings, piped),
    )


def data_claims(
    data_parallel_size: int, width: dict[str, Any], steps: dict[str, int]
) -> tuple[list[Claim], Claim]:
    """Return data-parallel trainings by ZeRO stage, and one pass with sharded weights.

    Args:
        data_parallel_size: Devices, d.
        width: Hidden size and layers.
        steps: Micro-batches per step, and steps.
    """
    sizes = {"data_parallel_size": data_parallel_size} | width
    trainings = [
        trained(text, data.training(zero_stage=stage, **sizes, **steps))
        for stage, text in enumerate(DATA_CLAIMS)
    ]
    return trainings, tried(DATA_CLAIMS[3], fully_sharded.blocks(**sizes))


def state_check(claim: Claim) -> Check:
    """Return the bytes of weights and moments that a device keeps between steps.

    Args:
        claim: A data-parallel training.
    """
    run, facts = claim.run, claim.program.facts
    whole = 8.0 * facts["num_parameters"]
    sharded = (0.0, 2.0, 2.0, ADAM_ARRAYS)[facts["zero_stage"]]
    size = claim.program.mesh.devices.size
    return Check(
        text=f"{claim.program.name}: bytes of weights and moments on a device",
        model=whole * (ADAM_ARRAYS - sharded + sharded / size),
        # The count of steps is one number of 8 bytes.
        compiled=float(run.state_bytes - 8) if isinstance(run, TrainingRun) else float("nan"),
    )


def step_checks(
    piped: Claim, three: Claim, num_stages: int, num_layers: int, num_microbatches: int
) -> list[Check]:
    """Return the step model's counts of messages, beside those compiled.

    Args:
        piped: GPipe.
        three: The three-way transformer.
        num_stages: Its stages, p.
        num_layers: Its layers, l.
        num_microbatches: Micro-batches per step, m.
    """
    m, p = float(num_microbatches), float(num_stages)
    sends = [line for line in piped.lines if line.kind == "send"]
    in_layers = [line for line in three.lines if line.axis == "tp"][:2]
    useful = m * (num_layers / p) * tensor_all_reduces_per_layer(0.0)
    return [
        Check(
            text="GPipe: messages that a middle stage sends in a step",
            model=float(pipeline_messages_per_step(m, 1.0)),
            compiled=float(sum(line.measured for line in sends if line.axis.startswith("pp 1→"))),
        ),
        Check(
            text="three ways: all-reduces in layers, bubble included",
            model=float(useful * (1.0 + bubble_overhead(p, m, 1.0))),
            compiled=float(sum(line.measured for line in in_layers)),
        ),
    ]


def three_way_slices(built: Any) -> list[Slices]:
    """Return who holds what of the three-way transformer.

    Args:
        built: The training.
    """
    views = {"embedding": (0, 1), "w_in": (0, 2), "w_out": (0, 1), "head": (0, 2)}
    found = [tokens_slice(built)]
    for name, view in views.items():
        spec, shape = built.state_specs["weights"][name], built.state["weights"][name].shape
        found.append(cut(built.mesh, name, shape, spec, view))
    return found


def alone_slices(trainings: Sequence[Claim], piped: Claim) -> list[Slices]:
    """Return who holds what under data parallelism and in a pipeline, each by itself.

    Args:
        trainings: Data-parallel trainings, by ZeRO stage.
        piped: GPipe.
    """
    found = []
    for name, stage, part in (
        ("weights, plain", 0, "weights"),
        ("moments, ZeRO-1", 1, "mean"),
        ("weights, ZeRO-3", 3, "weights"),
    ):
        built: Any = trainings[stage].program
        shape = built.state[part]["layers"].shape
        found.append(cut(built.mesh, name, shape, built.state_specs[part]["layers"], (0, 1)))
    layers = slices(piped.block, {"layers": (0, 1)}, ", GPipe")
    return [*found, *layers]


def tokens_slice(built: Training) -> Slices:
    """Return who holds which sequences of a micro-batch."""
    shape = built.batches[0]["tokens"].shape
    return cut(built.mesh, "tokens", shape, built.batch_specs["tokens"], (1, 2))
