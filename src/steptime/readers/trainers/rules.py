"""What single formats of trainers need beyond their keys: units, defaults, words of their own."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.readers.common.shared_out import LONG_NAMES, stated
from steptime.readers.keys.entries import Entries
from steptime.readers.megatron.layout import SIZES
from steptime.readers.trainers import olmo_core, own_defaults


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
    _positions_of_length(entries)
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
    _positions_of_flags(entries, learned=True)
    _positions_of_length(entries)
    if entries.flag("alibi"):
        # PyTorch's function gets a mask then, and takes another kernel.
        entries.by_key.pop("flash_attention", None)
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


def _positions_of_length(entries: Entries) -> None:
    """Put in as many positions as the sequence has, which a learned table has rows for."""
    length = entries.entry("seq_length")
    if length is not None and entries.entry("max_position_embeddings") is None:
        entries.put("max_position_embeddings", length.value, "as long as the sequence")


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
    "olmo-core": olmo_core.olmo_core,
    "llama-factory": _llama_factory,
    "llama-factory-1": own_defaults.llama_factory,
    "litgpt": own_defaults.litgpt,
    "trainer": _trainer,
    "ms-swift": own_defaults.ms_swift,
    "axolotl": _trainer,
}
