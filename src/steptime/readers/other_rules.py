"""What single formats need beyond their keys: units, defaults and words of their own."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers import olmo_core_rules, own_defaults
from steptime.readers.entries import Entries
from steptime.readers.launch_batch import batch, devices
from steptime.readers.megatron_layout import SIZES, recompute
from steptime.readers.megatron_model import megatron_model
from steptime.readers.precision import precision
from steptime.readers.safe import shown
from steptime.readers.sharded import bf16_shards, recomputed
from steptime.readers.shared_out import LONG_NAMES, stated


def prepare(entries: Entries) -> None:
    """Put a format's own units and words into Megatron-LM's.

    Args:
        entries: The file's keys.
    """
    own = _PREPARE.get(entries.reading.kind)
    if own is not None:
        own(entries)


def _llm_foundry(entries: Entries) -> None:
    _positions_of_flags(entries, learned=entries.flag("learned_pos_emb"))
    length = entries.entry("seq_length")
    if length is not None and entries.entry("max_position_embeddings") is None:
        entries.put("max_position_embeddings", length.value, "as long as the sequence")
    entries.put("add_bias_linear", not entries.flag("no_bias"), "no_bias")
    kind = entries.word("attention_kind")
    heads = entries.entry("num_attention_heads")
    if kind == "mqa":
        entries.put("num_query_groups", 1, "multiquery_attention")
    elif kind == "mha" and heads is not None:
        entries.put("num_query_groups", heads.value, "multihead_attention")
    _expansion(entries, "expansion_ratio")
    if entries.word("model_kind") == "hf":
        entries.asked.update(("expansion_ratio", "activation"))


def _olmo(entries: Entries) -> None:
    _positions_of_flags(entries, learned=not entries.flag("rope") and not entries.flag("alibi"))
    if entries.flag("multi_query"):
        entries.put("num_query_groups", 1, "multi_query_attention")
    entry = entries.entry("mlp_hidden_size")
    gated = entries.word("activation") == "gated"
    if entry is not None and str(entry.value).isdigit():
        # The width of gate and up projection together.
        width = int(str(entry.value)) // 2 if gated else int(str(entry.value))
        entries.put("ffn_hidden_size", width, f"{entry.written} = {entry.value}")
    else:
        _expansion(entries, "mlp_ratio", halved=gated)
    entries.asked.add("mlp_ratio")
    if entries.entry("padded_vocab_size") is None:
        entries.put("should_pad_vocab", False, "OLMo's default")


def _expansion(entries: Entries, key: str, *, halved: bool = False) -> None:
    """Put in the feed-forward width that a ratio to the hidden size gives."""
    hidden, ratio = entries.entry("hidden_size"), entries.entry(key)
    if hidden is None or ratio is None or not str(hidden.value).isdigit():
        return
    try:
        width = int(float(str(ratio.value)[:12]) * int(str(hidden.value)[:12]))
    except (ValueError, OverflowError):
        return
    # What is no width is refused where it is counted: a default would pass for the file's own.
    width = width // 2 if halved else width
    entries.put("ffn_hidden_size", width, f"{ratio.written} x the hidden size")


def _positions_of_flags(entries: Entries, *, learned: bool) -> None:
    other = entries.flag("alibi") or entries.flag("rope")
    kind = "learned_absolute" if learned and not other else "rope"
    entries.put("position_embedding_type", kind, "position flags")


def _llama_factory(entries: Entries) -> None:
    reading = entries.reading
    kind, stage = entries.word("finetuning_type"), entries.word("training_stage")
    if kind != "full":
        entry = entries.entry("finetuning_type")
        line = entry.line if entry else 0
        raise ConfigError(
            f"{reading.at(line)}: finetuning_type = {kind}: only a part of the model or "
            "small added matrices are trained, which is not modelled; full is"
        )
    if stage in ("rm", "ppo", "dpo", "kto"):
        line = entries.line("training_stage")
        raise ConfigError(
            f"{reading.at(line)}: stage = {stage}: post-training with other models beside it "
            "is not modelled"
        )
    if entries.flag("pure_bf16"):
        entries.put("bf16", True, "pure_bf16")
    _megatron_adapter(entries)
    if entries.flag("no_recompute"):
        entries.by_key.pop("recompute", None)
        entries.put("recompute", "none", "disable_gradient_checkpointing")


_ADAPTER = (
    "tensor_model_parallel_size",
    "pipeline_model_parallel_size",
    "use_distributed_optimizer",
)


def _megatron_adapter(entries: Entries) -> None:
    """Read a file that is for Megatron-LM behind LLaMA-Factory, whose words it then has."""
    reading = entries.reading
    if not any(entries.by_key.get(name) for name in _ADAPTER):
        return
    reading.software = "megatron"
    entries.by_key.pop("recompute", None)
    if not entries.by_key.get("recompute_granularity"):
        entries.put("recompute", "none", "nothing in the file asks for it")
    stated(entries, *(name for name in LONG_NAMES if name not in dict(SIZES)))
    if entries.flag("sequence_parallel"):
        line = entries.line("sequence_parallel")
        reading.state("sequence_parallel", True, line=line, written="sequence_parallel")


def _trainer(entries: Entries) -> None:
    """Count devices of a launcher; each is one process. FSDP may recompute by itself."""
    entries.entry("nproc_per_node")
    if entries.flag("sharded_recompute"):
        entries.by_key.pop("recompute", None)
        entries.put("recompute", "full", "activation_checkpointing of FSDP")


_PREPARE = {
    "llm-foundry": _llm_foundry,
    "olmo": _olmo,
    "olmo-core": olmo_core_rules.olmo_core,
    "llama-factory": _llama_factory,
    "llama-factory-1": own_defaults.llama_factory,
    "litgpt": own_defaults.litgpt,
    "trainer": _trainer,
    "axolotl": _trainer,
}


_OTHER_LAYERS = "mamba rwkv gmlp amlp bigbird sparse_fixed sparse_variable local bslongformer"


def gpt_neox(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch of a GPT-NeoX file.

    Args:
        entries: The file's keys.
        folder: Where it lies.
    """
    reading = entries.reading
    kinds = [
        entry
        for found in list(entries.by_key.values())
        for entry in found
        if entry.name.startswith("attention_config")
    ]
    for entry in kinds:
        for word in _OTHER_LAYERS.split():
            if word in str(entry.value).lower():
                raise ConfigError(
                    f"{reading.at(entry.line)}: {entry.written} = {shown(entry.value)}: layers of "
                    "this kind are not modelled"
                )
    if any("flash" in str(entry.value).lower() for entry in kinds):
        entries.put("attention_kinds", "flash", "attention_config")
    biased = entries.flag("mlp_bias") and entries.flag("projection_bias")
    entries.put("add_bias_linear", biased, "use_bias_in_mlp and use_bias_in_attn_linear")
    _neox_width(entries)
    tp = entries.count("tp", "tensor_model_parallel_size") or 1
    for name, keys in SIZES:
        # 0 turns a parallelism off here.
        if entries.count(name, *keys, least=0) == 0:
            reading.facts.pop(name, None)
            reading.assume(name, 1, "0 turns it off")
    reading.model = megatron_model(entries, tp)
    stage = entries.count("zero_stage", "zero_stage", least=0)
    if stage is not None and stage > 3:
        raise ConfigError(f"{reading.at(entries.line('zero_stage'))}: zero_stage must be <= 3")
    recompute(entries)
    precision(entries)
    batch(entries)
    devices(entries)
    if entries.flag("sequence_parallel") and tp > 1:
        reading.state("sequence_parallel", True, line=entries.line("sequence_parallel"))
    if reading.value("precision") == "bf16" and reading.value("zero_stage", 0) == 0:
        bf16_shards(entries)


