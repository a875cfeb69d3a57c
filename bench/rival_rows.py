"""llm-analysis on the published dense 16-bit runs, into ``data/llm_analysis_steps.csv``.

Run where llm-analysis 0.2.2 is installed beside steptime. Its one efficiency is typed in as
0.5, and all else is as it comes: it knows no bubble and no overlap.
"""

from __future__ import annotations

import csv
import logging
from typing import Any

from llm_analysis.analysis import ActivationRecomputation, DSZeRO, LLMAnalysis
from llm_analysis.config import ModelConfig, ParallelismConfig, get_gpu_config_by_name

from steptime.answer.width import DENSE
from steptime.evidence.samples import Sample, main_samples, scored
from steptime.inputs.datafiles import data_path

EFFICIENCY = 0.5
DEVICES = {
    "a100-80gb": "a100-sxm-80gb",
    "a100-40gb": "a100-sxm-40gb",
    "h100": "h100-sxm-80gb",
}
RECOMPUTE = {
    "none": ActivationRecomputation.NONE,
    "selective": ActivationRecomputation.SELECTIVE,
    "full": ActivationRecomputation.FULL,
}


def step_s(sample: Sample) -> float:
    """Return llm-analysis's seconds of one step."""
    run = sample.inputs.run
    shape, layout, batch = run.model, run.layout, run.batch
    config: Any = ModelConfig(
        name="run",
        num_layers=shape.num_layers,
        n_head=shape.num_attention_heads,
        hidden_dim=shape.hidden_size,
        vocab_size=shape.vocab_size,
        max_seq_len=batch.seq_length,
        num_key_value_heads=shape.num_query_groups,
        num_key_value_groups=shape.num_attention_heads // shape.num_query_groups,
        ffn_embed_dim=shape.ffn_hidden_size,
        expansion_ratio=shape.ffn_hidden_size / shape.hidden_size,
        model_type="llama" if shape.gated else "gpt",
        moe_num_experts=1,
        moe_top_k=1,
    )
    analysis = LLMAnalysis(
        config,
        get_gpu_config_by_name(DEVICES[run.accelerator.name]),
        parallelism_config=ParallelismConfig(
            tp_size=layout.tp,
            pp_size=layout.pp,
            dp_size=layout.dp,
            ep_size=1,
            sp_size=layout.tp if layout.sequence_parallel else 1,
        ),
        flops_efficiency=EFFICIENCY,
    )
    found = analysis.training(
        batch_size_per_gpu=batch.micro_batch_size,
        gradient_accumulation_steps=batch.global_batch_size // layout.dp // batch.micro_batch_size,
        seq_len=batch.seq_length,
        activation_recomputation=RECOMPUTE[layout.recompute],
        ds_zero=DSZeRO(layout.zero_stage),
        flash_attn=bool(sample.inputs.stack.flash),
        mlp_gated_linear_units=shape.gated,
    )
    return float(found["latency_per_iter"])


def main() -> None:
    """Write a row for every run that llm-analysis takes."""
    logging.disable(logging.CRITICAL)
    rows = []
    for sample in main_samples():
        name = sample.inputs.run.accelerator.name
        if sample.kind != DENSE or not scored(sample) or name not in DEVICES:
            continue
        try:
            rows.append((sample.id, f"{step_s(sample):.5g}"))
        except (AssertionError, ValueError, ZeroDivisionError) as error:
            print(sample.id, repr(error)[:100])
    path = data_path("roofline_constants.toml").with_name("llm_analysis_steps.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "step_time_s"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
