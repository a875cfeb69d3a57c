"""What shows of messages that a rank's chunks send one after another, by hand."""

from __future__ import annotations

import pytest
from made import small_job

from steptime.formulas.roofline.sharing import behind_chunks_s
from steptime.formulas.schedule import chunk_run
from steptime.inputs.job import job
from steptime.inputs.layout import SCHEDULES, Batch, Layout
from steptime.inputs.presets import accelerator, model


def of(vpp: int, schedule: str, micro_batches: int = 8) -> object:
    layout = Layout(tp=4, pp=8, vpp=vpp, dp=4, schedule=schedule)
    batch = Batch(global_batch_size=4 * micro_batches, seq_length=2048)
    return job(model("gpt3-175b"), accelerator("h100"), layout, batch)


@pytest.mark.parametrize(
    ("vpp", "schedule", "all_s", "shown"),
    [
        # One chunk of 4 s: what outlasts its last pass.
        (1, "1f1b", 10.0, 6.0),
        # Four of 1 s, rounds of 8: each share of 2.5 s hides behind 8 s, the last behind 1 s.
        (4, "interleaved-1f1b", 10.0, 1.5),
        # Shares of 10 s queue: 40 s less 3 x 8 s that follow and the last pass.
        (4, "interleaved-1f1b", 40.0, 15.0),
        # Two chunks that take turns: 2 s each, so 4 s in all.
        (2, "zb-v", 10.0, 6.0),
    ],
)
def test_messages_hide_behind_the_chunks_that_follow(
    vpp: int, schedule: str, all_s: float, shown: float
) -> None:
    record = of(vpp, schedule)
    assert behind_chunks_s(record, all_s, 4.0) == pytest.approx(shown)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schedule", "run"),
    [("interleaved-1f1b", 8.0), ("interleaved-zb", 8.0), ("looped-bfs", 32.0), ("v-half", 1.0)],
)
def test_micro_batches_that_pass_a_chunk_in_a_row(schedule: str, run: float) -> None:
    assert chunk_run(float(SCHEDULES.index(schedule)), 8.0, 32.0) == run


def test_without_a_pipeline_there_are_no_chunks_to_hide_behind() -> None:
    # 10 s behind one pass of 4 s, whatever number of chunks is named.
    looped = float(SCHEDULES.index("looped-bfs"))
    alone = small_job(micro_batch_size=1.0, global_batch_size=8.0, vpp=4.0, schedule=looped)
    assert behind_chunks_s(alone, 10.0, 4.0) == 6.0


def test_more_chunks_never_show_more() -> None:
    shown = [
        behind_chunks_s(of(vpp, "interleaved-1f1b"), 10.0, 4.0)  # type: ignore[arg-type]
        for vpp in (1, 2, 3, 4, 6, 12)
    ]
    assert shown == sorted(shown, reverse=True)
