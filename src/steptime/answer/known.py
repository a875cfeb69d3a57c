"""All that goes into the formulas beside the layout: model, software, constants, widths.

Two layouts of one question differ in numbers alone, but for one thing: where data-parallel
ranks share the weights, other software is assumed. So there are two kinds of software at most,
and `Known.software_of` says which of them a layout runs on.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from steptime.answer.predictor import PREDICTORS, Predictor
from steptime.answer.width import kept_peak_width, kept_width, kind_of, logit, widened
from steptime.formulas.judgement import fit_probability, most_bytes, shares_weights
from steptime.formulas.number import Number
from steptime.formulas.records import PeakWidth, Width
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, taken
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import RooflineConstants, published_constants
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.generation import Share, generations
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_named
from steptime.inputs.rank_order import ORDERS, rank_order
from steptime.inputs.said import Said
from steptime.inputs.software import Software, check_known, knows, software

DEFAULT, WITHOUT_RATES = "roofline", "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What does not change with the layout.

    Attributes:
        predictor: The model of the step time.
        plain: Software where weights stay whole.
        sharing: Software where data-parallel ranks share them; the same where it is named.
        constants: Of the predictor, as its formula takes them.
        width: Of the interval, by what is known of the software; None without one.
        peak_width: How measured peaks of memory lie about predicted ones, likewise.
        assumed: What was taken for granted of device and model.
    """

    predictor: Predictor
    plain: Software
    sharing: Software
    constants: Any
    width: Width | None
    peak_width: PeakWidth | None
    assumed: tuple[Assumed, ...]

    def software(self, sharing: bool) -> Software:
        """Return one of the two kinds of software.

        Args:
            sharing: Whether data-parallel ranks share the weights.
        """
        return self.sharing if sharing else self.plain

    def software_of(self, record: Any) -> Software:
        """Return the software that one layout runs on.

        Args:
            record: Its flat record, of floats.
        """
        return self.software(bool(shares_weights(record) > 0.0))

    def parts(self, record: Any, one: Software) -> dict[str, Number]:
        """Return the seconds of each part of a step.

        Args:
            record: Flat record, of floats or of arrays.
            one: The software that all of it runs on.
        """
        if self.predictor.uses_software:
            return dict(self.predictor.parts(record, one.time, self.constants))
        return dict(self.predictor.parts(record, self.constants))

    def slowest_s(self, record: Any, one: Software, step_s: float) -> float:
        """Return the step with nothing hidden, where the interval is to hold that.

        Args:
            record: Flat record, of floats.
            one: The software.
            step_s: With what it is taken to hide: returned where that is known.
        """
        if self.width is None or not self.width.unhidden:
            return step_s
        parts = self.predictor.parts(record, one.unhidden, self.constants)
        return float(self.predictor.total(parts))

    def chance(self, total_bytes: float, limit_bytes: float) -> float | None:
        """Return the chance that a measured peak fits; None where too few peaks are known.

        Args:
            total_bytes: Predicted for the fullest device.
            limit_bytes: What it has.
        """
        if self.peak_width is None:
            return None
        return float(fit_probability(self.peak_width, total_bytes, limit_bytes))

    def fitting_bytes(self, chance: float, limit_bytes: float) -> float:
        """Return up to which prediction a layout fits with a chance; the limit where none is known.

        Args:
            chance: At least 0, below 1.
            limit_bytes: What a device has; never more is returned.
        """
        if self.peak_width is None or chance <= 0.0:
            return limit_bytes
        return min(limit_bytes, float(most_bytes(self.peak_width, logit(chance), limit_bytes)))


def default_predictor(device: Accelerator) -> str:
    """Return the better model that knows a device: roofline, or else the baseline.

    Args:
        device: The accelerator.
    """
    return DEFAULT if knows(device) else WITHOUT_RATES


def check_order(order: str, predictor: str) -> None:
    """Refuse a rank order that a model does not know.

    Args:
        order: As in `steptime.inputs.rank_order.rank_order`.
        predictor: Name of the model.

    Raises:
        ConfigError: If it places ranks otherwise.
    """
    axes = rank_order(order)
    if not PREDICTORS[predictor].any_order and axes != ORDERS["megatron"]:
        raise ConfigError(
            f"the roofline model places ranks as Megatron-LM does, not {order!r}; "
            "use --predictor baseline for another order"
        )


