"""Tables and words of §17 and §17a."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steptime.book.study.roofline import (
    Device,
    RooflineStudy,
    SourceErrors,
    worst_rows,
)
from steptime.book.study.roofline_constants import Pinned, ReadOff
from steptime.book.tables.markdown import (
    MISSING,
    Markdown,
    fixed,
    markdown_table,
    number,
    percent,
    signed_percent,
)
from steptime.book.tables.sources import source_name
from steptime.evidence.ablation import Ablation
from steptime.evidence.fabrics import HIGHEST, LOWEST, Wanted
from steptime.evidence.residuals import KINDS


def _source_cells(one: SourceErrors) -> list[str]:
    found = one.roofline
    return [
        one.kind,
        source_name(one.source),
        str(found.rows),
        signed_percent(found.bias),
        percent(found.mean),
        percent(found.median),
        percent(found.largest, 0),
        fixed(found.correlation, 3),
        percent(one.constant_mean),
        percent(one.baseline_mean),
        percent(one.llm_analysis_mean),
    ]


def sources_table(study: RooflineStudy) -> Markdown:
    """Return the left-out errors by source, beside a constant share and the baseline.

    Args:
        study: Left-out errors.
    """
    columns = [
        "runs",
        "source",
        "rows",
        "bias",
        "mean error",
        "median",
        "largest",
        "correlation of TFLOP/s",
        "constant share",
        "baseline",
        "llm-analysis",
    ]
    rows = []
    for kind in KINDS:
        chosen = [one for one in study.sources if one.kind == kind]
        rows += [_source_cells(one) for one in chosen]
        if len(chosen) > 1:
            mean, median = study.equal_weight(kind)
            count = str(sum(one.roofline.rows for one in chosen))
            constant = math.fsum(one.constant_mean for one in chosen) / len(chosen)
            whole = [kind, "all sources, each counting the same", count, MISSING, percent(mean)]
            whole += [percent(median), MISSING, MISSING, percent(constant), MISSING, MISSING]
            rows.append(whole)
    return Markdown(markdown_table(columns, rows))


def _span(study: RooflineStudy) -> str:
    times = study.result.runs.step_time_s
    return f"from {number(float(times.min()), 2)} to {number(float(times.max()))} s"


def accuracy_caption(study: RooflineStudy) -> str:
    """Return the caption of the figure of all runs.

    Args:
        study: Left-out errors.
    """
    return f"Published against predicted step time, {_span(study)}."


def accuracy_alt(study: RooflineStudy) -> str:
    """Return what the figure of all runs shows, in words.

    Args:
        study: Left-out errors.
    """
    count = len(study.result.errors)
    return f"{count} runs with steps {_span(study)} lie along the line of equality."


def coverage_table(study: RooflineStudy) -> Markdown:
    """Return how often 90 % intervals hold runs of sources left out, and how wide they are.

    Args:
        study: Left-out errors.
    """
    rows = [
        [
            one.kind,
            one.knowledge,
            str(one.runs),
            str(len(one.sources)),
            percent(one.covered),
            percent(one.sources_covered),
            number(one.ratio, 2),
            number(one.score, 2),
        ]
        for one in study.coverages
    ]
    columns = [
        "runs",
        "known of the software",
        "count",
        "sources",
        "inside their interval",
        "sources alike",
        "median high / low",
        "interval score",
    ]
    return Markdown(markdown_table(columns, rows))


def devices_table(devices: Sequence[Device]) -> Markdown:
    """Return the errors on each accelerator with all its runs left out.

    Args:
        devices: By accelerator and kind.
    """
    rows = [
        [
            one.name,
            one.kind,
            str(one.errors.rows),
            signed_percent(one.errors.bias),
            percent(one.errors.mean),
            percent(one.errors.median),
        ]
        for one in devices
    ]
    columns = ["accelerator left out", "runs", "rows", "bias", "mean error", "median"]
    return Markdown(markdown_table(columns, rows))


def worst_table(study: RooflineStudy, count: int) -> Markdown:
    """Return the largest left-out errors with their most likely cause.

    Args:
        study: Left-out errors.
        count: How many.
    """
    rows = []
    for sample, error, cause in worst_rows(study, count):
        layout, batch = sample.inputs.run.layout, sample.inputs.run.batch
        shape = f"{layout.tp} × {layout.cp} × {layout.pp} × {layout.dp}, v {layout.vpp}"
        rows.append(
            [
                sample.id,
                sample.inputs.run.model.name.split(" (")[0],
                f"{shape}, b {batch.micro_batch_size}",
                signed_percent(error, 0),
                cause,
            ]
        )
    columns = ["run", "model", "layout t × c × p × d", "error", "most likely cause"]
    return Markdown(markdown_table(columns, rows))


def ablation_table(found: Sequence[Ablation]) -> Markdown:
    """Return what each effect buys: the mean error without it, the rest fitted again.

    Args:
        found: The whole model first.
    """
    whole = found[0].mean
    rows = [["the whole model", percent(whole, 2), MISSING, MISSING, MISSING, MISSING]]
    rows += [
        [
            f"without {one.name}",
            percent(one.mean, 2),
            signed_percent(one.mean - whole, 2),
            source_name(one.worst),
            percent(one.worst_before),
            percent(one.worst_mean),
        ]
        for one in found[1:]
    ]
    columns = [
        "model",
        "mean error",
        "change",
        "source that loses most",
        "its error before",
        "its error without",
    ]
    return Markdown(markdown_table(columns, rows))


def constants_table(pinned: Sequence[Pinned]) -> Markdown:
    """Return every constant: value, plausible range, how far the data move it, and source.

    Args:
        pinned: The constants.
    """
    rows = []
    for one in pinned:
        entry = one.entry
        share = (one.high - one.low) / (entry.high - entry.low)
        rows.append(
            [
                entry.name.replace("_", " "),
                "fitted" if entry.fitted else "kept",
                number(entry.value),
                f"{number(entry.low)} to {number(entry.high)}",
                f"{number(one.low)} to {number(one.high)}" if entry.fitted else MISSING,
                percent(share, 0) if entry.fitted else MISSING,
                entry.source,
            ]
        )
    columns = [
        "constant",
        "how",
        "value",
        "plausible range",
        "each source left out",
        "share of the range",
        "source of the range",
    ]
    return Markdown(markdown_table(columns, rows))


def read_off_table(facts: Sequence[ReadOff]) -> Markdown:
    """Return the facts of single stacks that were read off runs.

    Args:
        facts: What `read_off_facts` returned.
    """
    rows = [[one.stack, one.fact.replace("_", " "), one.value, one.source] for one in facts]
    return Markdown(markdown_table(["software", "fact", "value", "read off"], rows))


def fabrics_table(found: Sequence[Wanted]) -> Markdown:
    """Return the share of the network's rate that each source would want, by fabric.

    Args:
        found: What `steptime.evidence.fabrics.wanted_of` returned.
    """
    beyond = {LOWEST: f"under {LOWEST:g}", HIGHEST: f"over {HIGHEST:g}"}
    rows = [
        [
            one.fabric,
            source_name(one.source),
            str(one.runs),
            f"{one.most_devices:,}",
            percent(one.moves / 10.0),
            beyond.get(one.share, fixed(one.share, 2)),
            "yes" if one.tells else "no",
        ]
        for one in found
    ]
    columns = ["fabric", "source", "runs", "most GPUs", "a tenth moves a step by", "share", "heard"]
    return Markdown(markdown_table(columns, rows))
