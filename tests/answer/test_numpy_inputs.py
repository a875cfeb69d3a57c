"""Numbers of NumPy are numbers: sweeps in notebooks hand them over."""

from typing import Any

import numpy as np
import pytest

import steptime
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape

ASKED: dict[str, Any] = {"model": "llama3-8b", "accelerator": "h100"}
BATCH: dict[str, Any] = {"seq_length": 4096, "global_batch_size": 64}


def test_an_answer_is_that_of_pythons_numbers() -> None:
    plain = steptime.predict(**ASKED, **BATCH, tp=2, network_gbit=400, facts={"overlap_dp": 0.0})
    other = {name: np.int64(value) for name, value in BATCH.items()}
    facts = {"overlap_dp": np.float32(0)}
    found = steptime.predict(
        **ASKED, **other, tp=np.int64(2), network_gbit=np.float32(400), facts=facts
    )
    assert found.step_time_s == plain.step_time_s
    assert found == plain


def test_a_search_tries_what_an_array_holds() -> None:
    plain = steptime.search(**ASKED, **BATCH, num_gpus=8, tp=(1, 2))
    for tried in (np.array([1, 2]), [np.int32(1), np.int64(2)], range(1, 3)):
        found = steptime.search(**ASKED, **BATCH, num_gpus=np.int64(8), tp=tried)
        assert [one.layout for one in found.best] == [one.layout for one in plain.best]


def test_a_shape_keeps_pythons_numbers() -> None:
    sizes = ("num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads")
    shape = ModelShape(
        name="x",
        **dict.fromkeys(sizes, np.int64(64)),  # type: ignore[arg-type]
        num_query_groups=64,
        vocab_size=100,
        tied=np.bool_(False),
    )
    assert type(shape.num_layers) is int
    assert shape.tied is False


@pytest.mark.parametrize("tp", [True, np.bool_(True), np.float64(2.0), "2"])
def test_what_is_no_whole_number_is_refused(tp: Any) -> None:
    with pytest.raises(ConfigError, match=r"^tp must be a whole number, got "):
        steptime.predict(**ASKED, **BATCH, tp=tp)
