"""Layouts of software that shares states over data-parallel ranks: FSDP, DeepSpeed, trainers."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers.common.batch import batch, devices
from steptime.readers.common.precision import precision
from steptime.readers.common.shared_out import COPIES, stated_copies
from steptime.readers.keys.beside import accelerate_file, deepspeed_file
from steptime.readers.keys.entries import Entries, Entry
from steptime.readers.keys.reading import DEFAULT, Fact, Reading
from steptime.readers.keys.safe import shown
from steptime.readers.megatron.layout import SIZES

_STAGES = {"full_shard": 3, "shard_grad_op": 2, "no_shard": 0}
_HYBRID = {"hybrid": 3, "hybrid2": 2, "hybrid_shard": 3, "hybrid_shard_zero2": 2}
_LOW_BITS = ("adafactor", "galore", "lomo", "muon", "sgd", "lion", "adam_mini", "badam")
_RECOMPUTE = ("none", "selective", "full")


def sharded_layout(entries: Entries, folder: Path) -> None:
    """Note the layout of such a file in the reading.

    Args:
        entries: The file's keys.
        folder: Where the file lies; a DeepSpeed file that it names is read from there.

    Raises:
        ConfigError: If sizes are absurd or contradict each other.
    """
    reading = entries.reading
    for name, keys in SIZES:
        entries.count(name, *keys)
    accelerate_file(entries, folder)
    deepspeed_file(entries, folder)
    stages(entries)
    replicas(entries)
    recomputed(entries)
    precision(entries)
    batch(entries)
    devices(entries)
    offloads(entries)
    entry = entries.entry("optimizer_word")
    if entry is not None and "8bit" in str(entry.value).lower():
        # One byte a value of each moment, beside the weights' own copy.
        fact = Fact(name="moment_bytes", value=2.0, line=entry.line, written=entry.written)
        reading.software_facts.append(fact)
    elif entry is not None and any(word in str(entry.value).lower() for word in _LOW_BITS):
        reading.notes.append(
            f"{entry.written} = {shown(entry.value)}: optimizer states are taken as Adam's in "
            "32 bits"
        )
    micro, steps = reading.value("micro_batch_size"), reading.value("gradient_accumulation")
    total = reading.value("global_batch_size")
    # A DeepSpeed file gives the ranks by its three batch sizes.
    if micro and steps and total and reading.value("num_gpus") is None:
        if total % (micro * steps):
            raise ConfigError(
                f"{reading.path}: a batch of {total} is no multiple of {micro} x {steps}, "
                "micro-batch and accumulation"
            )
        reading.state(
            "dp", total // (micro * steps), written="batch / (micro-batch x accumulation)"
        )
        reading.missing[:] = [gap for gap in reading.missing if not gap.startswith("num_gpus")]


def stages(entries: Entries) -> None:
    """Note which states are shared: a stage, or a word of FSDP.

    Args:
        entries: The file's keys.
    """
    reading = entries.reading
    kind = entries.word("distributed_type")
    reading.software = {"deepspeed": "deepspeed", "megatron": "megatron"}.get(
        kind, reading.software
    )
    strategy = entries.entry("sharding_strategy", "dp_kind")
    words = _words(entries)
    reshard = entries.entry("reshard")
    if entries.count("zero_stage", "zero_stage", least=0) is not None:
        pass
    elif strategy is not None:
        _strategy(entries, strategy.value, strategy.line, strategy.written)
    elif words and words[0].strip("'\"") not in ("false", "none", ""):
        _strategy(entries, _word_of(entries, words), entries.line("sharding_words"), "fsdp")
    elif kind == "fsdp" or reshard is not None or _asks_for_fsdp(entries):
        # FSDP 1 writes its strategy's name here; FSDP 2 whether weights go after the forward.
        text = str(reshard.value).lower() if reshard is not None else "true"
        stage: object = {"true": 3, "false": 2}.get(text, text)
        line = reshard.line if reshard is not None else entries.line("distributed_type")
        _strategy(entries, stage, line, "reshard_after_forward")
    elif kind == "ddp":
        reading.state("zero_stage", 0, line=entries.line("distributed_type"))
    elif entries.flag("use_distributed_optimizer"):
        reading.state("zero_stage", 1, line=entries.line("use_distributed_optimizer"))
    elif not any(gap.startswith("zero_stage") for gap in reading.missing):
        reading.assume("zero_stage", 0, "nothing in the file shares states over ranks")
    if (
        entries.flag("bf16")
        and reading.value("zero_stage") == 0
        and reading.software in BF16_SHARDS
    ):
        bf16_shards(entries)


def _asks_for_fsdp(entries: Entries) -> bool:
    """Return whether a switch, or the version of FSDP that is asked for, says that it shares."""
    return entries.entry("fsdp_kind") is not None or entries.flag("use_fsdp")


def _words(entries: Entries) -> list[str]:
    """Return the words of a trainer's ``fsdp``, which is a text or a list."""
    entry = entries.entry("sharding_words")
    if entry is None or not entry.known:
        return []
    listed = entry.value if isinstance(entry.value, list) else [entry.value]
    text = " ".join(str(one).lower() for one in listed[:20])
    return text.replace(",", " ").replace("[", " ").replace("]", " ").split()


