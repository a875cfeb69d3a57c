"""One training estimate by llm-analysis, for `bench/core.py` to run in a venv of its own."""

from __future__ import annotations

import json
import logging
import timeit

from llm_analysis.analysis import ActivationRecomputation, LLMAnalysis
from llm_analysis.config import ModelConfig, ParallelismConfig, get_gpu_config_by_name

MODEL = ModelConfig(
    name="gpt3-175b",
    num_layers=96,
    n_head=96,
    hidden_dim=12288,
    vocab_size=51200,
    max_seq_len=2048,
    num_key_value_heads=96,
    num_key_value_groups=1,
    ffn_embed_dim=4 * 12288,
    expansion_ratio=4,
    model_type="gpt",
    moe_num_experts=1,
    moe_top_k=1,
)
LAYOUT = ParallelismConfig(tp_size=8, pp_size=8, dp_size=16, ep_size=1, sp_size=8)


def predict() -> None:
    analysis = LLMAnalysis(
        MODEL,
        get_gpu_config_by_name("a100-sxm-80gb"),
        parallelism_config=LAYOUT,
        flops_efficiency=0.5,
    )
    analysis.training(
        batch_size_per_gpu=1,
        gradient_accumulation_steps=96,
        seq_len=2048,
        activation_recomputation=ActivationRecomputation.FULL,
    )


if __name__ == "__main__":
    # As it comes it logs each estimate, which takes longer than the estimate.
    logged = min(timeit.Timer(predict).repeat(repeat=5, number=20)) / 20
    logging.disable(logging.CRITICAL)
    silent = min(timeit.Timer(predict).repeat(repeat=9, number=20)) / 20
    print(json.dumps({"prediction_s": silent, "logged_s": logged}))
