"""§18: memory figures that papers and software state, beside what the formulas give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steptime.formulas.memory import activations, stored
from steptime.formulas.memory.states import state_terms
from steptime.formulas.records import MemoryFacts
from steptime.inputs.job import Job
from steptime.inputs.training_step import training_step


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """One figure that a source states, and what the formulas give.

    Attributes:
        source: Key in ``references.bib`` and place in it.
        what: The quantity.
        unit: Of both values.
        stated: As the source prints it.
        model: By the formulas.
        digits: Decimals that the source prints, -1 where it says about so many tens.
    """

    source: str
    what: str
    unit: str
    stated: float
    model: float
    digits: int

    @property
    def agrees(self) -> bool:
        """Return whether the formulas give the figure to its last digit, rounded or cut off."""
        one = 10.0**-self.digits
        rounded = abs(self.model - self.stated) <= 0.5 * one * (1.0 + 1e-9)
        return rounded or (self.digits >= 0 and 0.0 <= self.model - self.stated < one)


_GB = "GB"
_BYTES = "bytes a parameter"
_PERCENT = "%"
# Weights and gradients in 16 bits, 12 bytes of optimizer: rajbhandari2020, Sec. 3.1.
_ZERO = MemoryFacts(gradient_bytes=2.0)
# rajbhandari2020, Table 1: billions of parameters; copies; GB at stages 1, 2 and 3.
_ZERO_TABLE = (
    (7.5, 4, (52.5, 41.3, 30.0)),
    (7.5, 16, (35.6, 21.6, 7.5)),
    (7.5, 64, (31.4, 16.6, 1.88)),
    (7.5, 1024, (30.1, 15.1, 0.12)),
    (128.0, 64, (536.0, 284.0, 32.0)),
    (1000.0, 64, (4187.0, 2218.0, 250.0)),
    (1000.0, 1024, (4011.0, 2013.0, 15.6)),
)
# megatronlm2026, dist_optimizer.md: what is held, and its bytes whole and shared by d ranks.
_MEGATRON_TABLE: tuple[tuple[str, dict[str, float], int, int], ...] = (
    ("16-bit weights and gradients", {"gradient_bytes": 2.0, "update_bytes": 4.0}, 4, 16),
    ("16-bit weights, 32-bit gradients", {}, 6, 12),
    ("32-bit weights and gradients", {"weight_bytes": 4.0, "master_bytes": 0.0}, 8, 8),
)
_PAPER = MemoryFacts(flash=0.0, dropout=1.0)
_GPTS = (("gpt-22b", "22B"), ("gpt3-175b", "175B"), ("mt-nlg-530b", "530B"))


def _decimals(value: float) -> int:
    return len(f"{value:g}".partition(".")[2])


def _copies(zero: int, ranks: int) -> Job:
    return training_step(
        model="llama2-7b",
        accelerator="a100-80gb",
        dp=ranks,
        zero_stage=zero,
        seq_length=2048,
        global_batch_size=ranks,
    ).job()


def _zero_claims() -> Iterator[Stated]:
    for billions, ranks, sizes in _ZERO_TABLE:
        for zero, size in enumerate(sizes, start=1):
            yield Stated(
                source="rajbhandari2020, Table 1",
                what=f"{billions:g} billion parameters, {ranks:,} copies, stage {zero}",
                unit=_GB,
                stated=size,
                model=billions * float(state_terms(_copies(zero, ranks), _ZERO)["all"]),
                digits=_decimals(size),
            )


def _megatron_claims() -> Iterator[Stated]:
    ranks = 16
    for what, changes, alone, shared in _MEGATRON_TABLE:
        facts = MemoryFacts(**changes)
        for zero, total in ((0, alone + shared), (1, alone + shared / ranks)):
            yield Stated(
                source="megatronlm2026, dist_optimizer.md",
                what=f"{what}, {f'shared by {ranks}' if zero else 'each rank for itself'}",
                unit=_BYTES,
                stated=total,
                model=float(state_terms(_copies(zero, ranks), facts)["all"]),
                digits=_decimals(total),
            )


def _gpt(model: str, **changes: float) -> Job:
    step = training_step(
        model=model,
        accelerator="a100-80gb",
        tp=8,
        sequence_parallel=False,
        seq_length=2048,
        global_batch_size=1,
    )
    return replace(step.job(), **changes)


def _layer(record: Job) -> float:
    """Return bytes a token that a layer keeps."""
    per_token = activations.token_bytes(record, _PAPER)
    return float(stored.layer_token_bytes(record, per_token)["dense"])


def _activation_claims() -> Iterator[Stated]:
    for (model, name), saved in zip(_GPTS[1:], (70, 65), strict=True):
        alone = _gpt(model, tp=1.0)
        kept = _layer(replace(alone, recompute_selective=1.0)) / _layer(alone)
        yield Stated(
            source="korthikanti2022, Sec. 5",
            what=f"GPT {name}: a layer's activations that selective recomputation saves",
            unit=_PERCENT,
            stated=saved,
            model=100.0 * (1.0 - kept),
            digits=0,
        )
    for model, name in _GPTS:
        plain, full = _gpt(model), 2.0 * float(_gpt(model).hidden_size)
        both = replace(plain, sequence_parallel=1.0, recompute_selective=1.0)
        for what, part, about in (
            ("selective recomputation and sequence parallelism keep", _layer(both), 20.0),
            ("full recomputation keeps", full, 10.0),
        ):
            yield Stated(
                source="korthikanti2022, Fig. 7 (about)",
                what=f"GPT {name}, t = 8: {what}",
                unit=_PERCENT,
                stated=about,
                model=100.0 * part / _layer(plain),
                digits=-1,
            )
    boundary = activations.token_bytes(_gpt("mt-nlg-530b", tp=1.0), _PAPER)["boundary"]
    yield Stated(
        source="korthikanti2022, App. B",
        what="GPT 530B: outputs already sent, 35 micro-batches in flight",
        unit="GiB",
        stated=2.73,
        model=float(boundary) * 2048.0 * 35.0 / 2.0**30,
        digits=2,
    )


def stated_figures() -> tuple[Stated, ...]:
    """Return what papers and software state of memory, beside what the formulas give.

    References:
        rajbhandari2020, Table 1; megatronlm2026, dist_optimizer.md; korthikanti2022, Sec. 5,
        Fig. 7 and App. B.
    """
    return (*_zero_claims(), *_megatron_claims(), *_activation_claims())