def _word_of(entries: Entries, words: list[str]) -> object:
    """Return the strategy among the words of a trainer's ``fsdp``."""
    plain = [one.strip("'\",]") for one in words]
    if "offload" in plain:
        raise ConfigError(
            f"{entries.reading.at(entries.line('sharding_words'))}: fsdp = "
            f"{shown(' '.join(words))}: states are kept on the host, which is not modelled"
        )
    word = next((one for one in plain if one in (*_STAGES, *_HYBRID)), "")
    if not word and entries.entry("reshard") is None and plain[0] not in ("true", "auto_wrap"):
        raise ConfigError(
            f"{entries.reading.at(entries.line('sharding_words'))}: fsdp = "
            f"{shown(' '.join(words))} is not understood; known: {', '.join((*_STAGES, *_HYBRID))}"
        )
    return word or 3


BF16_SHARDS = ("deepspeed", "gpt-neox", "megatron-deepspeed")
"""Software whose bf16 optimizer shares its states where ZeRO is off."""


def bf16_shards(entries: Entries) -> None:
    """Take ZeRO-1 where DeepSpeed's bf16 optimizer acts as that, though its stage is 0.

    Args:
        entries: The file's keys.

    References:
        deepspeed2026, deepspeed/runtime/bf16_optimizer.py.
    """
    reading = entries.reading
    reading.facts.pop("zero_stage", None)
    reading.assumptions[:] = [one for one in reading.assumptions if one.name != "zero_stage"]
    reading.assume("zero_stage", 1, "DeepSpeed's bf16 optimizer shares its states at stage 0 too")


def _strategy(entries: Entries, value: object, line: int, written: str) -> None:
    """Note a strategy of FSDP: a stage, or hybrid ones inside a server."""
    reading = entries.reading
    word = str(value).strip().lower()
    stage = _STAGES.get(word, _HYBRID.get(word, int(word) if word.isdigit() else None))
    if stage is None:
        raise ConfigError(
            f"{reading.at(line)}: {written} = {shown(value)} is not understood; known: "
            f"{', '.join((*_STAGES, *_HYBRID))}"
        )
    if line == DEFAULT:
        reading.assume("zero_stage", stage, "the software's default")
    else:
        reading.state("zero_stage", stage, line=line, written=written)
    if word in _HYBRID:
        nodes = entries.count("num_nodes", "nnodes", "num_nodes", "num_machines")
        if nodes:
            reading.state(COPIES, nodes, line=line, written=written)
        else:
            reading.notes.append(
                f"{written} = {shown(value)}: states are sharded inside a server only; add "
                f"--set {COPIES}=SERVERS"
            )


def replicas(entries: Entries) -> None:
    """Note replicas of shards, and the data-parallel size where both are given.

    Args:
        entries: The file's keys.
    """
    reading = entries.reading
    copies = stated_copies(entries)
    shards = entries.entry("dp_shard")
    if shards is None or str(shards.value).strip() == "-1":
        return
    count = entries.count("dp_shard", "dp_shard")
    if count is not None:
        reading.state("dp", count * copies, written="replicas x shards")
        if count > 1 and reading.value("zero_stage") in (None, 0):
            reading.facts.pop("zero_stage", None)
            reading.assume("zero_stage", 3, "shards hold weights too")


def recomputed(entries: Entries) -> None:
    """Note what is computed again.

    Args:
        entries: The file's keys.
    """
    reading = entries.reading
    entry = entries.entry("recompute", "recompute_granularity")
    if entry is None or not entry.known:
        if entries.flag("recompute_activations"):
            reading.state("recompute", "selective", line=entries.line("recompute_activations"))
        return
    word = str(entry.value).lower()
    some, slash, of = word.partition("/")
    interval = entries.entry("recompute_interval")
    if word == "interval" and interval is not None and str(interval.value).isdigit():
        some, slash, of = "1", "/", str(interval.value)
    if slash or word == "interval":
        word = "full"
        some_layers(reading, entry, int(some) if slash else 1, int(of) if slash else 1)
    word = {"true": "full", "false": "none"}.get(word, word)
    if word not in _RECOMPUTE:
        raise ConfigError(
            f"{reading.at(entry.line)}: {entry.written} = {shown(entry.value)} is not understood; "
            f"known: {', '.join(_RECOMPUTE)}"
        )
    if entry.line == DEFAULT:
        reading.assume("recompute", word, entry.written)
    else:
        reading.state("recompute", word, line=entry.line, written=entry.written)


def some_layers(
    reading: Reading, entry: Entry, some: int, of: int, *, from_first: bool = True
) -> None:
    """Note that some of every few layers are computed again: a fact of the software's, as a count.

    Args:
        reading: With the model, where the file gives one.
        entry: What says so.
        some: So many layers: one of a few, or all but one.
        of: How many those few are.
        from_first: Whether the one is the first of the few; else the last.
    """
    if reading.model is None or of < 1:
        reading.notes.append(f"{entry.written}: some layers are computed again; taken as all")
        return
    each = -(-reading.model.num_layers // int(reading.value("pp", 1)))
    ones = -(-each // of) if from_first else each // of
    count = ones if some == 1 else each - ones
    reading.software_facts.append(
        Fact(name="recompute_layers", value=count, line=max(entry.line, 0), written=entry.written)
    )
    reading.notes.append(f"{entry.written}: {count} of {each} layers are computed again")


def offloads(entries: Entries) -> None:
    """Refuse states on the host.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: With the key.
    """
    for name in ("offload_optimizer", "offload_param", "offload_params", "offload"):
        entry = entries.entry(name)
        if entry is None or str(entry.value).lower() in ("none", "false"):
            continue
        raise ConfigError(
            f"{entries.reading.at(entry.line)}: {entry.written} = {shown(entry.value)}: states are "
            "kept on the host, which is not modelled"
        )
