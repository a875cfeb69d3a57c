"""Worked examples of the pages: small sums that a reader can follow, by the book's formulas.

Each value has a name, for the role ``{value}`` on a page. Notebooks glue what was measured
or simulated; here stands what one formula gives for one set of sizes.
"""

from __future__ import annotations

import math
from dataclasses import replace

from steptime.book.study.dualpipe import dualpipe_values
from steptime.book.study.effects import effect_values
from steptime.book.study.page_weight import page_weight_values
from steptime.book.tables.markdown import fixed, milliseconds, percent
from steptime.evidence.baseline import chapter_rows, fitted_constants
from steptime.evidence.validate import baseline_validation, summary
from steptime.formulas.bubble import bubble_fraction
from steptime.formulas.causal import contiguous_pairs, zigzag_pairs
from steptime.formulas.collectives import all_reduce_s, all_reduce_sent_bytes, all_to_all_s
from steptime.formulas.flops import model_flop_per_token
from steptime.formulas.memory import activations, stored
from steptime.formulas.parameters import num_parameters
from steptime.formulas.records import MemoryFacts
from steptime.formulas.traffic import (
    activation_bytes,
    key_value_bytes,
    tensor_all_reduces_per_layer,
)
from steptime.inputs.job import Job
from steptime.inputs.presets import accelerator, model
from steptime.inputs.training_step import training_step
from steptime.pipeline import build
from steptime.pipeline.held import peak_in_flight

LATENCY_S = 5e-6
ADAM_BYTES = 18.0
"""A 16-bit weight, a 32-bit gradient, and in 32 bits a copy and two averages."""


def micro_batches_for(pp: float, share: float, vpp: float = 1.0) -> int:
    """Return the fewest micro-batches that keep the idle share of a step within a limit.

    Args:
        pp: Pipeline stages.
        share: Largest idle time over step time.
        vpp: Model chunks a device holds.
    """
    count = math.ceil((pp - 1.0) * (1.0 - share) / (share * vpp) - 1e-9)
    assert bubble_fraction(pp, float(count), vpp) <= share + 1e-12
    return count


def pipeline_values() -> dict[str, str]:
    """Return the sums of the page on pipelines."""
    held = {
        name: max(peak_in_flight(o, 4, 8) for o in build.build_orders(name, 4, 8, 1))
        for name in ("gpipe", "1f1b")
    }
    return {
        "ex_pipe_single": percent(bubble_fraction(4.0, 1.0, 1.0), 0),
        "ex_pipe_few": percent(bubble_fraction(4.0, 4.0, 1.0)),
        "ex_pipe_many": percent(bubble_fraction(4.0, 32.0, 1.0)),
        "ex_pipe_held_gpipe": str(held["gpipe"]),
        "ex_pipe_held_1f1b": str(held["1f1b"]),
        "ex_pipe_need": str(micro_batches_for(16.0, 0.05)),
        "ex_pipe_need_chunks": str(micro_batches_for(16.0, 0.05, 8.0)),
        "ex_pipe_need_rounds": str(16 * math.ceil(micro_batches_for(16.0, 0.05, 8.0) / 16)),
        "ex_pipe_llama_plain": percent(bubble_fraction(16.0, 32.0, 1.0)),
        "ex_pipe_llama_chunks": percent(bubble_fraction(16.0, 32.0, 8.0)),
    }


def _gpt3(**layout: int | bool) -> Job:
    step = training_step(
        model="gpt3-175b",
        accelerator="a100-80gb",
        seq_length=2048,
        global_batch_size=1,
        **layout,  # type: ignore[arg-type]
    )
    return step.job()


def tensor_values() -> dict[str, str]:
    """Return the sums of the page on tensor parallelism: GPT-3 on one server, and on eight."""
    job = _gpt3(tp=8)
    size = activation_bytes(1.0, 2048.0, 1.0, job.hidden_size, 2.0)
    count = tensor_all_reduces_per_layer(0.0) * job.num_layers
    inside = all_reduce_s(size, 8.0, job.nvlink_bytes_per_s, LATENCY_S)
    outside = all_reduce_s(size, 8.0, job.network_bytes_per_s, LATENCY_S)
    rate = 8.0 * fitted_constants().eta * job.peak_flop_per_s
    compute = model_flop_per_token(job) * 2048.0 / rate
    return {
        "ex_tensor_size": f"{fixed(size / 1e6, 1)} MB",
        "ex_tensor_sent": f"{fixed(all_reduce_sent_bytes(size, 8.0) / 1e6, 1)} MB",
        "ex_tensor_nvlink": milliseconds(inside),
        "ex_tensor_network": milliseconds(outside),
        "ex_tensor_count": fixed(count, 0),
        "ex_tensor_all_nvlink": f"{fixed(count * inside, 2)} s",
        "ex_tensor_all_network": f"{fixed(count * outside, 2)} s",
        "ex_tensor_compute": f"{fixed(compute, 2)} s",
        "ex_tensor_share_nvlink": percent(count * inside / (compute + count * inside), 0),
        "ex_tensor_share_network": percent(count * outside / (compute + count * outside), 0),
    }


