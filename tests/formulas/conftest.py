"""What several tests of formulas ask of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from steptime.formulas.records import MemoryFacts
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.software import software


@pytest.fixture(scope="session")
def memory_facts() -> Callable[..., MemoryFacts]:
    """Return what gives the facts that a named stack keeps, with any of them changed.

    They are those of a dense model in bf16: few lines hold for experts or 8 bits alone.
    """

    def named(stack: str, **changes: float) -> MemoryFacts:
        said = Said(stack=stack)
        one = software(said, accelerator("h100"), model("llama3-8b"), "bf16", False)
        return replace(one.memory, **changes)

    return named
