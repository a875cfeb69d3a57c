"""One flat record of numbers: all that a formula may see.

Formulas take a ``Job``: every field is a float (or, in a search, a float64 array), so
no product of counts can overflow in NumPy or turn into an exact integer that JavaScript
would round. The page holds the same record as a plain object.
"""

from __future__ import annotations

import functools
from dataclasses import fields

from steptime.formulas.records import Job as Job
from steptime.formulas.validity import layout_rule
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import SCHEDULES, Batch, Layout, check_layout
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_named
from steptime.inputs.rank_order import data_inside


def job(model: ModelShape, accelerator: Accelerator, layout: Layout, batch: Batch) -> Job:
    """Return the flat record of one training step.

    Args:
        model: The shape.
        accelerator: The device and its links.
        layout: How the step is cut.
        batch: What it trains on.

    Raises:
        ConfigError: If the layout does not fit the model or the batch.
    """
    record = Job(
        **_fixed_numbers(model, accelerator),
        **_layout_numbers(layout),
        seq_length=float(batch.seq_length),
        micro_batch_size=float(batch.micro_batch_size),
        global_batch_size=float(batch.global_batch_size),
    )
    if layout_rule(record):
        check_layout(model, layout, batch)
    return record


@functools.lru_cache(maxsize=1024)
def _fixed_numbers(model: ModelShape, device: Accelerator) -> dict[str, float]:
    """Return what layouts of one question share."""
    return {**_model_numbers(model), **_device_numbers(device)}


def _model_numbers(model: ModelShape) -> dict[str, float]:
    experts, latent = model.experts, model.latent_attention
    return {
        "num_layers": float(model.num_layers),
        "hidden_size": float(model.hidden_size),
        "ffn_hidden_size": float(model.ffn_hidden_size),
        "num_attention_heads": float(model.num_attention_heads),
        "num_query_groups": float(model.num_query_groups),
        "head_dim": float(model.head_dim),
        "vocab_size": float(model.vocab_size),
        "gated": float(model.gated),
        "tied": float(model.tied),
        "learned_positions": float(model.learned_positions),
        "window_size": float(model.window_size),
        "windowed_layers": float(model.windowed_layers),
        "num_experts": float(experts.num_experts) if experts else 0.0,
        "top_k": float(experts.top_k) if experts else 0.0,
        "num_shared_experts": float(experts.num_shared_experts) if experts else 0.0,
        "expert_ffn_hidden_size": float(experts.expert_ffn_hidden_size) if experts else 0.0,
        "num_dense_layers": float(experts.num_dense_layers if experts else model.num_layers),
        "expert_groups": float(experts.num_groups) if experts else 0.0,
        "max_groups": float(experts.max_groups) if experts else 0.0,
        "q_lora_rank": float(latent.q_lora_rank) if latent else 0.0,
        "kv_lora_rank": float(latent.kv_lora_rank) if latent else 0.0,
        "qk_nope_head_dim": float(latent.qk_nope_head_dim) if latent else 0.0,
        "qk_rope_head_dim": float(latent.qk_rope_head_dim) if latent else 0.0,
        "v_head_dim": float(latent.v_head_dim) if latent else 0.0,
    }


def _layout_numbers(layout: Layout) -> dict[str, float]:
    return {
        **{size: float(getattr(layout, size)) for size in SIZES},
        "sequence_parallel": float(layout.sequence_parallel),
        "zero_stage": float(layout.zero_stage),
        "recompute_full": float(layout.recompute == "full"),
        "recompute_selective": float(layout.recompute == "selective"),
        "fp8": float(precision_named(layout.precision).fp8),
        "schedule": float(SCHEDULES.index(layout.schedule)),
        "data_inside": data_inside(layout.order),
        "first_stage_layers": float(layout.first_stage_layers),
        "last_stage_layers": float(layout.last_stage_layers),
    }


def _device_numbers(device: Accelerator) -> dict[str, float]:
    return {
        "peak_flop_per_s": device.peak_flop_per_s,
        "peak_fp8_flop_per_s": device.peak_fp8_flop_per_s,
        "peak_fp4_flop_per_s": device.peak_fp4_flop_per_s,
        "matmul_flop_per_s": device.matmul_flop_per_s,
        "matmul_fp8_flop_per_s": device.matmul_fp8_flop_per_s,
        "matmul_fp4_flop_per_s": device.matmul_fp4_flop_per_s,
        "hbm_bytes": device.hbm_bytes,
        "hbm_bytes_per_s": device.hbm_bytes_per_s,
        "nvlink_bytes_per_s": device.nvlink_bytes_per_s,
        "nvlink_domain": float(device.nvlink_domain),
        "network_bytes_per_s": device.network_bytes_per_s,
        "num_sms": float(device.num_sms),
    }


JOB_FIELDS = tuple(field.name for field in fields(Job))
