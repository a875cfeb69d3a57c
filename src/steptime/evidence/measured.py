"""What a published row measured, as the seconds of one step.

Three conventions of counting FLOP are in use, so a printed rate is turned into seconds
by the convention of its own source; step times and tokens per second need none.
"""

from __future__ import annotations

from steptime.evidence.row_text import flop_convention
from steptime.evidence.runs import Incomplete, Run
from steptime.formulas.flops import (
    attention_flop_per_token,
    causal_flop_per_token,
    hardware_flop_per_token,
    matrix_flop_per_token,
    model_flop_per_token,
    num_devices,
    tokens_per_step,
)
from steptime.formulas.parameters import embedding_parameters
from steptime.inputs.job import Job

__all__ = [
    "counted_flop_per_device",
    "counted_flop_per_token",
    "flop_convention",
    "published_step_time_s",
    "published_tflops_per_gpu",
]


def counted_flop_per_token(job: Job, convention: str) -> float:
    """Return the FLOP per token as a source counts them.

    ``hardware`` counts one recomputed forward of the layers whatever the run did: the sources
    that use it print it so.

    Args:
        job: The run.
        convention: hardware, model, causal or parameters (six times those that a token meets).

    References:
        narayanan2021, Eq. 3; korthikanti2022, Eq. 7; megatronbridge2026 for causal.
    """
    if convention == "hardware":
        layers = matrix_flop_per_token(job) + attention_flop_per_token(job)
        return float(model_flop_per_token(job) + layers)
    if convention == "causal":
        return float(causal_flop_per_token(job))
    if convention == "parameters":
        return float(3.0 * matrix_flop_per_token(job) + 6.0 * embedding_parameters(job))
    return float(model_flop_per_token(job))


def counted_flop_per_device(run: Run) -> float:
    """Return the FLOP of one step on one device, as the row's source counts them.

    Args:
        run: The run.
    """
    job = run.job()
    per_token = counted_flop_per_token(job, flop_convention(run.row.flop_convention))
    return float(tokens_per_step(job) * per_token / num_devices(job))


def published_step_time_s(run: Run) -> float:
    """Return the measured seconds of one step.

    The printed step time comes first, then tokens per second, then a rate or a share of the
    peak by its source's convention.

    Args:
        run: The run.

    Raises:
        Incomplete: If the row prints no outcome.
    """
    row = run.row
    if row.step_time_s is not None:
        return row.step_time_s
    tokens = float(tokens_per_step(run.job()) / num_devices(run.job()))
    sharp = row.tflops_per_gpu is not None and row.moe_experts is None
    # Where tokens/s are rounded, the TFLOP/s of a dense model are sharper.
    if row.tokens_per_s_per_gpu is not None and not (sharp and row.tokens_rounded == "y"):
        return tokens / row.tokens_per_s_per_gpu
    if row.tflops_per_gpu is not None:
        return counted_flop_per_device(run) / (row.tflops_per_gpu * 1e12)
    if row.mfu_pct is not None:
        # Whatever else the source counts, model FLOP utilisation leaves recomputation out.
        said = flop_convention(row.flop_convention)
        counted = counted_flop_per_token(run.job(), "model" if said == "hardware" else said)
        return tokens * counted / (row.mfu_pct / 100 * _peak_flop_per_s(run))
    if row.hfu_pct is not None:
        executed = tokens * hardware_flop_per_token(run.job())
        return float(executed / (row.hfu_pct / 100 * _peak_flop_per_s(run)))
    if row.derived_step_time_s is not None:
        return row.derived_step_time_s
    only = "; mem_gb alone is scored by validate-memory" if row.mem_gb is not None else ""
    raise Incomplete(f"no outcome is printed: step time, tokens/s, TFLOP/s or MFU{only}")


def _peak_flop_per_s(run: Run) -> float:
    """Return the peak that a share of it means: of 8 bits where products run in 8 or fewer."""
    wide = run.layout.precision in ("fp16", "bf16")
    return run.accelerator.peak_flop_per_s if wide else run.accelerator.peak_fp8_flop_per_s


def published_tflops_per_gpu(run: Run) -> float:
    """Return the printed rate in TFLOP/s, or the one that the step time amounts to.

    Args:
        run: The run.

    Raises:
        Incomplete: If the row prints no outcome.
    """
    if run.row.tflops_per_gpu is not None:
        return run.row.tflops_per_gpu
    return counted_flop_per_device(run) / published_step_time_s(run) / 1e12
