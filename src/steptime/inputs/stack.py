"""Facts of the software stack that a layout does not state, as one flat record of floats."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from steptime.formulas.validity import ends_count
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError, check_choice, check_number
from steptime.inputs.layout import Layout
from steptime.inputs.memory_facts import STACKS
from steptime.inputs.model import ModelShape

# Rates of attention kernels under a causal mask, TFLOP/s forward and backward together, by
# generation of device. dao2023, Figs. 4 and 6 (FlashAttention 2: 189 and 328 at 16k tokens and
# heads of 128); shah2024, Figs. 5-6 (3 and cuDNN 9). Not published: llm-foundry's Triton kernel
# (read off that source's own runs with 32k and 64k tokens), and Blackwell (twice Hopper, by peak).
KERNEL_TFLOP_PER_S = {
    "flash-triton": {"ampere": 115.0, "hopper": 225.0, "blackwell": 600.0},
    "flash-2": {"ampere": 190.0, "hopper": 330.0, "blackwell": 700.0},
    "cudnn": {"ampere": 190.0, "hopper": 560.0, "blackwell": 1150.0},
    "stored": {"ampere": 190.0, "hopper": 330.0, "blackwell": 700.0},
}
USUAL_WATT = {"ampere": 400.0, "hopper": 700.0, "blackwell": 0.0}
# Nobody has measured GB300's products; its published runs say a quarter over GB200's.
GB300_SCALE = 1.25
# Read off megatronbridge2026: Llama 3 8B and 405B, the same layouts with scales of blocks and of
# tensors, seven pairs that differ by 2 to 7 % of the step.
BLOCK_SLOWDOWN = 0.08
# Read off torchtitan2025: scales of rows gain next to nothing over 16 bits, of tensors a third.
ROW_SLOWDOWN = 0.9
GENERATIONS = ("ampere", "hopper", "blackwell")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFacts:
    """What the roofline model has to know of the software, and of the device's generation.

    Switches are 1.0 or 0.0; a share lies between them.

    Attributes:
        flash: Attention never stores its scores.
        attention_flop_per_s: Published rate of the attention kernel.
        dropout: Dropout is on.
        eager: Share of element-wise operations that run unfused.
        host_layer_s: Least time of a layer and micro-batch: what the host takes to launch it.
        stage_wait_s: Added to it per tensor-parallel rank while stages on several servers
            send and receive in turn.
        across_wait_s: Time that a layer's tensor-parallel messages wait, per rank, where they
            leave the server.
        loss_bytes: Bytes moved per logit by the loss, both passes.
        scattered_sends: Each tensor-parallel rank sends its part of an activation only.
        overlap_dp: Gradients travel during the backward pass.
        overlap_tp: Share of tensor-parallel messages that overlap with products.
        overlap_tp_backward: Share of those of the backward pass that the weight's product hides.
        overlap_sends: Sends between stages overlap with computing.
        overlap_ep: Exchanges of tokens overlap with computing.
        gradient_bytes: Bytes of a gradient where they are added up.
        gradient_all_reduce: Sharded optimizers still add up whole gradients.
        fused_accumulation: Products add to the gradient themselves.
        bucket_bytes: Size of one gradient message.
        early_stop: Recomputation leaves out a layer's last product.
        recompute_per_op: Every other product is recomputed, with what lies between.
        recompute_latent: Latent attention's expansions are recomputed.
        recompute_mlp: A dense layer's activation is recomputed.
        edges_count: Embedding and head count as a layer where stages are cut.
        balance_by_cost: Stages are cut by what layers and head cost.
        fp4: Products run in four bits.
        block_scaled: 8-bit values are scaled in blocks.
        scaled_products: Extra time of products that scale rows or blocks over those that scale
            a tensor.
        narrow_gathers: 8-bit products gather tensor-parallel inputs that are cast already.
        eager_experts: The experts' activation is a chain of small kernels.
        plain_exchange: Each copy of a token travels to its expert by itself, and nothing hides it.
        old_experts: Routed work still waits for the host.
        hopper: The device is of this generation.
        blackwell: The device is of this generation.
        power_scale: Rate left to a part that may draw less power than usual.
    """

    flash: float = 1.0
    attention_flop_per_s: float = 190e12
    dropout: float = 0.0
    eager: float = 0.0
    host_layer_s: float = 0.0
    stage_wait_s: float = 0.0
    across_wait_s: float = 0.0
    loss_bytes: float = 14.0
    scattered_sends: float = 1.0
    overlap_dp: float = 1.0
    overlap_tp: float = 0.0
    overlap_tp_backward: float = 0.0
    overlap_sends: float = 0.0
    overlap_ep: float = 1.0
    gradient_bytes: float = 4.0
    gradient_all_reduce: float = 0.0
    fused_accumulation: float = 1.0
    bucket_bytes: float = 1e15
    early_stop: float = 0.0
    recompute_per_op: float = 0.0
    recompute_latent: float = 0.0
    recompute_mlp: float = 0.0
    edges_count: float = 0.0
    balance_by_cost: float = 0.0
    fp4: float = 0.0
    block_scaled: float = 0.0
    scaled_products: float = 0.0
    narrow_gathers: float = 0.0
    eager_experts: float = 0.0
    plain_exchange: float = 0.0
    old_experts: float = 0.0
    hopper: float = 0.0
    blackwell: float = 0.0
    power_scale: float = 1.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = check_number(entry.name, getattr(self, entry.name), above=-1e-300)
            object.__setattr__(self, entry.name, value)
        for name in ("attention_flop_per_s", "gradient_bytes", "bucket_bytes", "power_scale"):
            check_number(name, getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A named software stack.

    Attributes:
        name: Key in ``data/stacks.toml``.
        kernel: Attention kernel, a key of ``KERNEL_TFLOP_PER_S``.
        memory: What it keeps in memory, a key of `steptime.inputs.memory_facts.STACKS`.
        facts: Fields of `StackFacts` that differ from their defaults.
        sources: Where each of them was read, or ``inferred`` and from what.
    """

    name: str
    kernel: str
    memory: str
    facts: dict[str, float] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def stack_names() -> tuple[str, ...]:
    """Return the names of the stacks in ``data/stacks.toml``."""
    return tuple(data_table("stacks.toml"))


