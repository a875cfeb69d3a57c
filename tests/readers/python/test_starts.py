"""Calls that start a recipe in Python, and those that may change it; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import read

STARTS = """
import nemo_run as run
from {} import pretrain
from nemo.collections import llm


def main():
    recipe = llm.llama3_70b.pretrain_recipe(name="x", num_nodes=8, num_gpus_per_node=8)
    {}


main()
"""


@pytest.mark.parametrize(
    ("call", "module", "is_told"),
    [
        ("run.run(recipe, executor=run.LocalExecutor())", "mine", False),
        ("exp.add(recipe, executor=executor)", "mine", False),
        ("pretrain(recipe, step)", "megatron.bridge.training.pretrain", False),
        ("pretrain(recipe, step)", "mine", True),
        ("shorten(recipe)", "mine", True),
    ],
)
def test_what_starts_a_recipe_changes_nothing_of_it(
    tmp_path: Path, call: str, module: str, is_told: bool
) -> None:
    reading = read(tmp_path, "start.py", STARTS.format(module, call))
    told = [note for note in reading.notes if "may change what is read" in note]
    assert told == ([f"line 9: {call} may change what is read"] if is_told else [])
    # Stages of other lengths are the only thing that it is taken to have set, and that is said.
    uneven = [one.why for one in reading.assumptions if one.name == "uneven_stages"]
    assert uneven == [f"stages need not be even: {note}" for note in told]
