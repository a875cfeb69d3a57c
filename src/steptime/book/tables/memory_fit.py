"""Tables of §18: how sure a fit is, and runs at the edge."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steptime.book.tables.markdown import Markdown, fixed, markdown_table, percent, signed_percent
from steptime.evidence.fit_cases import FitCase, brier
from steptime.evidence.memory_widths import SURE_TO_FIT, PeakCoverage, PeakMiss, peaks_by_source
from steptime.formulas.judgement import most_bytes
from steptime.inputs.said import KNOWLEDGE

WORDS = {
    "exact": "exactly, or described",
    "family": "family and date",
    "nothing": "nothing",
}
"""What is known of the software, in words."""


def coverage_table(found: Sequence[PeakCoverage]) -> Markdown:
    """Return for each level of knowledge how many peaks lie below what nine tenths should.

    Args:
        found: From `steptime.evidence.memory_widths.peak_coverage`, with its width.
    """
    columns = [
        "known of the software",
        "peaks",
        "sources with a say",
        "peaks lie about the predicted one by",
        "nine in ten lie at most above it by",
        "so a device may be filled to",
        "below, of sources left out",
        "the same, sources alike",
    ]
    return Markdown(markdown_table(columns, [_coverage_row(one) for one in found]))


def _coverage_row(one: PeakCoverage) -> list[str]:
    width = one.width
    if width is None:
        return [WORDS[one.knowledge], str(one.peaks)]
    share = float(most_bytes(width, one.scales, 1.0))
    return [
        WORDS[one.knowledge],
        str(one.peaks),
        str(width.num_sources),
        signed_percent(float(width.middle)),
        signed_percent(1.0 / share - 1.0),
        percent(share, 0),
        percent(one.below),
        percent(one.alike),
    ]


def sources_table(misses: Sequence[PeakMiss]) -> Markdown:
    """Return by source how far measured peaks lie above predicted ones on each level.

    Args:
        misses: Measured peaks.
    """
    groups = {level: peaks_by_source(misses, level) for level in KNOWLEDGE}
    names = list(dict.fromkeys(miss.source for miss in misses))
    rows = []
    for name in names:
        several = [groups[level].get(name, []) for level in KNOWLEDGE]
        means = [signed_percent(math.fsum(one) / len(one)) if one else "–" for one in several]
        rows.append([name, str(max(map(len, several))), *means])
    return Markdown(markdown_table(["source", "peaks", *WORDS.values()], rows))


def fit_cases_table(cases: Sequence[FitCase]) -> Markdown:
    """Return published configurations with their outcome and the chance that the model gives.

    Args:
        cases: From `steptime.evidence.fit_cases.fit_cases`.
    """
    columns = ["source", "model", "device", "layout t × p × d", "micro-batch", "recomputation"]
    columns += ["counted (GB)", "device (GB)", "chance that it fits", "it", "the likelier"]
    rows = []
    for case in sorted(cases, key=lambda one: -one.chance):
        layout = case.run.layout
        rows.append(
            [
                case.source,
                case.run.model.name,
                case.run.accelerator.name,
                f"{layout.tp} × {layout.pp} × {layout.dp}",
                str(case.run.batch.micro_batch_size),
                layout.recompute,
                fixed(case.total_bytes / 1e9, 1),
                fixed(case.limit_bytes / 1e9, 1),
                percent(case.chance, 0),
                "ran" if case.ran else "ran out of memory",
                "yes" if case.likelier else "no",
            ]
        )
    return Markdown(markdown_table(columns, rows))


def fit_prose(found: Sequence[PeakCoverage], cases: Sequence[FitCase]) -> dict[str, str]:
    """Return the numbers that the text of §18 quotes of this, by name.

    Args:
        found: As in `coverage_table`.
        cases: As in `fit_cases_table`.
    """
    by_level = {one.knowledge: one for one in found}
    filled = {
        name: percent(float(most_bytes(one.width, one.scales, 1.0)), 0)
        for name, one in by_level.items()
        if one.width is not None
    }
    sure = [one for one in cases if one.chance >= SURE_TO_FIT]
    return {
        "fit_cases": str(len(cases)),
        "fit_ran": str(sum(one.ran for one in cases)),
        "fit_likelier": str(sum(one.likelier for one in cases)),
        "fit_sure": str(len(sure)),
        "fit_sure_ran": str(sum(one.ran for one in sure)),
        "fit_brier": fixed(brier(cases), 2),
        "fit_exact": filled["exact"],
        "fit_family": filled["family"],
        "fit_nothing": filled["nothing"],
        "fit_exact_below": percent(by_level["exact"].below, 0),
        "fit_family_below": percent(by_level["family"].below, 0),
        "fit_nothing_below": percent(by_level["nothing"].below, 0),
    }
