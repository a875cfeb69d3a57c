"""Which precision a file asks for; 32 bits are said loudly."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.reading import Reading
from steptime.readers.keys.safe import shown

PLAIN_32 = "fp32"
DEFAULT_IS_32 = (
    "megatron megatron-deepspeed mindspeed trainer llama-factory axolotl gpt-neox"
).split()
"""Formats whose software computes in 32 bits where nothing else is asked for."""

_WORDS = {
    "bf16": "bf16",
    "bfloat16": "bf16",
    "torch.bfloat16": "bf16",
    "bf16-mixed": "bf16",
    "bf16-true": "bf16",
    "bf16_mixed": "bf16",
    "fp16": "fp16",
    "float16": "fp16",
    "16": "fp16",
    "16-mixed": "fp16",
    "16-true": "fp16",
    "fp16_mixed": "fp16",
    "fp16-mixed": "fp16",
    "fp8": "fp8",
    "fp32": PLAIN_32,
    "float32": PLAIN_32,
    "32": PLAIN_32,
    "32-true": PLAIN_32,
    "no": PLAIN_32,
    "mxfp8": "mxfp8",
    "nvfp4": "nvfp4",
}
_RECIPES = {"mxfp8": "mxfp8"}
_OFF = ("", "false", "none", "null", "mixedprecisionconfig")
"""What says nothing by itself; the last is a record, whose fields do."""


def asks_wide(reading: Reading) -> bool:
    """Return whether a file asks for products in 32 bits.

    Args:
        reading: Of the file.
    """
    return bool(reading.value("precision") == PLAIN_32)


def ruled_out(reading: Reading) -> frozenset[str]:
    """Return the causes of a gap, of ``data/causes.toml``, that a file rules out.

    Args:
        reading: Of the file.
    """
    # Who asks for 16 bits or fewer by name has no products in 32.
    is_narrow = "precision" in reading.facts and not asks_wide(reading)
    return frozenset((*reading.ruled_out, *(["fp32"] if is_narrow else [])))


def precision(entries: Entries) -> None:
    """Note the precision of the matrix products.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If a word is not understood.
    """
    reading = entries.reading
    recipe = entries.word("fp8_recipe")
    key, name = _named(entries)
    low, four = ("fp8", "fp8_format", "fp8_hybrid_format"), ("fp4", "fp4_format")
    older = next((one for one in ("fp8_hybrid", "fp8_e4m3") if entries.flag(one)), None)
    if any(entries.word(one) not in _OFF for one in four):
        key, name = four[0], "nvfp4"
        kind = entries.word("fp4_recipe")
        if kind not in ("", name):
            reading.notes.append(
                f"fp4_recipe = {kind}: taken as {name}, whose products take as long"
            )
    elif any(entries.word(one) not in _OFF for one in low):
        key, name = low[0], _RECIPES.get(recipe, "fp8")
    elif older is not None:
        key, name = older, "fp8"
    if name is None:
        _silent(entries)
        return
    line = entries.line(key, "fp8_format", "fp4_format")
    reading.state("precision", name, line=line, written=key)
    if name == PLAIN_32:
        _warn(entries, f"{key} asks for it")


def _named(entries: Entries) -> tuple[str, str | None]:
    """Return the key and the precision that a word or a switch gives; None if none does."""
    word = entries.word("mixed_precision", "precision")
    found = None
    if word and word not in _OFF and "_target_" not in word:
        found = _WORDS.get(word, _of_recipe(word))
        if found is None:
            line = entries.line("mixed_precision", "precision")
            raise ConfigError(
                f"{entries.reading.at(line)}: precision {shown(word)} is not understood; known: "
                f"{', '.join(_WORDS)}"
            )
    switches = [entries.flag("bf16"), entries.flag("fp16")]
    half = entries.word("half_type")
    if all(switches):
        line = entries.line("fp16")
        raise ConfigError(
            f"{entries.reading.at(line)}: bf16 and fp16 are both asked for, which "
            f"{entries.reading.title} refuses; keep one"
        )
    if switches[0]:
        return "bf16", "bf16"
    if switches[1]:
        return "fp16", half or "fp16"
    return "precision", found


def _of_recipe(word: str) -> str | None:
    """Return the precision that a recipe of Megatron-Bridge names: the narrowest of its parts."""
    parts = word.replace("-", "_").split("_")
    for name in ("nvfp4", "mxfp8", "fp8", "bf16", "fp16"):
        if name in parts:
            return name
    return None


def _silent(entries: Entries) -> None:
    """Note what a file that gives no precision runs in."""
    reading = entries.reading
    asked = any(gap.split(":")[0] in ("bf16", "fp16", "precision") for gap in reading.missing)
    given = [entries.entry(name) for name in ("bf16", "fp16")]
    if any(one is not None and str(one.value).lower() == "auto" for one in given):
        reading.assume("precision", "bf16", "the file leaves it to the device")
    elif asked:
        return
    elif reading.kind in DEFAULT_IS_32 and not any(
        one is not None and one.line > 0 for one in given
    ):
        reading.assume("precision", PLAIN_32, "neither bf16 nor fp16 is asked for")
        _warn(entries, "neither bf16 nor fp16 is asked for")
    elif any(one is not None for one in given):
        reading.assume("precision", PLAIN_32, "bf16 and fp16 are off")
        _warn(entries, "bf16 and fp16 are off")
    else:
        reading.assume("precision", "bf16", "no precision is given")


def _warn(entries: Entries, why: str) -> None:
    entries.reading.notes.insert(
        0,
        f"32 BITS: {why}, so this run computes in fp32, whose products take 8 times as long as "
        "16-bit ones and more; the time here is that of bf16, add --bf16 if that is meant",
    )
