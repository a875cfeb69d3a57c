"""What the search of the page knows beside the explorer's data: what is tried, words, tables."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from steptime.answer.predictor import PREDICTORS
from steptime.answer.width import logit
from steptime.inputs.face import FITS_WITH, NEAR_CHANCE
from steptime.inputs.fields import BY_NAME
from steptime.inputs.no_shapes import INSTEAD_ON_PAGE
from steptime.planning.cuts import RUN_FIELDS, SIZE_FIELDS
from steptime.planning.evaluate import HEADS_LEFT, REASONS
from steptime.planning.question import TRIED_SCHEDULES, TRIED_ZERO, Question
from steptime.planning.result import tie_fraction_of
from steptime.planning.search import NOT_SURE, TOO_MANY_STAGES, TOO_MUCH_MEMORY
from steptime.planning.space import COPIES, ROW_FIELDS
from steptime.readers.huggingface.config_keys import LARGEST_SIZE
from steptime.readers.huggingface.families import FAMILIES, Family
from steptime.readers.huggingface.family_names import (
    CLASSES,
    INNER,
    REFUSED_FAMILIES,
    REFUSED_KEYS,
    TOWERS,
    WRAPPERS,
)

CHANCES = (0.0, 0.5, FITS_WITH, 0.99)
"""Chances to fit that a reader may ask for; 0 for any layout whose counted bytes fit."""


_COLUMNS = ("tp", "cp", "pp", "vpp", "dp", "ep", "micro_batch_size", "zero_stage")
"""Fields that the table of the fastest shows, where they are not alike in all."""
_WORDS = {field.name: field.word for field in BY_NAME.values() if field.word}
_MODEL_WORDS = {"num_experts": "experts"}
"""Sizes of a model that a reason may name."""


def search_data() -> dict[str, Any]:
    """Return what a search tries where nobody says it, and the words for what fell out."""
    usual: dict[str, Any] = {field.name: field.default for field in fields(Question)}
    return {
        "recompute": usual["recompute"],
        "zero": TRIED_ZERO,
        "sequence": [float(one) for one in usual["sequence_parallel"]],
        "copies": COPIES,
        "size_fields": SIZE_FIELDS,
        "run_fields": RUN_FIELDS,
        "row_fields": ROW_FIELDS,
        "row_keys": [BY_NAME[name].label for name in ROW_FIELDS],
        "columns": [[BY_NAME[name].key or BY_NAME[name].label, _WORDS[name]] for name in _COLUMNS],
        "words": _WORDS | _MODEL_WORDS,
        "schedules": TRIED_SCHEDULES,
        "reasons": REASONS,
        "rules": {"heads": HEADS_LEFT},
        "too_many": TOO_MANY_STAGES,
        "too_much": TOO_MUCH_MEMORY,
        "not_sure": NOT_SURE,
        "chances": [{"chance": one, "scales": logit(one) if one else None} for one in CHANCES],
        "near_chance": NEAR_CHANCE,
        "ties": {name: tie_fraction_of(name) for name in PREDICTORS},
    }


def reader_tables() -> dict[str, Any]:
    """Return the tables of the reader of ``config.json``; a family names what is its own."""
    plain = asdict(Family())
    sentences = sorted({*REFUSED_FAMILIES.values(), *REFUSED_KEYS.values()})
    return {
        "plain": plain,
        "families": {
            name: {key: value for key, value in asdict(one).items() if value != plain[key]}
            for name, one in FAMILIES.items()
        },
        "classes": CLASSES,
        "inner": INNER,
        "wrappers": WRAPPERS,
        "towers": TOWERS,
        "sentences": sentences,
        "refused_families": {key: sentences.index(why) for key, why in REFUSED_FAMILIES.items()},
        "refused_keys": {key: sentences.index(why) for key, why in REFUSED_KEYS.items()},
        "instead": INSTEAD_ON_PAGE,
        "largest": LARGEST_SIZE,
    }
