"""The explorer as it stands without JavaScript: a picture and a table of the presets."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from steptime.answer import predict
from steptime.book.study.memory_cases import GPT3_SERVER
from steptime.formulas.memory.total import PARTS
from steptime.inputs.training_step import TrainingStep

PRESETS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("GPT-3 on one server", "gpt3-175b", GPT3_SERVER),
    ("GPT-3 in 8 stages", "gpt3-175b", GPT3_SERVER | {"pp": 8}),
    (
        "Megatron 1008B on 3,072 GPUs, one chunk each",
        "megatron-1008b",
        {"tp": 8, "pp": 64, "dp": 6, "global_batch_size": 3072},
    ),
    (
        "Llama 3 405B on 8,192 GPUs, one chunk each",
        "llama3-405b",
        {"tp": 8, "pp": 16, "dp": 64, "global_batch_size": 2048, "seq_length": 8192},
    ),
    (
        "Llama 3 405B with 131,072 tokens, one chunk each",
        "llama3-405b",
        {"tp": 8, "cp": 16, "pp": 16, "dp": 8, "global_batch_size": 128, "seq_length": 131072},
    ),
)
"""Title, model and layout of each row; the first is also the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One row: what was asked and what came out.

    Attributes:
        title: What the row is called.
        step: The training step.
        parts_bytes: Memory of the fullest device by part, with its total.
        step_time_s: Seconds of a step.
        mfu_fraction: MFU, of the 16-bit peak, attention counted in full.
        outlook: How the fit is worded.
    """

    title: str
    step: TrainingStep
    parts_bytes: dict[str, float]
    step_time_s: float
    mfu_fraction: float
    outlook: str


def presets() -> list[Preset]:
    """Return every row, worked out by the same formulas as the page."""
    rows = []
    for title, model, layout in PRESETS:
        llama = model.startswith("llama")
        found = predict(
            **{
                "model": model,
                "accelerator": "h100" if llama else "a100-80gb",
                "seq_length": 2048,
                "vpp": 1,
                "sequence_parallel": llama,
                "zero_stage": 2 if llama else 0,
                "recompute": "none" if llama else "full",
                **layout,
            }  # type: ignore[arg-type]
        )
        rows.append(
            Preset(
                title=title,
                step=found.step,
                parts_bytes={**found.memory.fullest.parts_bytes, "total": found.total_bytes},
                step_time_s=found.step_time_s,
                mfu_fraction=found.mfu_fraction,
                outlook=found.memory.outlook,
            )
        )
    return rows


def _gb(size_bytes: float) -> str:
    value = size_bytes / 1e9
    return f"{value:.0f}" if value >= 99.95 or value.is_integer() else f"{value:.1f}"


def picture(preset: Preset) -> str:
    """Return the memory of a preset's fullest device as SVG, its limit marked.

    Args:
        preset: What to draw.
    """
    total, limit = preset.parts_bytes["total"], preset.step.accelerator.hbm_bytes
    top = limit * 1.25
    while top < total:
        top *= 2
    marks, start = [], 0.0
    for number, part in enumerate(PARTS, 1):
        size = preset.parts_bytes[part]
        marks.append(
            f'<g class="block slot-m{number}"><rect x="{start / top:.4%}" y="18" '
            f'width="{size / top:.4%}" height="38"/></g>'
        )
        start += size
    label = f"{preset.title}: {_gb(total)} of {_gb(limit)} GB on the fullest GPU: " + ", ".join(
        f"{part} {_gb(preset.parts_bytes[part])} GB" for part in PARTS
    )
    line = f'x1="{limit / top:.4%}" x2="{limit / top:.4%}" y1="14" y2="60"'
    return (
        f'<svg role="img" aria-label="{escape(label)}" width="100%" height="76">'
        + "".join(marks)
        + f'<line class="limit" {line}/><text class="limit-text" x="{limit / top:.4%}" y="11">'
        f"{_gb(limit)} GB</text>"
        f'<text class="axis" x="0" y="73">0</text><text class="axis" x="100%" y="73" '
        f'text-anchor="end">{_gb(top)} GB</text></svg>'
    )


def _row(preset: Preset) -> str:
    layout, total = preset.step.layout, preset.parts_bytes["total"]
    limit = preset.step.accelerator.hbm_bytes
    times = f", {total / limit:.1f}×" if total > limit else ""
    cells = [
        f"{layout.num_devices:,}",
        f"{layout.tp} × {layout.cp} × {layout.pp} × {layout.dp}",
        f"{_gb(total)} of {_gb(limit)} GB",
        f"{preset.outlook}{times}",
        f"{preset.step_time_s:,.3g} s" if preset.step_time_s < 1000 else "over 1,000 s",
        f"{preset.mfu_fraction:.1%}",
    ]
    inner = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(preset.title)}</th>{inner}</tr>'


def fragment() -> str:
    """Return the stand-in: picture, verdict and table, as HTML without a script."""
    rows = presets()
    first = rows[0]
    total, limit = first.parts_bytes["total"], first.step.accelerator.hbm_bytes
    mfu = "MFU (16-bit peak, attention in full)"
    heads = ("Layout", "GPUs", "t × c × p × d", "Fullest GPU", "", "A step", mfu)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return (
        '<div class="st-explorer st-static">\n'
        f"<p><strong>{escape(first.title)}: {first.outlook}</strong>, "
        f"{_gb(total)} of {_gb(limit)} GB on the fullest GPU.</p>\n"
        f"{picture(first)}\n"
        '<div class="scroll"><table class="data"><caption>Layouts of the chapter, by the same '
        "formulas as the interactive page, which needs JavaScript.</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(_row(row) for row in rows)
        + "\n</tbody></table></div>\n</div>\n"
    )