def stack_named(name: str) -> Stack:
    """Return a stack of ``data/stacks.toml``.

    Args:
        name: Its key.

    Raises:
        ConfigError: If there is no such stack.
    """
    check_choice("stack", name, stack_names())
    table: dict[str, Any] = dict(data_table("stacks.toml")[name])
    sources = dict(table.pop("source"))
    kernel, memory = str(table.pop("kernel")), str(table.pop("memory"))
    facts = {key: float(value) for key, value in table.items() if key != "title"}
    return Stack(name=name, kernel=kernel, memory=memory, facts=facts, sources=sources)


def memory_stack(name: str, precision: str) -> str:
    """Return what a stack keeps in memory, as a key of `steptime.inputs.memory_facts.STACKS`.

    Args:
        name: A key of ``data/stacks.toml``, or already such a key.
        precision: Of the layout: DeepSpeed keeps other gradients in bf16 than in fp16.

    Raises:
        ConfigError: If the name is unknown.
    """
    check_choice("stack", name, {*STACKS, *stack_names()})
    if name in STACKS:
        return name
    kept = stack_named(name).memory
    return "deepspeed-bf16" if kept == "deepspeed-fp16" and precision == "bf16" else kept


def default_stack(accelerator: Accelerator, zero_stage: float = 0.0) -> str:
    """Return the stack that is assumed where nothing is said: Megatron, or FSDP, as they are now.

    Args:
        accelerator: Of the run.
        zero_stage: 3 is FSDP.
    """
    if accelerator.generation not in GENERATIONS:
        return ""
    return "torch-fsdp" if zero_stage > 2.0 else "megatron-core"


def stack_facts(stack: Stack, accelerator: Accelerator, **changes: float) -> StackFacts:
    """Return the flat record of a stack on a device.

    Args:
        stack: The stack.
        accelerator: Gives the generation, and the power that a part may draw.
        **changes: Fields of `StackFacts` to replace.

    Raises:
        ConfigError: If the device is of a generation the model knows nothing of.
    """
    generation = accelerator.generation
    if generation not in GENERATIONS or not accelerator.matmul_flop_per_s:
        raise ConfigError(
            f"{accelerator.name}: the roofline model has no measured rate of matrix products for "
            f"it; it knows the generations {', '.join(GENERATIONS)}; use --predictor baseline"
        )
    usual = USUAL_WATT[generation]
    power = min(1.0, (accelerator.watt / usual) ** 0.5) if usual and accelerator.watt else 1.0
    if accelerator.name.lower().startswith("gb300"):
        power = GB300_SCALE
    rate = KERNEL_TFLOP_PER_S[stack.kernel][generation] * 1e12
    facts = StackFacts(
        **{
            "flash": float(stack.kernel != "stored"),
            "attention_flop_per_s": rate,
            "hopper": float(generation == "hopper"),
            "blackwell": float(generation == "blackwell"),
            "power_scale": power,
            **stack.facts,
        }
    )
    return replace(facts, **changes) if changes else facts


def layout_changes(model: ModelShape, layout: Layout) -> dict[str, float]:
    """Return the facts that follow from the layout, whatever the software.

    Embedding and head count as a layer each where the layers alone do not divide over the
    chunks, but with two more do.

    Args:
        model: Gives the layers.
        layout: Gives precision, stages and chunks.
    """
    chunks = layout.pp * layout.vpp
    layers = model.num_layers
    # Megatron's GPT-OSS: biases and a clamped activation that no kernel is fused with, and the
    # plain dispatcher (megatronlm2026, transformer/moe; models/gpt_oss of Megatron-Bridge).
    unusual = {"eager_experts": 1.0, "plain_exchange": 1.0}
    oss = model.experts is not None and "oss" in model.name.lower()
    return {
        "fp4": float(layout.precision == "nvfp4"),
        "block_scaled": float(layout.precision == "mxfp8"),
        "scaled_products": BLOCK_SLOWDOWN if layout.precision == "mxfp8" else 0.0,
        "edges_count": float(ends_count(float(layers), float(chunks))),
        **(unusual if oss else {}),
    }


STACK_FIELDS = tuple(entry.name for entry in fields(StackFacts))
