"""Tables of §12c."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.pipeline_trades import Trade, Uneven, best_chunks
from steptime.book.study.real_pipelines import Pipeline, RunBubble
from steptime.book.tables.markdown import (
    Markdown,
    fixed,
    markdown_table,
    number,
    percent,
    signed_percent,
)


def share_text(share: float) -> str:
    """Return a share such as 0.25 as 1/4.

    Args:
        share: One over a whole number.
    """
    return f"1/{round(1 / share)}" if share < 1 else "1"


def runs_table(rows: Sequence[RunBubble]) -> Markdown:
    """Return the bubble of each run, by formula and simulated ever more closely.

    Args:
        rows: From the study.
    """
    columns = [
        "run",
        "p",
        "m",
        "v",
        "useful (s)",
        "bubble, formula (s)",
        "simulated (s)",
        "bubble and sends, formula (s)",
        "simulated, sends block (s)",
        "difference / step",
        "simulated, sends overlap (s)",
        "and whole layers, output on the last (s)",
    ]
    cells = []
    for row in rows:
        one = row.pipeline
        both = one.bubble_s + one.sends_s
        tokens = f", {one.run.batch.seq_length:,} tokens" if one.run.id.startswith("llama3") else ""
        cells.append(
            [
                one.run.model.name + tokens,
                str(one.stages),
                str(one.micro_batches),
                str(one.most_chunks),
                fixed(one.useful_s, 2),
                fixed(one.bubble_s, 3),
                fixed(row.equal_s, 3),
                fixed(both, 3),
                fixed(row.blocking_s, 3),
                signed_percent(row.gap_fraction, 2),
                fixed(row.overlapped_s, 3),
                fixed(row.real_s, 3),
            ]
        )
    return Markdown(markdown_table(columns, cells))


def trades_table(pipeline: Pipeline, rows: Sequence[Trade]) -> Markdown:
    """Return what each interleaving loses on networks of several speeds.

    Args:
        pipeline: The run's.
        rows: From the study.
    """
    columns = [
        "bandwidth / the run's",
        "time of a message (ms)",
        "chunks v",
        "messages of a rank",
        "bubble and sends, formula (s)",
        "simulated, sends block (s)",
        "simulated, sends overlap (s)",
        "best v by the formula",
    ]
    cells = [
        [
            share_text(row.bandwidth_share),
            number(
                1e3
                * (
                    pipeline.latency_s
                    + pipeline.message_bytes / pipeline.bytes_per_s / row.bandwidth_share
                ),
                3,
            ),
            str(row.chunks),
            str(2 * pipeline.micro_batches * row.chunks),
            fixed(row.formula_s, 3),
            fixed(row.blocking_s, 3),
            fixed(row.overlapped_s, 3),
            fixed(best_chunks(pipeline, row.bandwidth_share), 1),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))


def uneven_table(pipeline: Pipeline, rows: Sequence[Uneven]) -> Markdown:
    """Return what uneven stages cost.

    Args:
        pipeline: The run's.
        rows: From the study.
    """
    columns = ["chunks v", "layers", "lost beyond useful time (s)", "share of the step"]
    cells = [
        [
            str(row.chunks),
            row.layers,
            fixed(row.lost_s, 3),
            percent(row.lost_s / (row.lost_s + pipeline.useful_s)),
        ]
        for row in rows
    ]
    return Markdown(markdown_table(columns, cells))
