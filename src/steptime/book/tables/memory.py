"""Tables of §18."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from steptime.answer.peak import Memory
from steptime.book.study.memory import Ablation, Group, MemoryStudy, cause
from steptime.book.tables.markdown import (
    MISSING,
    Markdown,
    fixed,
    markdown_table,
    percent,
    signed_percent,
)
from steptime.evidence.memory_left_out import LeftOut
from steptime.evidence.memory_ran import Ran
from steptime.evidence.memory_rows import MemoryRow
from steptime.formulas.memory.total import PARTS

WORTH_EXPLAINING = 0.1


def _group_row(group: Group) -> list[str]:
    errors = group.summary
    return [
        group.name,
        str(errors.rows),
        percent(errors.mean_fraction),
        percent(errors.median_fraction),
        signed_percent(errors.bias_fraction),
        percent(errors.largest_fraction),
        percent(group.plain),
        MISSING if group.floor is None else percent(group.floor),
    ]


def groups_table(study: MemoryStudy) -> Markdown:
    """Return the errors by source and width.

    Args:
        study: The memory model on every measured peak.
    """
    columns = [
        "source",
        "rows",
        "mean error",
        "median",
        "bias",
        "largest",
        "mean with nothing inferred",
        "runs that should be equal differ by",
    ]
    return Markdown(markdown_table(columns, [_group_row(group) for group in study.groups]))


def _peak_row(row: MemoryRow, others: Sequence[MemoryRow]) -> list[str]:
    layout, batch = row.run.layout, row.run.batch
    parts = row.counted.parts_bytes
    states = parts["weights"] + parts["gradients"] + parts["optimizer"]
    moving = row.counted.total_bytes - states
    missed = abs(row.error_fraction) > WORTH_EXPLAINING
    return [
        row.id,
        row.run.model.name,
        f"{layout.tp} × {layout.pp} × {layout.dp}",
        str(batch.micro_batch_size),
        str(layout.zero_stage),
        fixed(row.published_gb, 1),
        fixed(row.predicted_gb, 1),
        signed_percent(row.error_fraction),
        fixed(states / row.reading.unit_bytes, 1),
        fixed(moving / row.reading.unit_bytes, 1),
        cause(row, others) if missed else "",
    ]


def peaks_table(study: MemoryStudy) -> Markdown:
    """Return every published peak with the model's, and the likely cause of each large miss.

    Args:
        study: The memory model on every measured peak.
    """
    columns = [
        "run",
        "model",
        "layout t × p × d",
        "micro-batch",
        "ZeRO",
        "published (GB)",
        "model (GB)",
        "error",
        "weights, gradients, optimizer (GB)",
        "the rest (GB)",
        f"if over {WORTH_EXPLAINING:.0%}: likely cause",
    ]
    rows = [_peak_row(row, study.published) for row in study.published]
    return Markdown(markdown_table(columns, rows))


def causes_table(study: MemoryStudy) -> Markdown:
    """Return how many of the sweep's large misses have which likely cause.

    Args:
        study: The memory model on every measured peak.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for row in study.sweep:
        if abs(row.error_fraction) > WORTH_EXPLAINING:
            width = "t ≤ 8" if row.run.layout.tp <= 8 else "t > 8"
            counts[cause(row, [row]), width] += 1
    names = sorted({name for name, _ in counts}, key=lambda name: -counts[name, "t ≤ 8"])
    rows = [[name, str(counts[name, "t ≤ 8"]), str(counts[name, "t > 8"])] for name in names]
    columns = [f"sweep rows missed by over {WORTH_EXPLAINING:.0%}: likely cause", "t ≤ 8", "t > 8"]
    return Markdown(markdown_table(columns, rows))


def ablation_table(changes: Sequence[Ablation]) -> Markdown:
    """Return the mean errors with one term at a time taken out.

    Args:
        changes: From `steptime.book.study.memory.ablations`.
    """
    columns = ["taken out", "BLOOM rehearsals", "nanotron sweep, t ≤ 8"]
    rows = [[one.name, percent(one.bloom), percent(one.nanotron)] for one in changes]
    return Markdown(markdown_table(columns, rows))


