"""What computing goes to: products, attention, element-wise work, and waits for the host."""

from __future__ import annotations

from typing import Any

from steptime.answer.answer import Prediction
from steptime.answer.question import Question
from steptime.formulas.flops import num_microbatches
from steptime.formulas.records import Passes, Products
from steptime.formulas.roofline.layer import (
    core_s,
    elementwise_s,
    floors_s,
    products_s,
    recomputed_s,
    tokens_per_device,
)
from steptime.formulas.roofline.modules import modules_again_s
from steptime.formulas.roofline.stages import head_s, longer_chunks, pace
from steptime.formulas.roofline.step import layer_parts
from steptime.formulas.roofline.vocabulary import vocabulary_s
from steptime.inputs.constants import RooflineConstants

_NO_PASSES: Passes = {"forward": 0.0, "backward": 0.0}
_NO_PRODUCTS: Products = {**_NO_PASSES, "attention_forward": 0.0, "down_forward": 0.0}


def compute_kinds(
    prediction: Prediction, constants: RooflineConstants | None = None
) -> dict[str, float] | None:
    """Return the kinds that a prediction's computing and recomputing are made of, in seconds.

    What is recomputed belongs to its own kind, as a trace shows it.

    Args:
        prediction: Of the roofline model.
        constants: It was made with; the published ones if None.

    Returns:
        ``products``, ``attention``, ``elementwise`` and ``host``; None for another model, which
        does not tell them apart.
    """
    question = Question(step=prediction.step, predictor=prediction.predictor, constants=constants)
    known = question.known()
    if not known.predictor.uses_software:
        return None
    job, used = prediction.record, known.constants
    stack: Any = prediction.software.time
    count: Any = num_microbatches(job)
    tokens = tokens_per_device(job)
    layer = layer_parts(job, stack, used, count)
    head = head_s(job, stack, used, tokens)
    ends = vocabulary_s(job, stack, used, tokens)
    floors = floors_s(job, stack)
    stage = pace(job, stack, layer["total"], ends["first"], head + ends["last"], floors)
    products, core = products_s(job, stack, used, tokens), core_s(job, stack, used, tokens)
    other = elementwise_s(job, stack, used, tokens)
    again = {
        "products": recomputed_s(job, stack, products, _NO_PASSES, _NO_PASSES),
        "attention": recomputed_s(job, stack, _NO_PRODUCTS, core, _NO_PASSES),
        "elementwise": recomputed_s(job, stack, _NO_PRODUCTS, _NO_PASSES, other)
        + modules_again_s(job, stack, used, tokens),
    }
    products_all = layer["products"] + again["products"]
    each, longer = count * stage["layers"], longer_chunks(job)
    return {
        "products": float((each * products_all + count * stage["heads"] * head) * longer),
        "attention": float(each * (layer["attention"] + again["attention"]) * longer),
        "elementwise": float(each * (layer["elementwise"] + again["elementwise"]) * longer),
        "host": float(count * stage["held_s"] * longer),
    }
