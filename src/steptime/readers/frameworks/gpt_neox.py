"""Model, layout and batch from GPT-NeoX's keys."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.common.batch import batch, devices
from steptime.readers.common.precision import precision
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.safe import shown
from steptime.readers.megatron.layout import SIZES, recompute
from steptime.readers.megatron.model import megatron_model
from steptime.readers.trainers.sharded import bf16_shards

_OTHER_LAYERS = "mamba rwkv gmlp amlp bigbird sparse_fixed sparse_variable local bslongformer"


def rules(entries: Entries, folder: Path) -> None:
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
