"""The page of own runs: its transcripts, and the lines for the start of a job."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import steptime
from steptime.book.site import your_run_page
from steptime.evidence.trace_beside import beside, predicted_parts
from steptime.evidence.trace_parts import measured_step
from steptime.readers.trace.rank import read_rank


def test_every_command_is_followed_by_what_it_prints() -> None:
    text = your_run_page.page()
    blocks = re.findall(r"```console\n\$ (.*?)```", text, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        assert "━" in block
        assert "/tmp" not in block
    made, real, pipeline, log = blocks
    assert "so that both steps are as long" in " ".join(pipeline.split())
    assert "host gaps, slower than predicted" in " ".join(made.split())
    assert "tensor-parallel messages" in real
    assert "predicted:" not in real
    assert f"{your_run_page.STEP_S:.4g} s" in log


def test_the_drawing_is_the_pages_own_command(tmp_path: Path) -> None:
    your_run_page.write_drawing(tmp_path)
    text = (tmp_path / your_run_page.DRAWING).read_text()
    assert text.startswith("<svg")
    assert text.count("measured</text>") == 2


def test_a_planted_gap_is_the_worst_and_of_its_size(tmp_path: Any) -> None:
    import json

    path = tmp_path / "made.json"
    path.write_text(json.dumps(your_run_page.made_trace(0.25)))
    found = measured_step([read_rank(path)])
    told = steptime.predict(
        model="llama3-8b", accelerator="h100", tp=2, seq_length=4096, global_batch_size=8
    )
    worst, *rest = beside(found.parts_s, found.hidden_s, predicted_parts(told))
    assert worst.part == "host"
    assert worst.gap_s == pytest.approx(0.25, rel=1e-6)
    assert all(abs(row.gap_s) < 1e-6 for row in rest)


# The lines for the start of a job, against stand-ins of what the frameworks pass around.

MEGATRON = Namespace(
    num_layers=32,
    hidden_size=4096,
    ffn_hidden_size=14336,
    num_attention_heads=32,
    group_query_attention=True,
    num_query_groups=8,
    padded_vocab_size=128256,
    swiglu=True,
    untie_embeddings_and_output_weights=True,
    tensor_model_parallel_size=2,
    context_parallel_size=1,
    pipeline_model_parallel_size=2,
    virtual_pipeline_model_parallel_size=None,
    data_parallel_size=2,
    sequence_parallel=True,
    use_distributed_optimizer=True,
    recompute_granularity=None,
    seq_length=4096,
    micro_batch_size=1,
    global_batch_size=64,
    num_experts=None,
    multi_latent_attention=False,
    fp8=None,
)


class FullAC:
    """As torchtitan names a kind of recomputation since 0.3."""

    class Config:
        """What its configuration holds of it."""


TORCHTITAN = SimpleNamespace(
    training=SimpleNamespace(seq_len=8192, local_batch_size=2, global_batch_size=-1),
    parallelism=SimpleNamespace(pipeline_parallel_microbatch_size=1),
    activation_checkpoint=SimpleNamespace(mode="selective"),
)
DIMS = SimpleNamespace(tp=2, cp=1, pp=1, dp_replicate=1, dp_shard=4)


def starts() -> list[Any]:
    """Return the functions that the page shows, in its order."""
    text = your_run_page.SOURCE.read_text(encoding="utf-8")
    found = []
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if "def print_estimate" in code:
            names: dict[str, Any] = {}
            exec(code, names)
            found.append(names["print_estimate"])
    return found


def test_the_lines_for_megatron_say_what_predict_says(capsys: pytest.CaptureFixture[str]) -> None:
    starts()[0](MEGATRON)
    told = steptime.predict(
        **{"model": "llama3-8b", "accelerator": "h100", "tp": 2, "pp": 2, "vpp": 1, "dp": 2},
        **{"sequence_parallel": True, "zero_stage": 1, "recompute": "none", "stack": "megatron"},
        **{"seq_length": 4096, "global_batch_size": 64},
    )
    out = capsys.readouterr().out
    assert out == f"a step should take {told.step_time_s:.3g} s; {told.memory.reason}\n"


def test_the_lines_for_megatron_leave_out_what_they_do_not_pass_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    starts()[0](Namespace(**{**vars(MEGATRON), "num_experts": 8}))
    assert "ask `steptime explain`" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kept", "recompute"),
    [(SimpleNamespace(mode="selective"), "selective"), (FullAC.Config(), "full"), (None, "none")],
)
def test_the_lines_for_torchtitan_say_what_predict_says(
    kept: Any, recompute: str, capsys: pytest.CaptureFixture[str]
) -> None:
    starts()[1](SimpleNamespace(**{**vars(TORCHTITAN), "activation_checkpoint": kept}), DIMS)
    told = steptime.predict(
        **{"model": "llama3-8b", "accelerator": "h100", "tp": 2, "dp": 4, "stack": "torchtitan"},
        **{"recompute": recompute, "seq_length": 8192, "micro_batch_size": 2},
        global_batch_size=8,
    )
    out = capsys.readouterr().out
    assert out == f"a step should take {told.step_time_s:.3g} s; {told.memory.reason}\n"


class MemoryBudgetAC:
    """A kind of recomputation of torchtitan that no prediction knows."""

    class Config:
        """What its configuration holds of it."""


def test_what_cannot_be_predicted_does_not_stop_a_job(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = {"activation_checkpoint": MemoryBudgetAC.Config()}
    starts()[1](SimpleNamespace(**{**vars(TORCHTITAN), **kept}), DIMS)
    starts()[0](Namespace(**{**vars(MEGATRON), "num_query_groups": 7}))
    recompute, groups = capsys.readouterr().out.splitlines()
    assert recompute.startswith("no estimate: unknown recompute 'memorybudget'")
    assert groups.startswith("no estimate: ")
