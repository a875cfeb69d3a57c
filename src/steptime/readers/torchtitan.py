"""Model, layout and batch from a torchtitan TOML file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import model as preset_model
from steptime.readers.entries import Entries, Entry
from steptime.readers.huggingface import read_huggingface
from steptime.readers.reading import Reading
from steptime.readers.safe import LARGEST_TOML_BYTES, file_text, line_of, short, toml_object

SECTIONS = ("model", "training", "parallelism", "experimental", "activation_checkpoint", "float8")
SCHEDULES = {
    "gpipe": "gpipe",
    "1f1b": "1f1b",
    "interleaved1f1b": "interleaved-1f1b",
    "loopedbfs": "looped-bfs",
    "interleavedzerobubble": "interleaved-zb",
    "zbvzerobubble": "zb-v",
    "dualpipev": "dualpipe-v",
}


def read_torchtitan(path: str | Path) -> Reading:
    """Return what a torchtitan training file says.

    Args:
        path: The file.

    Raises:
        ConfigError: If it is no such file, or its numbers contradict each other.
    """
    name = short(Path(path))
    text = file_text(path, most=LARGEST_TOML_BYTES)
    table = toml_object(text, name)
    if not any(isinstance(table.get(section), dict) for section in ("parallelism", "training")):
        raise ConfigError(f"{name} has neither [training] nor [parallelism]: not torchtitan's")
    reading = Reading(path=name, kind="torchtitan")
    entries = Entries(reading, _entries(table, text), last_wins=False)
    reading.model = _model(entries, Path(path))
    _layout(entries)
    _batch(entries)
    return reading


def _entries(table: dict[str, Any], text: str) -> Iterator[Entry]:
    """Yield the keys of the sections that matter, as ``section.key``."""
    for section in SECTIONS:
        keys = table.get(section)
        if not isinstance(keys, dict):
            continue
        start = next(
            (n for n, line in enumerate(text.splitlines(), 1) if line.strip() == f"[{section}]"), 0
        )
        for key, value in list(keys.items())[:500]:
            plain = value if isinstance(value, (int, float, str, bool, list)) else str(type(value))
            line = line_of(text, key, after=start)
            yield Entry(f"{section}.{key}", plain, line, f"{section}.{key}"[:80])
            if section in ("parallelism", "experimental"):
                yield Entry(key, plain, line, f"{section}.{key}"[:80])


def _model(entries: Entries, path: Path) -> Any:
    """Return the shape: of the checkpoint's folder if it is here, else of a known name."""
    folder = entries.entry("model.hf_assets_path", "model.tokenizer_path")
    if folder is not None:
        config = path.parent / str(folder.value)[:300] / "config.json"
        try:
            here = config.is_file()
        except (OSError, ValueError):
            here = False
        if here:
            return read_huggingface(config).model
    family, flavor = entries.word("model.name"), entries.word("model.flavor")
    if family and flavor:
        for guess in (f"{family}-{flavor}", f"{family.replace('_', '-')}-{flavor}"):
            try:
                shape = preset_model(guess)
            except ConfigError:
                continue
            line = entries.line("model.flavor")
            entries.reading.assume("model", shape.name, f"model.name and flavor, line {line}")
            return shape
        known = {("deepseek_v3", "671b"): "deepseek-v3", ("qwen3", "235b-a22b"): "qwen3-235b-a22b"}
        if (family, flavor) in known:
            entries.reading.assume("model", known[family, flavor], "model.name and flavor")
            return preset_model(known[family, flavor])
    if family:
        entries.ask("model", f"no shape is known for model.name {family} {flavor}".rstrip())
    else:
        entries.ask("model", "the file names none, with model.name and model.flavor")
    return None


def _degree(entries: Entries, name: str, *keys: str) -> int:
    return entries.count(name, *keys) or 1