def check_bits(predictor: str, precision: str) -> None:
    """Refuse products in fewer bits than a model's constant was fitted in.

    Args:
        predictor: Name of the model.
        precision: Of the products.

    Raises:
        ConfigError: If it says nothing of them.
    """
    if PREDICTORS[predictor].sixteen_bits_only and precision_named(precision).fp8:
        raise ConfigError(
            f"the baseline's one constant was fitted in 16 bits, not {precision}; "
            "use --predictor roofline"
        )


def doubtful_share(device: Accelerator, bits: int, used: RooflineConstants) -> Share | None:
    """Return the share of the matrix rate that is taken, where no run stands behind it.

    Args:
        device: The accelerator.
        bits: Of the products.
        used: The constants; a share that a user gave is not doubted.
    """
    published = published_constants()
    near = published.bits_taken(device.generation, bits)
    share = generations()[device.generation].efficiency[near]
    of_published = published.of(device.generation, bits).efficiency
    given = used.of(device.generation, bits).efficiency != of_published
    return None if given or (near == bits and share.fitted) else share


def _share_assumed(device: Accelerator, bits: int, share: Share) -> tuple[Assumed, ...]:
    """Return what is said of a share that no run stands behind."""
    near = published_constants().bits_taken(device.generation, bits)
    whose = f"the share in {near} bits" if near != bits else share.source
    why = f"no run in {bits} bits on {device.generation} was compared, {whose}"
    return (taken("efficiency", share.value, why, "--constants"),)


def _assumed(device: Accelerator, predictor: str | None) -> tuple[Assumed, ...]:
    found = []
    if predictor is None and not knows(device):
        measured = device.matmul_flop_per_s > 0.0
        lacks = "compared runs on the kin of" if measured else "measured matrix products of"
        share = f"{100.0 * baseline_constants().eta:.0f} % of the peak at any size"
        why = f"nobody {lacks} {device.name}; its products run at {share}, and hosts take no time"
        found.append(taken("predictor", WITHOUT_RATES, why, "--predictor"))
    if device.caution:
        found.append(taken("accelerator", device.name, device.caution))
    return tuple(found)


def peak_knowledge(said: Said, model: ModelShape) -> str:
    """Return how much is known of what the software keeps in memory.

    What a model's own report says of it is taken where nobody names another: that is as much as
    naming the stack that was described for it.

    Args:
        said: Of the software.
        model: ``trained_with`` is a key of ``data/stacks.toml``.
    """
    if said.stack is None and model.trained_with:
        return Said(stack=model.trained_with).knowledge
    return said.knowledge


@functools.lru_cache(maxsize=1024)
def known_of(
    model: ModelShape,
    device: Accelerator,
    precision: str,
    said: Said,
    predictor: str | None = None,
    constants: RooflineConstants | None = None,
) -> Known:
    """Return all that does not change with the layout.

    Args:
        model: The shape.
        device: The accelerator.
        precision: Of the products.
        said: What is said of the software.
        predictor: A name of ``PREDICTORS``; the better one that knows the device if None.
        constants: Of the roofline model; the published ones if None.

    Raises:
        ConfigError: If a name is unknown, or the model says nothing of this device.
    """
    name = default_predictor(device) if predictor is None else predictor
    chosen = PREDICTORS[check_choice("predictor", name, PREDICTORS)]
    check_bits(name, precision)
    plain, sharing = (
        software(said, device, model, precision, sharded) for sharded in (False, True)
    )
    values: Any = baseline_constants()
    narrow = precision_named(precision)
    kind = kind_of(model.experts is not None, narrow.fp8)
    width = None
    assumed = _assumed(device, predictor)
    if chosen.uses_software:
        check_known(device)
        used = constants or published_constants()
        values = used.of(device.generation, narrow.bits)
        width = kept_width(kind, said.knowledge)
        share = doubtful_share(device, narrow.bits, used)
        if share is not None:
            assumed += _share_assumed(device, narrow.bits, share)
            width = None if width is None else widened(width, share.doubt)
    return Known(
        predictor=chosen,
        plain=plain,
        sharing=sharing if said.stack is None else plain,
        constants=values,
        width=width,
        peak_width=kept_peak_width(peak_knowledge(said, model)),
        assumed=assumed,
    )
