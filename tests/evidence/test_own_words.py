"""Users' rows are read by the words of their columns: unknown ones are told, prose is not read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.evidence.memory_rows import memory_row
from steptime.evidence.row_question import roofline_question
from steptime.evidence.runs import run_of
from steptime.evidence.schema import PublishedRow

BASE = {
    "id": "r1",
    "model": "llama3-8b",
    "seq_len": "8192",
    "gpu": "H100-80GB SXM",
    "gpus": "16",
    "tp": "2",
    "pp": "1",
    "vpp": "1",
    "cp": "1",
    "dp": "8",
    "sp": "y",
    "zero": "1",
    "mbs": "1",
    "gbs": "128",
    "recompute": "none",
    "precision": "bf16",
    "step_time_s": "5.5",
    "mem_gb": "40",
    "network": "400 Gb/s per GPU",
}


def row(**cells: str) -> PublishedRow:
    return PublishedRow.model_validate({**BASE, **cells})


def said(one: PublishedRow) -> list[str]:
    return [str(record) for record in run_of(one).assumed]


PLAIN = row()


# ---- invariant: words, not prose


@pytest.mark.parametrize(
    ("column", "taken"),
    [
        ("recompute", "none"),
        ("precision", "bf16"),
        ("zero", "0"),
        ("network", "400 Gb/s per device"),
        ("flop_convention", "model FLOP with attention in full"),
    ],
)
def test_a_word_that_is_not_understood_is_told(column: str, taken: str) -> None:
    (record,) = (one for one in run_of(row(**{column: "gloss 7"})).assumed if one.word)
    assert (record.what, record.word, record.value) == (column, "gloss 7", taken)
    assert str(record) == f"{column}: 'gloss 7' not understood, {taken} assumed"


def test_a_schedule_that_is_not_understood_is_told_even_without_stages() -> None:
    assert "schedule: 'zigzag' not understood, 1f1b assumed" in said(row(schedule="zigzag"))


PROSE = ("location", "url_or_path", "notes", "source", "check", "tier")
WORDS = st.sampled_from(
    "megatron-bridge NeMo bloom nanotron torchtitan FSDP llm-foundry arXiv:2104.04473 2021 "
    "release 26.06 async TP no flash scatter/gather off fp32 gradient embeddings count as layer "
    "tied embeddings: no software: vtrain overlap dp without recompute deepseek DeepSpeed mbridge "
    "400 Gb/s per GPU 8x HDR head_dim=96 (MLA) korthikanti smith2022 per-op mla_up_proj".split()
)


@settings(max_examples=60, deadline=None)
@given(
    column=st.sampled_from(PROSE),
    text=st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=40),
)
def test_prose_changes_no_prediction(column: str, text: str) -> None:
    told = row(**{column: text})
    base = PLAIN
    assert roofline_question(run_of(told)).job == roofline_question(run_of(base)).job
    assert roofline_question(run_of(told)).stack == roofline_question(run_of(base)).stack
    assert said(told) == said(base)
    assert memory_row(told).predicted_gb == memory_row(base).predicted_gb


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(["bloom-001", "mbridge-7", "nanotron", "nar21-t1-001", "kor22-001"]))
def test_a_users_id_changes_no_prediction(name: str) -> None:
    assert roofline_question(run_of(row(id=name))).stack == roofline_question(run_of(PLAIN)).stack
    assert memory_row(row(id=name)).predicted_gb == (memory_row(PLAIN).predicted_gb)