def _layout(entries: Entries) -> None:
    reading = entries.reading
    tp = _degree(entries, "tp", "tensor_parallel_degree")
    _degree(entries, "cp", "context_parallel_degree")
    pp = _degree(entries, "pp", "pipeline_parallel_degree")
    _degree(entries, "ep", "expert_parallel_degree")
    _degree(entries, "etp", "expert_tensor_parallel_degree")
    replicas = _degree(entries, "dp_replicate", "data_parallel_replicate_degree")
    shards = entries.entry("data_parallel_shard_degree", "data_parallel_degree")
    rest = shards is None or str(shards.value).strip() == "-1"
    if rest:
        entries.ask("num_gpus", "data_parallel_shard_degree = -1 takes what the launcher gives")
        reading.assume("zero_stage", 3, "data-parallel ranks shard weights unless told otherwise")
    else:
        count = _degree(entries, "dp_shard", "data_parallel_shard_degree", "data_parallel_degree")
        reading.state("dp", replicas * count, written="replicate x shard degree")
        after = entries.word("fsdp_reshard_after_forward") or "default"
        keeps = after == "never" or (after == "default" and pp > 1)
        if count > 1:
            reading.assume("zero_stage", 2 if keeps else 3, f"fsdp_reshard_after_forward = {after}")
    if tp > 1:
        reading.assume("sequence_parallel", True, "torchtitan's tensor parallelism includes it")
    if pp > 1:
        _schedule(entries, pp)
    # "none" is a mode here, not a gap.
    modes = entries.by_key.get("activation_checkpoint.mode")
    mode = str(modes[0].value).lower() if modes else "selective"
    if mode in ("none", "selective", "full"):
        reading.state("recompute", mode, line=entries.line("activation_checkpoint.mode"))
    else:
        line = entries.line("activation_checkpoint.mode")
        raise ConfigError(
            f"{reading.at(line)}: activation_checkpoint.mode must be none, selective or full"
        )
    converters = entries.entry("model.converters")
    text = str(converters.value).lower() if converters else ""
    precision = "mxfp8" if "mx" in text else "fp8" if "float8" in text else "bf16"
    reading.assume("precision", precision, "model.converters")


def _schedule(entries: Entries, pp: int) -> None:
    """Note the pipeline's schedule and the chunks that a stage holds."""
    reading = entries.reading
    name = entries.word("pipeline_parallel_schedule") or "1f1b"
    schedule = SCHEDULES.get(name)
    if schedule is None:
        line = entries.line("pipeline_parallel_schedule")
        raise ConfigError(
            f"{reading.at(line)}: pipeline_parallel_schedule {name[:40]!r} is not known; "
            f"known: {', '.join(SCHEDULES)}"
        )
    reading.state("schedule", schedule, line=entries.line("pipeline_parallel_schedule"))
    if schedule in ("gpipe", "1f1b"):
        return
    # Turned into chunks once the model is known: see `completed`.
    if entries.count("layers_per_stage", "pipeline_parallel_layers_per_stage") is None:
        reading.assume("vpp", 2, "two virtual stages a rank")


def _batch(entries: Entries) -> None:
    reading = entries.reading
    local = entries.count("local_batch_size", "training.local_batch_size", "training.batch_size")
    if entries.count("seq_length", "training.seq_len") is None:
        entries.ask("seq_length")
    if local is None:
        entries.ask("micro_batch_size")
        return
    micro = local
    if reading.value("pp", 1) > 1:
        micro = entries.count("micro", "pipeline_parallel_microbatch_size") or 1
        if local % micro:
            raise ConfigError(
                f"{reading.path}: local batch {local} does not divide into micro-batches of {micro}"
            )
    reading.assume("micro_batch_size", micro, "local batch, cut by the pipeline if there is one")
    total = entries.entry("training.global_batch_size")
    if total is not None and str(total.value).strip() != "-1":
        entries.count("global_batch_size", "training.global_batch_size")
    else:
        reading.assume("gradient_accumulation", local // micro, "no global batch size: one pass")