def left_out_table(found: Sequence[LeftOut]) -> Markdown:
    """Return each model's errors with nanotron's inferred numbers set on the others.

    Args:
        found: From `steptime.evidence.memory_left_out.left_out`.
    """
    columns = [
        "model left out (t ≤ 8)",
        "rows",
        "mean error",
        "median",
        "held beyond need",
        "of gathered inputs that stay",
    ]
    rows = [
        [
            one.model,
            str(len(one.errors)),
            percent(one.mean_fraction),
            percent(one.median_fraction),
            *(percent(share, 0) for share in one.setting),
        ]
        for one in found
    ]
    return Markdown(markdown_table(columns, rows))


def ran_table(found: Sequence[Ran]) -> Markdown:
    """Return by source how many of the runs that ran are said to fit.

    Args:
        found: From `steptime.evidence.memory_ran.ran`.
    """
    columns = [
        "source",
        "recomputation stated",
        "runs",
        "said to fit",
        "median share of the device",
        "largest",
        "over the device",
    ]
    groups: dict[tuple[str, bool], list[Ran]] = {}
    for one in found:
        key = (one.run.id.rsplit("-", 1)[0], one.recompute_stated)
        groups.setdefault(key, []).append(one)
    rows = []
    for (source, stated), runs in sorted(groups.items()):
        over = sorted({f"{one.run.model.name} at {one.share:.2f}" for one in runs if one.share > 1})
        rows.append(
            [
                source,
                "yes" if stated else "no",
                str(len(runs)),
                str(sum(one.memory.fits for one in runs)),
                percent(statistics.median(one.share for one in runs), 0),
                percent(max(one.share for one in runs), 0),
                "; ".join(over) or MISSING,
            ]
        )
    return Markdown(markdown_table(columns, rows))


def cases_table(cases: Sequence[tuple[str, Memory]]) -> Markdown:
    """Return layouts of which it is known whether they fit, by part.

    Args:
        cases: Name and memory of each.
    """
    columns = ["layout", "rank", *(f"{part} (GB)" for part in PARTS), "total (GB)"]
    columns += ["limit (GB)", "fits"]
    rows = [
        [
            name,
            str(memory.fullest.rank),
            *(fixed(memory.fullest.parts_bytes[part] / 1e9, 1) for part in PARTS),
            fixed(memory.total_bytes / 1e9, 1),
            fixed(memory.limit_bytes / 1e9, 1),
            "yes" if memory.fits else "no",
        ]
        for name, memory in cases
    ]
    return Markdown(markdown_table(columns, rows))


def prose(
    study: MemoryStudy, cases: Sequence[tuple[str, Memory]], found: Sequence[Ran]
) -> dict[str, str]:
    """Return the numbers that the text of §18 quotes, by name.

    Args:
        study: The memory model on every measured peak.
        cases: Layouts of which it is known whether they fit.
        found: Runs that ran.
    """
    bloom, narrow = study.group("BLOOM rehearsals"), study.group("sweep, t = 2 to 8")
    published = statistics.fmean(abs(row.error_fraction) for row in study.published)
    named = dict(cases)
    llama, gpt = named["Llama 3 405B, 8,192 GPUs"], named["GPT-3 175B, t = 8 alone"]
    chunks = named["Llama 3 405B, 8,192 GPUs, v = 8"]
    known = [one for one in found if one.recompute_stated]
    return {
        "published_mean": percent(published),
        "published": str(len(study.published)),
        "bloom_mean": percent(bloom.summary.mean_fraction),
        "bloom_plain": percent(bloom.plain),
        "alone_mean": percent(study.group("sweep, t = 1").summary.mean_fraction),
        "narrow_mean": percent(narrow.summary.mean_fraction),
        "narrow_median": percent(narrow.summary.median_fraction),
        "narrow_floor": percent(narrow.floor),
        "wide_mean": percent(study.group("sweep, t > 8").summary.mean_fraction),
        "llama_total": f"{fixed(llama.total_bytes / 1e9, 1)} GB",
        "llama_rank": str(llama.fullest.rank),
        "llama_chunks": f"{fixed(chunks.total_bytes / 1e9, 1)} GB",
        "limit": f"{fixed(llama.limit_bytes / 1e9, 1)} GB",
        "gpt_total": f"{fixed(gpt.total_bytes / 1e9, 0)} GB",
        "ran": str(len(known)),
        "ran_fit": str(sum(one.memory.fits for one in known)),
        "all_ran": str(len(found)),
        "all_ran_fit": str(sum(one.memory.fits for one in found)),
    }
