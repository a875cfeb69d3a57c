"""What fine-tuning software does where its files are silent: words that no key of theirs has."""

from __future__ import annotations

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.readers.common.shared_out import COPIES
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.formats import format_named
from steptime.readers.keys.predict_line import predict_line
from steptime.readers.keys.reading import DEFAULT, Fact
from steptime.readers.keys.safe import shown

_BATCHES = {
    "normal": "",
    "padding_free": "",
    "dynamic_batching": "batches hold as many tokens as fit",
    "dynamic_padding_free": "batches hold as many tokens as fit",
}


def litgpt(entries: Entries) -> None:
    """Note what LitGPT's two programs do alike in all files: shards, copies, recomputation.

    A file with ``checkpoint_dir`` is for fine-tuning, which computes every block again; one with
    ``model_name`` is for pre-training, which computes none again and shards inside a server.

    Args:
        entries: The file's keys.

    References:
        litgpt2026, finetune/full and pretrain: FSDPStrategy.
    """
    nodes, each = _number(entries, "num_nodes"), _number(entries, "gpus_per_node")
    named = entries.entry("hf_model_id")
    tunes = named is not None and "checkpoint_dir" in named.name
    if (nodes or 1) * (each or 1) == 1 and each is not None:
        _instead(entries, "zero_stage", 0, "one device shares nothing")
        entries.put("recompute", False, "one device: no block is computed again")
        return
    if tunes:
        entries.put("recompute", "full", "LitGPT's fine-tuning computes every block again")
        return
    entries.put("recompute", False, "LitGPT's pre-training computes nothing again")
    if nodes is not None and nodes > 1:
        entries.put(COPIES, nodes, "LitGPT's pre-training shards inside a server")


def ms_swift(entries: Entries) -> None:
    """Put in the stage that ms-swift's own word for DeepSpeed's settings stands for.

    Args:
        entries: The file's keys.
    """
    stages = data_table("formats/ms-swift.toml")["stages"]
    for key, software in (("deepspeed_file", "deepspeed"), ("sharding_words", "fsdp")):
        entry = entries.entry(key)
        stage = None if entry is None else stages.get(str(entry.value).strip().lower())
        if entry is not None and stage is not None:
            entries.by_key.pop(key)
            entries.put("zero_stage", stage, f"{entry.written} {entry.value}", entry.line)
            entries.reading.software = software
    steps = entries.entry("gradient_accumulation")
    if steps is not None and steps.line == DEFAULT:
        entries.by_key.pop("gradient_accumulation")
        entries.ask("global_batch_size", "ms-swift takes as many steps as make it 16 or more")


def word_pieces(entries: Entries) -> None:
    """Refuse a vocabulary of word pieces where no tokenizer is named.

    Megatron-LM's program for decoders takes GPT-2's vocabulary then, in two files of other kinds;
    that for encoders takes word pieces, one a line.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: With the vocabulary's file.

    References:
        megatronlm2026, pretrain_bert.py and pretrain_gpt.py: args_defaults.
    """
    file = entries.entry("vocab_file")
    named = any(entries.entry(key) for key in ("tokenizer_type", "merge_file", "tokenizer_model"))
    if file is None or named or not str(file.value).lower().endswith(".txt"):
        return
    raise ConfigError(
        f"{entries.reading.at(file.line)}: {file.written} = {shown(file.value)}, without a "
        "tokenizer_type: only the program that trains an encoder takes word pieces unasked, which "
        f"is not modelled; if it is a decoder's, add --set tokenizer_type=NAME or ask: "
        f"{predict_line()}"
    )


def _number(entries: Entries, key: str) -> int | None:
    entry = entries.entry(key)
    if entry is None or not entry.known or not str(entry.value).isdigit():
        return None
    return int(str(entry.value)[:9])


def _instead(entries: Entries, key: str, value: object, why: str) -> None:
    """Put a value in the place of the software's default."""
    found = entries.entry(key)
    if found is None or found.line == DEFAULT:
        entries.by_key.pop(key, None)
        entries.put(key, value, why)


def llama_factory(entries: Entries) -> None:
    """Note how a file of LLaMA-Factory's second generation shares states and batches.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If its way of making batches is not understood.
    """
    reading = entries.reading
    if not entries.by_key.get("global_batch_size"):
        entries.put("gradient_accumulation", 1, "the batch is a micro-batch of each rank")
    entry = entries.entry("dist_name")
    if entry is None:
        entries.put("zero_stage", 0, "no dist_config: every rank holds all")
    elif entry.value == "deepspeed":
        reading.software = "deepspeed"
    else:
        entries.put("zero_stage", entry.value, f"{entry.written}")
    batching = entries.entry("batching")
    if batching is not None:
        word = str(batching.value).strip().lower()
        if word not in _BATCHES:
            raise ConfigError(
                f"{reading.at(batching.line)}: {batching.written} = {shown(batching.value)} is "
                f"not understood; known: {', '.join(_BATCHES)}"
            )
        if _BATCHES[word]:
            reading.notes.append(
                f"{batching.written} = {word}: {_BATCHES[word]}; taken as whole sequences"
            )


def sixteen_bit_states(entries: Entries) -> None:
    """Note that a trainer without shards keeps all states in the type it loads weights in.

    With shards FSDP and DeepSpeed keep a 32-bit copy, whatever the type loaded.

    Args:
        entries: The file's keys.

    References:
        transformers2026, modeling_utils: from_pretrained, torch_dtype.
    """
    entry = entries.entry("loaded_type")
    if entry is None or not entry.known:
        return
    word = str(entry.value).strip().lower().removeprefix("torch.")
    if entries.reading.value("zero_stage") or word not in ("bfloat16", "float16", "bf16", "fp16"):
        return
    table = format_named("litgpt").facts["precision"]["bf16-true"]
    for name, value in table.items():
        fact = Fact(name=name, value=value, line=entry.line, written=entry.written)
        entries.reading.software_facts.append(fact)
