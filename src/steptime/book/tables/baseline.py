"""Tables of §11 and §11a."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.study.baseline import BaselineStudy, Sensitivity
from steptime.book.tables.markdown import (
    MISSING,
    Markdown,
    fixed,
    markdown_table,
    percent,
    signed_percent,
)
from steptime.evidence.validate import Summary

PARTS = {
    "compute": "compute",
    "tensor_parallel": "tensor",
    "context_parallel": "context",
    "bubble": "bubble",
    "pipeline_sends": "sends",
    "data_parallel": "data",
}


def rows_table(study: BaselineStudy) -> Markdown:
    """Return the baseline on each row: published, predicted, error, and the parts.

    Args:
        study: The baseline and its rows.
    """
    columns = [
        "run",
        "GPUs",
        "layout t × c × p × d",
        "published TFLOP/s",
        "model TFLOP/s",
        "error",
        "published step (s)",
        "model step (s)",
        *(f"{name} (s)" for name in PARTS.values()),
    ]
    rows = []
    for run, result in zip(study.runs, study.validation.rows, strict=True):
        layout = run.layout
        context = f", {run.batch.seq_length:,} tokens" if run.id.startswith("llama3") else ""
        rows.append(
            [
                run.model.name + context,
                f"{layout.num_devices:,}",
                f"{layout.tp} × {layout.cp} × {layout.pp} × {layout.dp}",
                fixed(result.published_tflops_per_gpu, 0),
                fixed(result.tflops_per_gpu, 1),
                "fitted" if result.fitted else signed_percent(result.error_fraction),
                fixed(result.published_step_time_s, 2),
                fixed(result.step_time_s, 2),
                *(fixed(result.breakdown_s[part], 2) for part in PARTS),
            ]
        )
    return Markdown(markdown_table(columns, rows))


def _summary_row(name: str, rows: str, errors: Summary) -> list[str]:
    correlation = errors.correlation
    return [
        name,
        rows,
        str(errors.rows),
        percent(errors.mean_abs_error_fraction),
        percent(errors.max_abs_error_fraction),
        signed_percent(errors.mean_error_fraction),
        MISSING if correlation is None else fixed(correlation, 3),
    ]


def summary_table(study: BaselineStudy) -> Markdown:
    """Return the errors of the baseline beside those of a constant guess, by group.

    Args:
        study: The baseline and its rows.
    """
    guess = f"constant: {study.guess_tflops:g} TFLOP/s on A100, the same share of peak on H100"
    groups = (("nar21", "Megatron"), ("llama3", "Llama 3"), ("", "all"))
    rows = [
        _summary_row("baseline", f"{name}, predicted", study.group(prefix))
        for prefix, name in groups
    ]
    rows += [
        _summary_row(guess, name, study.group_with_fitted(prefix, study.guess))
        for prefix, name in groups
    ]
    columns = [
        "model",
        "rows",
        "count",
        "mean error",
        "largest error",
        "bias",
        "correlation of TFLOP/s",
    ]
    return Markdown(markdown_table(columns, rows))


def assumptions_table(base: Summary, changed: Sequence[Sensitivity]) -> Markdown:
    """Return every assumption, its source, and the errors under its alternative.

    Args:
        base: Errors as the chapter has it.
        changed: Errors under each alternative.
    """
    columns = [
        "assumption",
        "value",
        "unit",
        "source",
        "changed to",
        "eta (fitted)",
        "mean error",
        "change",
        "largest error",
    ]
    mean = base.mean_abs_error_fraction or 0.0
    rows = [
        [
            item.assumption.name,
            item.assumption.value,
            item.assumption.unit,
            item.assumption.source,
            item.assumption.alternative,
            fixed(item.eta, 3),
            percent(item.summary.mean_abs_error_fraction),
            signed_percent((item.summary.mean_abs_error_fraction or 0.0) - mean),
            percent(item.summary.max_abs_error_fraction),
        ]
        for item in changed
    ]
    return Markdown(markdown_table(columns, rows))
