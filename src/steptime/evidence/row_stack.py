"""From the words of a published row to the facts of its software stack."""

from __future__ import annotations

import re

from steptime.evidence.runs import Incomplete, Run
from steptime.evidence.schema import PublishedRow
from steptime.inputs.errors import ConfigError
from steptime.inputs.stack import (
    BLOCK_SLOWDOWN,
    ROW_SLOWDOWN,
    StackFacts,
    default_stack,
    layout_changes,
    stack_facts,
    stack_named,
    stack_names,
)

# The first pattern found in a row's words names its stack; general words come last.
_STACKS = (
    (r"mt-nlg|2201\.11990|smith et al|smith2022", "megatron-deepspeed-2021"),
    (r"\bbloom|bigscience|tr11-176b", "bloom"),
    (r"vtrain|2312\.12391|bang2024", "vtrain"),
    (r"nanotron|ultra-scale|tazi2025", "nanotron"),
    (r"torchtitan", "torchtitan"),
    (r"llm-?foundry|mosaic|\bmpt-", "llm-foundry"),
    (r"megatron-bridge|\bnemo\b|nemotron|dgxc|megatronbridge|megascale", "megatron-bridge"),
    (r"korthikanti|2205\.05198", "megatron-2022"),
    (r"narayanan|2104\.04473|sc21", "megatron-2021"),
    (r"grattafiori|llama 3 herd", "megatron-core"),
    (r"megatron[- ]core", "megatron-core"),
    (r"\bfsdp", "torch-fsdp"),
)
# Release 26.06, of mid 2026: experts no longer wait for the host.
_EXPERTS_RENEWED = 2026.42
# February 2025: the first library that sends one copy of a token to each rank or server. Those
# who wrote it had it before.
_FLEXIBLE = 2025.12


def words_of(row: PublishedRow) -> str:
    """Return the words of a row that may name its software, in lower case.

    Args:
        row: The row.
    """
    parts = (row.id, row.source, row.url_or_path, row.location, row.overlap, row.zero, row.notes)
    return " ".join((*parts, row.model)).lower()


def year_of(row: PublishedRow) -> float | None:
    """Return when a row was measured, as a year with a fraction, or None where nothing says it.

    Args:
        row: The row.
    """
    text = f"{row.notes} {row.location} {row.source} {row.url_or_path}"
    if release := re.search(r"\b(2[3-9])\.(0[1-9]|1[0-2])(?:\.\d+)?(?: container)?\b", text):
        return 2000.0 + float(release.group(1)) + float(release.group(2)) / 12.0
    if paper := re.search(r"arxiv:(\d\d)(\d\d)\.\d{4,5}", text, re.IGNORECASE):
        return 2000.0 + float(paper.group(1)) + float(paper.group(2)) / 12.0
    if year := re.search(r"(?<!\d)(20[12]\d)(?!\d)", text):
        return float(year.group(1)) + 0.5
    return None


def stack_name(run: Run) -> tuple[str, str]:
    """Return the name of a run's stack, and a sentence if it was not said.

    Args:
        run: The run.
    """
    words = words_of(run.row)
    said = re.search(r"software: ([\w-]+)", words)
    if said and said.group(1) in stack_names():
        return said.group(1), ""
    for pattern, name in _STACKS:
        if re.search(pattern, words):
            if name == "megatron-2021" and run.layout.zero_stage == 3:
                name = "deepspeed-zero3-2021"
            return name, ""
    name, note = assumed_stack(run)
    if name == "megatron-2022" and "deepspeed" in words:
        name = "megatron-deepspeed-2021"
    return name, note


def assumed_stack(run: Run) -> tuple[str, str]:
    """Return the stack of a run whose words name none: by device and year, and a sentence.

    Args:
        run: The run.
    """
    year = year_of(run.row)
    if run.accelerator.generation == "ampere" and year is not None and year < 2023:
        return "megatron-2022", "software: not stated, assumed by the year"
    name = default_stack(run.accelerator, run.layout.zero_stage) or "megatron-core"
    return name, f"software: not stated, {name} assumed"