def _neox_width(entries: Entries) -> None:
    """Put in the feed-forward width of a gated network, which is not what the file names.

    The number of the file, 4 h if there is none, is scaled by 2/3 and is both halves' width
    together; each half is rounded up to a multiple.
    """
    hidden, named = entries.entry("hidden_size"), entries.entry("intermediate_size")
    is_llama = entries.word("mlp_type") == "gated"
    if not is_llama and entries.word("activation") != "gated":
        return
    entries.put("gated_linear_unit", True, "mlp_type or activation")
    multiple = entries.count("mlp_multiple_of", "mlp_multiple_of") or 256
    entries.reading.facts.pop("mlp_multiple_of", None)
    whole = 0
    if named is not None and str(named.value).isdigit() and not is_llama:
        whole = int(str(named.value))
    elif hidden is not None and str(hidden.value).isdigit():
        whole = (8 if is_llama else 4) * int(str(hidden.value))
    half = int(whole * 2 / 3) // 2
    entries.by_key.pop("intermediate_size", None)
    if half:
        width = -(-half // multiple) * multiple
        entries.put("ffn_hidden_size", width, "GPT-NeoX scales a gated network's width by 2/3")


def nanotron(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch of a nanotron file.

    Args:
        entries: The file's keys.
        folder: Where it lies.
    """
    reading = entries.reading
    for name, keys in SIZES:
        entries.count(name, *keys)
    entries.count("dp", "dp")
    tp = reading.value("tp", 1)
    reading.model = megatron_model(entries, tp)
    entries.count("zero_stage", "zero_stage", least=0)
    if entries.flag("sequence_parallel") and tp > 1:
        line = entries.line("sequence_parallel")
        reading.state("sequence_parallel", True, line=line, written="tp_mode")
    engine = entries.word("pipeline_engine")
    if engine and reading.value("pp", 1) > 1:
        reading.state("schedule", engine, line=entries.line("pipeline_engine"), written="pp_engine")
    recomputed(entries)
    precision(entries)
    batch(entries)
    if reading.value("dp") is None:
        devices(entries)