def _layer_bytes(job: Job) -> float:
    """Return what a layer keeps of one sequence for its backward, without a flash kernel."""
    per_token = activations.token_bytes(job, MemoryFacts(flash=0.0, dropout=1.0))
    kept = stored.layer_token_bytes(job, per_token)["dense"]
    return float(kept) * float(job.seq_length)


def context_values() -> dict[str, str]:
    """Return the sums of the page on sequence and context parallelism."""
    plain = replace(_gpt3(tp=8, sequence_parallel=False), recompute_selective=1.0)
    split = replace(plain, sequence_parallel=1.0)
    llama = model("llama3-405b")
    keys = key_value_bytes(1.0, 131072.0, float(llama.num_query_groups * llama.head_dim), 8.0, 2.0)
    first, last = (contiguous_pairs(131072.0 / 16.0, rank) for rank in (0.0, 15.0))
    mirrored = zigzag_pairs(131072.0 / 16.0, 16.0)
    return {
        "ex_seq_plain": f"{fixed(_layer_bytes(plain) / 1e9, 2)} GB",
        "ex_seq_split": f"{fixed(_layer_bytes(split) / 1e9, 2)} GB",
        "ex_context_keys": f"{fixed(keys / 1e6, 0)} MB",
        "ex_context_uneven": fixed(last / first, 0),
        "ex_context_wait": fixed(last / mirrored, 1),
    }


def expert_values() -> dict[str, str]:
    """Return the sums of the page on experts: one layer of DeepSeek-V3, 4,096 tokens a device."""
    shape, device = model("deepseek-v3"), accelerator("h100")
    assert shape.experts is not None
    size = 4096.0 * shape.experts.top_k * shape.hidden_size * 2.0
    inside = all_to_all_s(size, 8.0, device.nvlink_bytes_per_s, LATENCY_S)
    outside = all_to_all_s(size, 64.0, device.network_bytes_per_s, LATENCY_S)
    return {
        "ex_expert_token": f"{fixed(shape.hidden_size * 2.0 / 1e3, 1)} kB",
        "ex_expert_size": f"{fixed(size / 1e6, 0)} MB",
        "ex_expert_nvlink": milliseconds(inside),
        "ex_expert_network": milliseconds(outside),
        "ex_expert_four": milliseconds(4.0 * outside),
    }


def layout_values() -> dict[str, str]:
    """Return the sums of the pages on layouts and on accuracy."""
    job = _gpt3(tp=8)
    states = ADAM_BYTES * num_parameters(job)
    rows = baseline_validation(chapter_rows(), fitted_constants()).rows
    megatron = [row for row in rows if row.id.startswith("nar21")]
    rates = [row.published_tflops_per_gpu for row in megatron]
    mean = summary([row for row in megatron if not row.fitted]).mean_abs_error_fraction
    return {
        "ex_layout_parameters": f"{fixed(num_parameters(job) / 1e9, 0)} billion",
        "ex_layout_states": f"{fixed(states / 1e12, 2)} TB",
        "ex_layout_devices": str(math.ceil(states / job.hbm_bytes)),
        "ex_megatron_mean": percent(mean),
        "ex_rate_first": fixed(rates[0], 0),
        "ex_rate_last": fixed(rates[-1], 0),
    }


MAKERS = (
    effect_values,
    dualpipe_values,
    pipeline_values,
    tensor_values,
    context_values,
    expert_values,
    layout_values,
    page_weight_values,
)
"""What makes the values, each for a page or two."""


def example_values() -> dict[str, str]:
    """Return every value of every page, by its name."""
    return {name: value for maker in MAKERS for name, value in maker().items()}
