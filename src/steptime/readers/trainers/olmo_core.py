"""What OLMo-core's configuration needs beyond its keys: batches in tokens, chosen modules."""

from __future__ import annotations

from dataclasses import replace

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.reading import COMMAND_LINE, where
from steptime.readers.keys.safe import shown


def _chosen_modules(entries: Entries) -> None:
    """Leave what recomputes chosen modules to the facts of these; ask where they are not known."""
    entry, named = entries.entry("recompute"), entries.entry("recomputed_modules")
    if entry is None or entry.value != "modules":
        entries.by_key.pop("recomputed_modules", None)
    elif named is not None and named.known:
        entries.by_key["recompute"] = [replace(entry, value="none")]
    else:
        told = [one for one in entries.by_key.pop("recompute") if one.line == COMMAND_LINE]
        entries.by_key |= {"recompute": told} if told else {}
        if told:
            return
        entries.ask("recompute", f"the modules of {entry.written} on {where(entry.line)}")


def olmo_core(entries: Entries) -> None:
    """Turn batches in tokens into batches in sequences; a tokenizer's vocabulary is the model's.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If a batch is no whole number of sequences.
    """
    _chosen_modules(entries)
    found = entries.by_key.get("vocab_size", [])
    if found and entries.by_key.get("model_class") and not found[-1].known:
        entries.by_key.pop("vocab_size")
    # A record of it is on unless it says otherwise.
    if entries.flag("low_precision") or (
        entries.entry("low_record") is not None and entries.entry("low_precision") is None
    ):
        entries.put("fp8", "e4m3", "train_module.float8_config")
    degree = entries.entry("expert_model_parallel_size")
    if degree is not None and str(degree.value).strip() == "-1":
        entries.by_key.pop("expert_model_parallel_size")
        entries.ask("ep", f"{degree.written} = -1 takes what the launcher gives")
    length = entries.entry("seq_length")
    if length is None or not str(length.value).isdigit():
        return
    for ours, theirs in (
        ("global_batch_size", "global_tokens"),
        ("micro_batch_size", "rank_tokens"),
    ):
        entry = entries.entry(theirs)
        if entry is not None and not entry.known:
            entries.ask(ours, f"{entry.written} = {shown(entry.value)} on {where(entry.line)}")
        if entry is None or not str(entry.value).isdigit():
            continue
        tokens, each = int(str(entry.value)), max(1, int(str(length.value)))
        if tokens % each:
            raise ConfigError(
                f"{entries.reading.at(entry.line)}: {entry.written} = {tokens} tokens are no whole "
                f"sequences of {each}"
            )
        entries.put(ours, tokens // each, f"{entry.written} / sequence length")
