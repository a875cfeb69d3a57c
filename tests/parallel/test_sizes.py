"""Hostile sizes: every builder refuses them in one line, before it compiles or allocates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.parallel import (
    context,
    data,
    expert,
    fully_sharded,
    layer,
    pipeline,
    tensor,
    transformer,
    vocabulary,
)
from steptime.parallel.sizes import check_room, divides

BATCH = {"micro_batch_size": 1, "seq_length": 4}
CUT = {"tensor_parallel_size": 2, "hidden_size": 4}
BUILDERS: list[tuple[Callable[..., Any], dict[str, int], dict[str, str]]] = [
    (tensor.feed_forward, CUT | BATCH | {"ffn_hidden_size": 8}, {}),
    (tensor.attention, CUT | BATCH | {"num_attention_heads": 2, "num_query_groups": 2}, {}),
    (vocabulary.embedding, CUT | BATCH | {"vocab_size": 4}, {}),
    (vocabulary.loss, CUT | BATCH | {"vocab_size": 4}, {}),
    (layer.layer, CUT | BATCH | {"num_attention_heads": 2}, {}),
    (
        context.attention,
        BATCH
        | {
            "context_parallel_size": 2,
            "num_attention_heads": 2,
            "num_query_groups": 2,
            "head_dim": 2,
        },
        {"form": "ring", "order": "zigzag"},
    ),
    (
        expert.mixture,
        {
            "expert_parallel_size": 2,
            "num_experts": 4,
            "hidden_size": 4,
            "expert_ffn_hidden_size": 4,
            "tokens_per_device": 4,
        },
        {"kind": "gshard"},
    ),
    (
        data.training,
        {
            "data_parallel_size": 2,
            "num_layers": 1,
            "hidden_size": 4,
            "num_microbatches": 1,
            "micro_batch_size": 1,
            "num_steps": 1,
        },
        {},
    ),
    (fully_sharded.blocks, {"data_parallel_size": 2, "num_layers": 1, "hidden_size": 4}, {}),
    (
        pipeline.blocks,
        BATCH
        | {
            "pipeline_parallel_size": 2,
            "num_layers": 2,
            "hidden_size": 4,
            "num_microbatches": 1,
        },
        {},
    ),
    (
        transformer.training,
        CUT
        | BATCH
        | {
            "pipeline_parallel_size": 2,
            "data_parallel_size": 2,
            "num_layers": 2,
            "num_attention_heads": 2,
            "vocab_size": 4,
            "num_microbatches": 1,
            "num_steps": 1,
        },
        {},
    ),
]


@pytest.mark.parametrize(
    ("build", "sizes", "names"), BUILDERS, ids=lambda one: getattr(one, "__module__", None)
)
def test_no_size_is_taken_on_trust(
    build: Callable[..., Any], sizes: dict[str, int], names: dict[str, str]
) -> None:
    build(**sizes, **names)
    for name in sizes:
        for bad in (0, -1, 2.5, float("nan"), True, None, "8", 10**7, 10**30):
            with pytest.raises(ConfigError) as refused:
                build(**sizes | {name: bad}, **names)
            assert "\n" not in str(refused.value)


def test_what_would_fit_is_named() -> None:
    with pytest.raises(ConfigError, match="tensor_parallel_size=4 would"):
        divides("tensor_parallel_size", 6, "num_attention_heads", 8)
    assert divides("tensor_parallel_size", 4, "num_attention_heads", 8) == 2


def test_arrays_beyond_the_room_are_refused() -> None:
    check_room("scores", [(1024, 1024)])
    with pytest.raises(ConfigError, match=r"scores would have 1\.1e\+12 entries"):
        check_room("scores", [(1024, 1024), (2**20, 2**20)])
