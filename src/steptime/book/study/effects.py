"""One number for each effect of the roofline model: two runs that readers know, part by part.

Llama 3 405B on 8,192 H100, and on 16,384 for its longest sequences; DeepSeek-V3 on 2,048 H800.
The layouts are those of `data/headline_runs.toml`, asked as `steptime predict` asks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from steptime.answer import predict
from steptime.book.tables.markdown import fixed, milliseconds, percent
from steptime.formulas.memory.total import PARTS, memory_bytes
from steptime.formulas.number import Number
from steptime.formulas.roofline import exchanges, experts, layer, rates
from steptime.formulas.roofline.context import context_s
from steptime.formulas.roofline.matmul import product_s
from steptime.formulas.roofline.stages import head_s
from steptime.formulas.roofline.step import layer_parts
from steptime.formulas.roofline.tensor import tensor_s
from steptime.formulas.roofline.vocabulary import vocabulary_s
from steptime.inputs.constants import published_constants
from steptime.inputs.datafiles import data_table
from steptime.inputs.precision import precision_named

LLAMA: dict[str, Any] = {
    "model": "llama3-405b",
    "accelerator": "h100",
    "tp": 8,
    "pp": 16,
    "dp": 64,
    "seq_length": 8192,
    "global_batch_size": 2048,
    "sequence_parallel": True,
}
"""Its first stage (grattafiori2024, Table 4)."""
KEPT = {**LLAMA, "stack": "megatron"}
"""Its memory, as Megatron-LM keeps it: its own software is not public."""
LONG = {**LLAMA, "cp": 16, "dp": 8, "seq_length": 131072, "global_batch_size": 128}


class Run:
    """What the formulas of the parts are asked with, for one run.

    Args:
        inputs: As `steptime.answer.answer.predict` takes them.
    """

    def __init__(self, inputs: dict[str, Any]) -> None:
        answer = predict(**inputs)
        assert answer.software.time is not None
        self.answer = answer
        self.job = answer.record
        self.facts = answer.software.time
        self.constants = published_constants().of(
            answer.step.accelerator.generation, precision_named(answer.step.layout.precision).bits
        )
        self.tokens = layer.tokens_per_device(self.job)
        self.micro = float(answer.num_microbatches)


def _layer_values(run: Run) -> dict[str, Number]:
    """Return milliseconds of single effects in one layer of a dense run."""
    job, facts, constants, tokens = run.job, run.facts, run.constants, run.tokens
    rate = rates.product_flop_per_s(job, facts, constants)
    up = (1.0 + job.gated) * job.ffn_hidden_size / job.tp
    products = layer.products_s(job, facts, constants, tokens)
    core = layer.core_s(job, facts, constants, tokens)
    other = layer.elementwise_s(job, facts, constants, tokens)
    fully = replace(job, recompute_full=1.0)
    tensor = tensor_s(job, facts, constants, tokens, products)
    return {
        "ex_rl_product": product_s(job, constants, tokens, up, job.hidden_size, rate),
        "ex_rl_product_plain": 2.0 * tokens * up * job.hidden_size / rate,
        "ex_rl_products": products["forward"] + products["backward"],
        "ex_rl_attention": core["forward"] + core["backward"],
        "ex_rl_elementwise": other["forward"] + other["backward"],
        "ex_rl_again": layer.recomputed_s(fully, facts, products, core, other),
        "ex_rl_tensor": tensor["tensor"] + tensor["tensor_back"],
        "ex_rl_head": head_s(job, facts, constants, tokens),
        "ex_rl_vocabulary": vocabulary_s(job, facts, constants, tokens)["last"],
        "ex_rl_layer": layer_parts(job, facts, constants, run.micro)["total"],
    }


def _long_values(run: Run) -> dict[str, Number]:
    """Return milliseconds of what context parallelism sends in one layer."""
    core = layer.core_s(run.job, run.facts, run.constants, run.tokens)
    passes = context_s(run.job, run.facts, run.constants, core)
    return {
        "ex_rl_context": passes["forward"] + passes["backward"],
        "ex_rl_context_attention": core["forward"] + core["backward"],
    }


def _expert_values(run: Run) -> dict[str, Number]:
    """Return milliseconds of single effects in one mixture layer."""
    job, facts, constants, tokens = run.job, run.facts, run.constants, run.tokens
    rate = rates.product_flop_per_s(job, facts, constants)
    rows = experts.routed_rows(job, tokens)
    one = exchanges.exchange_s(job, facts, constants, tokens)
    plain = exchanges.exchange_s(job, replace(facts, plain_exchange=1.0), constants, tokens)
    waits = replace(facts, old_experts=1.0)
    return {
        "ex_rl_exchange": one["shown"] + one["covered"],
        "ex_rl_exchange_plain": plain["shown"],
        "ex_rl_grouped": experts.grouped_products_s(job, constants, rows, rate),
        "ex_rl_handling": experts.handling_s(job, facts, constants, rows),
        "ex_rl_host_wait": experts.host_wait_s(job, waits, constants),
    }


def _step_values(run: Run, name: str) -> dict[str, str]:
    """Return the parts of a step in seconds, and each as a share of it."""
    parts = {
        f"{name}_{part}": f"{fixed(float(value), 2)} s"
        for part, value in run.answer.breakdown_s.items()
    }
    total = f"{fixed(run.answer.step_time_s, 2)} s"
    return {**parts, f"{name}_step": total, f"{name}_mfu": percent(run.answer.mfu_fraction, 1)}


def _memory_values(run: Run) -> dict[str, str]:
    """Return what the fullest rank holds, by part."""
    parts = memory_bytes(run.job, run.answer.software.memory)
    found = {
        f"ex_mem_{part}": f"{fixed(float(parts[part]) / 1e9, 1)} GB"  # type: ignore[literal-required]
        for part in (*PARTS, "total")
    }
    return {
        **found,
        "ex_mem_parameters": f"{fixed(float(parts['parameters']) / 1e9, 2)} billion",
        "ex_mem_in_flight": fixed(float(parts["in_flight"]), 0),
        "ex_mem_layers": fixed(float(parts["num_layers"]), 0),
        "ex_mem_device": f"{fixed(float(run.job.hbm_bytes) / 1e9, 1)} GB",
    }


def _reached_values(run: Run) -> dict[str, str]:
    """Return how many ranks and domains a token of a mixture reaches."""
    job = run.job
    inside = rates.ranks_inside(job, job.ep, job.etp)
    free = replace(job, max_groups=0.0)
    return {
        "ex_rl_nodes": fixed(float(exchanges.reached(job, job.ep / inside)), 1),
        "ex_rl_nodes_free": fixed(float(exchanges.reached(free, job.ep / inside)), 1),
        "ex_rl_ranks": fixed(float(exchanges.reached(job, job.ep)), 1),
    }


def _rate(run: Run) -> float:
    return float(rates.product_flop_per_s(run.job, run.facts, run.constants))


def effect_values() -> dict[str, str]:
    """Return every value by its name."""
    llama, long = Run(LLAMA), Run(LONG)
    deepseek = Run(data_table("headline_runs.toml")["deepseek-v3"]["inputs"])
    times = {**_layer_values(llama), **_long_values(long), **_expert_values(deepseek)}
    return {
        **{name: milliseconds(value) for name, value in times.items()},
        **_step_values(llama, "ex_rl_llama"),
        **_step_values(deepseek, "ex_rl_v3"),
        **_memory_values(Run(KEPT)),
        **_reached_values(deepseek),
        "ex_rl_rate": f"{fixed(_rate(llama) / 1e12, 0)} TFLOP/s",
    }
