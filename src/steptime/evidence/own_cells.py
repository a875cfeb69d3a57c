"""What users write in tables of runs: names of columns, numbers, yes and no."""

from __future__ import annotations

import re
from types import UnionType
from typing import Any, get_args

from steptime.evidence.schema import PublishedRow

COLUMNS = tuple(PublishedRow.model_fields)
# Other names of columns, folded of all but letters and digits.
_OTHER_NAMES = {
    "id": ("run", "name", "runid", "experiment"),
    "model": ("modelname", "arch"),
    "layers": ("numlayers", "nlayers", "l"),
    "hidden": ("hiddensize", "dmodel", "h"),
    "heads": ("numattentionheads", "numheads", "nheads", "attentionheads"),
    "kv_heads": ("numquerygroups", "numkeyvalueheads", "kvheads", "nkvheads"),
    "ffn": ("ffnhiddensize", "intermediatesize", "ffnhidden", "dff"),
    "gated_mlp": ("swiglu", "gated"),
    "tied": ("tiedembeddings", "tiewordembeddings"),
    "vocab": ("vocabsize", "vocabulary"),
    "seq_len": ("seq", "seqlength", "sequencelength", "sequence", "context", "contextlength"),
    "moe_experts": ("numexperts", "experts"),
    "moe_topk": ("topk", "moeroutertopk"),
    "moe_expert_ffn": ("moeffnhiddensize", "moeintermediatesize"),
    "gpu": ("accelerator", "device", "gputype", "hardware", "chip"),
    "gpus": ("numgpus", "ngpus", "worldsize", "numdevices", "devices", "chips"),
    "tp": ("tensorparallel", "tensormodelparallelsize", "tensorparallelsize", "t"),
    "pp": ("pipelineparallel", "pipelinemodelparallelsize", "pipelineparallelsize", "p"),
    "vpp": ("virtualpipeline", "vp", "interleave", "chunks"),
    "cp": ("contextparallel", "contextparallelsize"),
    "ep": ("expertparallel", "expertmodelparallelsize"),
    "etp": ("experttensorparallelsize",),
    "dp": ("dataparallel", "dataparallelsize"),
    "sp": ("sequenceparallel",),
    "zero": ("zerostage", "sharding", "fsdp"),
    "mbs": ("microbatchsize", "microbatch", "b"),
    "gbs": ("globalbatchsize", "globalbatch", "batchsize", "batch"),
    "num_microbatches": ("gradacc", "gradaccum", "gradientaccumulationsteps", "microbatches", "m"),
    "recompute": ("recomputation", "activationcheckpointing", "recomputegranularity", "ac"),
    "precision": ("dtype", "datatype"),
    "tflops_per_gpu": ("tflops", "tflopspergpu", "tflopsgpu", "tflopss", "tflopsgpusec"),
    "mfu_pct": ("mfupercent",),
    "hfu_pct": ("hfupercent",),
    "step_time_s": ("steptime", "iterationtime", "iterationtimes", "itertime", "secondsperstep"),
    "tokens_per_s_per_gpu": (
        "toksgpu",
        "tokenssgpu",
        "tokenspersecpergpu",
        "tokenspersecondpergpu",
        "tps",
        "tokensgpusec",
    ),
    "mem_gb": ("memory", "memorygb", "peakmemorygb", "maxmemorygb", "peakmemgb"),
    "flop_convention": ("flops", "flopconvention", "flopscounted"),
    "network": ("interconnect", "networkgbit", "networkgbitpergpu"),
    "software": ("framework", "stack"),
    "date": ("measured", "measuredon"),
    "release": ("version", "container", "softwareversion"),
    "attention_kernel": ("attention", "attentionbackend", "attentionimpl", "attnimplementation"),
    "compiled": ("torchcompile", "compile"),
    "dispatcher": ("moetokendispatchertype", "tokendispatcher", "moedispatcher"),
    "overlap": ("overlaps", "commoverlap"),
    "schedule": ("pipelineschedule",),
    "mem_unit": ("memunit", "memoryunit"),
    "mem_rank": ("memrank", "memoryrank"),
    "mem_reading": ("memreading", "memoryreading"),
}
# Columns in another unit or apart, each turned into one of ours by `steptime.evidence.own_rows`.
OTHER_UNITS = {
    "steptimems": "step_time_ms",
    "iterationtimems": "step_time_ms",
    "mfu": "mfu",
    "hfu": "hfu",
    "tokenspersec": "tokens_per_s",
    "tokenspers": "tokens_per_s",
    "tokenss": "tokens_per_s",
    "tokenspersecond": "tokens_per_s",
    "samplespers": "samples_per_s",
    "samplespersec": "samples_per_s",
    "samplespersecond": "samples_per_s",
    "gbstokens": "gbs_tokens",
    "batchtokens": "gbs_tokens",
    "globalbatchtokens": "gbs_tokens",
    "globalbatchsizetokens": "gbs_tokens",
    "tokensperstep": "gbs_tokens",
}
# Letters that mean one thing small and another large, as options do.
_AS_WRITTEN = {"B": "gbs"}
BLANK = {
    *("", "n/a", "na", "-", "--", "nan", "none", "null", "?", "tbd", "unknown", "unstated"),
    *("not stated", "not reported", "not given", "\N{EN DASH}", "\N{EM DASH}"),
}
_YES = {"y": "y", "yes": "y", "true": "y", "1": "y", "1.0": "y", "on": "y"}
_NO = {"n": "n", "no": "n", "false": "n", "0": "n", "0.0": "n", "off": "n"}


