"""What a search of the page tries with named software: asked of the package beforehand.

The page fetches it with the first software or month that somebody states. Which layouts software
runs stands in ``data/abilities.toml``, and `Question` keeps to it; here it is asked once for each
ability that there is.
"""

from __future__ import annotations

import functools
from typing import Any

from steptime.book.decided import Decisions, Values
from steptime.book.explorer_software import GENERATION, MAYBE, NAME, device_of, said_of
from steptime.inputs.ability import Ability, ability_of
from steptime.inputs.counted import OF_ROWS
from steptime.inputs.errors import ConfigError
from steptime.inputs.habits import zero_stages
from steptime.inputs.presets import accelerator, accelerator_names, model
from steptime.inputs.said import Said, in_its_time
from steptime.planning.evaluate import rule_of
from steptime.planning.question import TRIED_ZERO, Question

PLAIN = "llama3-8b"
"""A model that any software trains: what is tried does not depend on it."""


def question_of(said: Said) -> Question:
    """Return a question that leaves open all that software may close.

    Args:
        said: Of the software, which some device runs.
    """
    for name in accelerator_names():
        try:
            return Question(
                model=model(PLAIN),
                accelerator=accelerator(name),
                num_devices=1,
                global_batch_size=1,
                seq_length=1024,
                said=said,
            )
        except ConfigError:
            continue
    raise ConfigError(f"no device runs {said}")


def tried_with(said: Said) -> dict[str, Any]:
    """Return what is tried with some software.

    Args:
        said: Of the software.
    """
    asked = question_of(said)
    return {
        "schedules": list(asked.schedules),
        "recompute": list(asked.recompute),
        "sequence": [float(one) for one in asked.sequence_parallel],
        "sizes": {name: list(sizes) for name, sizes in asked.pinned},
        "beside": [
            {
                **{"of": limit.of, "least": limit.least, "most": limit.most},
                **{"above": limit.above, "counts": limit.counts},
                **{"switched": limit.of not in OF_ROWS, "rule": rule_of(limit)},
            }
            for limit in ability_of(said).beside()
        ],
    }


@functools.cache
def tries_data() -> dict[str, Any]:
    """Return the tables, ready to be JSON; nobody may change them."""
    tables = Decisions()
    every: dict[Ability, int] = {}
    tried: list[dict[str, Any]] = []

    def runs(values: Values) -> dict[str, int]:
        said = said_of(values)
        ability = ability_of(said)
        if ability not in every:
            every[ability] = len(tried)
            tried.append(tried_with(said))
        return {"tried": every[ability]}

    def zero(values: Values) -> dict[str, Any]:
        said = in_its_time(said_of(values), device_of(values["generation"]))
        return {"zero": list(zero_stages(said, TRIED_ZERO))}

    places = {
        "runs": tables.add([NAME, MAYBE], runs),
        "zero": tables.add([NAME, GENERATION, MAYBE], zero),
    }
    return {"places": places, "nodes": tables.nodes, "tried": tried}