# What a row's words on overlap say, for stacks whose settings differ from run to run.
_OVERLAPS = (
    (
        "overlap_tp",
        r"\b(tp|tensor)\b[^;,.]{0,40}overlap|overlap[^;,.]{0,30}\b(tp|tensor)|user.buffer",
    ),
    ("overlap_dp", r"\b(dp|fsdp|grad\w*|data.parallel|param\w*)\b[^;,.]{0,40}overlap"),
    ("overlap_dp", r"overlap[^;,.]{0,30}\b(dp|grad\w*|data.parallel|param\w*|reduce)"),
    ("overlap_sends", r"\b(pp|p2p|pipeline)\b[^;,.]{0,40}overlap|async p2p"),
    ("overlap_sends", r"overlap[^;,.]{0,30}\b(pp|p2p|pipeline)"),
)
_GENERAL = ("megatron-core", "torch-fsdp", "megatron-2022", "megatron-deepspeed-2021")


def _stated_overlaps(name: str, text: str) -> dict[str, float]:
    if name not in _GENERAL or not text:
        return {}
    if re.search(r"\b(no|not|without|non)\b[^;,.]{0,20}overlap", text):
        return {"overlap_dp": 0.0, "overlap_tp": 0.0, "overlap_sends": 0.0}
    return {fact: 1.0 for fact, pattern in _OVERLAPS if re.search(pattern, text)}


def _row_changes(run: Run, name: str) -> dict[str, float]:
    row, layout = run.row, run.layout
    notes, recompute, said = row.notes.lower(), row.recompute.lower(), row.precision.lower()
    changes = _stated_overlaps(name, f"{row.overlap} {row.notes}".lower())
    if "flash" in notes:
        changes["flash"] = float(not re.search(r"\b(no|not|without)\b[^;,.]{0,15}flash", notes))
    if re.search(r"async[- ]?tp", notes):
        changes["overlap_tp"] = 1.0
    if "scatter/gather off" in notes or "scatter/gather off" in row.overlap.lower():
        changes["scattered_sends"] = 0.0
    if "fp32 gradient" in notes or (name == "bloom" and layout.precision == "bf16"):
        changes["gradient_bytes"] = 4.0
    if name == "megatron-2021" and "overlaps grads" in row.overlap:
        changes["overlap_dp"] = float((row.params_b or 1e9) < 19.0)
    if name == "nanotron":
        # Plain data parallelism shares gradients as they come, its ZeRO-1 after the last pass.
        changes["overlap_dp"] = float(layout.zero_stage == 0 and layout.pp == 1)
    if name == "llm-foundry" and run.accelerator.generation == "ampere":
        changes.update(gradient_bytes=2.0, early_stop=0.0)
    # torchtitan2025, train_configs: recomputation by operation unless a run says otherwise.
    if "per-op" in recompute or "per op" in recompute or (name == "torchtitan" and not recompute):
        changes["recompute_per_op"] = 1.0
    # megatronbridge2026, recipes of DeepSeek-V3 and Kimi-K2: latent attention's expansions are
    # recomputed unless a run says otherwise.
    unsaid = name == "megatron-bridge" and run.model.latent_attention and not recompute
    if "mla_up" in recompute or unsaid:
        changes["recompute_latent"] = 1.0
    if re.search(r"\bmlp\b", recompute):
        changes["recompute_mlp"] = 1.0
    changes.update(layout_changes(run.model, layout))
    if "rowwise" in said or "row-wise" in said:
        changes.update(scaled_products=ROW_SLOWDOWN, narrow_gathers=0.0)
    if "block" in said:
        changes.update(block_scaled=1.0, scaled_products=BLOCK_SLOWDOWN)
    if name == "nanotron":
        changes["edges_count"] = 0.0
    return changes | _expert_changes(run, name)


def _expert_changes(run: Run, name: str) -> dict[str, float]:
    if run.model.experts is None:
        return {}
    year = year_of(run.row)
    changes = {"old_experts": float(year is not None and year < _EXPERTS_RENEWED)}
    if year is not None and year < _FLEXIBLE and "deepseek" not in run.row.source.lower():
        changes["plain_exchange"] = 1.0
    if name == "megatron-bridge":
        # Its recipes with experts turn user buffers off where exchanges overlap; the backward
        # gather of Megatron stays.
        changes.update(overlap_tp=0.0, overlap_tp_backward=1.0)
    return changes


def run_stack(run: Run) -> tuple[StackFacts, tuple[str, ...]]:
    """Return the facts of the software that a run used, and a sentence for each assumption.

    Args:
        run: The run.

    Raises:
        Incomplete: If the model knows nothing of the device.
    """
    name, note = stack_name(run)
    try:
        facts = stack_facts(stack_named(name), run.accelerator, **_row_changes(run, name))
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    return facts, (note,) if note else ()