def folded(text: str) -> str:
    """Return a column's name with letters and digits alone.

    Args:
        text: As it stands in the file.
    """
    return re.sub(r"[^a-z0-9]", "", text.lower())


_KNOWN = {
    **{other: name for name, others in _OTHER_NAMES.items() for other in others},
    **OTHER_UNITS,
    **{folded(name): name for name in COLUMNS},
}


def column_of(head: str) -> str | None:
    """Return the column that a head means, or None.

    Args:
        head: As it stands in the file.
    """
    return _AS_WRITTEN.get(head) or _KNOWN.get(folded(head))


def _types(column: str) -> set[type[Any]]:
    """Return the plain types that a column takes."""
    found: set[type[Any]] = set()
    open_: list[Any] = [PublishedRow.model_fields[column].annotation]
    while open_:
        kind = open_.pop()
        parts = get_args(kind)
        if isinstance(kind, type) and not isinstance(kind, UnionType):
            found.add(kind)
        open_.extend(part for part in parts if part is not type(None))
    return found


_COUNTS = {name for name in COLUMNS if int in _types(name)}
_NUMBERS = _COUNTS | {name for name in COLUMNS if float in _types(name)}
_NUMBERS |= set(OTHER_UNITS.values())
_YES_NO = {"gated_mlp", "tied", "sp", "compiled", "tokens_rounded"}


def number_text(text: str) -> str:
    """Return a number as Python reads it: no thousands' commas, decimal point, no unit.

    Args:
        text: The cell, such as ``1,024``, ``12,5``, ``~ 45 %`` or ``64.0``.
    """
    plain = text.strip().lstrip("~\N{ALMOST EQUAL TO}").replace("\N{NO-BREAK SPACE}", " ").strip()
    plain = re.sub(
        r"\s*(%|s|sec|seconds|gb|gib|tflops?(/s)?|gpus?|tokens/s)$", "", plain, flags=re.I
    )
    if re.fullmatch(r"\d{1,3}([, _]\d{3})+(\.\d+)?", plain):
        plain = re.sub(r"[, _]", "", plain)
    elif re.fullmatch(r"\d+,\d+", plain):
        plain = plain.replace(",", ".")
    return re.sub(r"^(\d+)\.0+$", r"\1", plain)


def cleaned(column: str, text: str) -> str:
    """Return a cell as the schema takes it.

    Args:
        column: One of ``COLUMNS`` or of the values of ``OTHER_UNITS``.
        text: As it stands in the file.
    """
    plain = text.strip()
    if plain.lower() in BLANK and (column in _NUMBERS or column in _YES_NO):
        return ""
    if column in _YES_NO:
        return _YES.get(plain.lower()) or _NO.get(plain.lower()) or plain
    if column == "seq_len" and (kilo := re.fullmatch(r"(\d+) ?k", plain, re.IGNORECASE)):
        return str(1024 * int(kilo.group(1)))
    return number_text(plain) if column in _NUMBERS else plain
