"""How many layers a file gives each pipeline rank, and what of that a layout states."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from steptime.formulas.schedule import entry_number
from steptime.formulas.validity import ends_count
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES, STAGE_FIELDS
from steptime.inputs.usual import USUAL_SCHEDULE
from steptime.readers.keys.reading import Reading

CHUNKS, EMBEDDING, HEAD = "chunk_layers", "embedding_weight", "head_weight"
"""Facts of a reading: layers of each chunk, and the layers that an end counts for."""


def spread(num_layers: int, chunks: int, embedding: int, head: int) -> list[int]:
    """Return the layers of each chunk where the ends count as some layers.

    What does not divide goes to the first chunks.

    Args:
        num_layers: Of the model.
        chunks: Of all ranks.
        embedding: Layers that the embedding counts for.
        head: Layers that the head counts for.

    References:
        torchtitan2025, torchtitan/distributed/pipeline_parallel.py; megatronlm2026,
        --account-for-embedding-in-pipeline-split.
    """
    each, more = divmod(num_layers + embedding + head, chunks)
    found = [each + (place < more) for place in range(chunks)]
    found[0] -= embedding
    found[-1] -= head
    return found


def rank_layers(chunks: Sequence[int], pp: int, schedule: str) -> list[int]:
    """Return the layers of each rank: a V comes back, else chunks go round the ranks.

    Args:
        chunks: Layers of each chunk, in the order of the model.
        pp: Ranks.
        schedule: Name of the schedule.
    """
    if entry_number("vee", float(SCHEDULES.index(schedule))) > 0.0:
        return [chunks[rank] + chunks[-1 - rank] for rank in range(pp)]
    return [sum(chunks[rank::pp]) for rank in range(pp)]


def uneven_between(ranks: Sequence[int]) -> bool:
    """Return whether ranks between the first and the last differ by more than rounding.

    Args:
        ranks: Layers of each.
    """
    between = ranks[1:-1]
    return bool(between) and max(between) - min(between) > 1


def note_chunks(
    reading: Reading, layers: Sequence[int], pp: int, schedule: str, where: tuple[str, int]
) -> None:
    """Note the layers of each chunk, and whether more of them is stated than can be told here.

    Args:
        reading: What was understood of the file.
        layers: Of each chunk, in the order of the model.
        pp: Ranks.
        schedule: Name of the schedule.
        where: The name of the key that says so, and its line.
    """
    written, line = where
    reading.state(CHUNKS, ",".join(map(str, layers)), line=line, written=written)
    if uneven_between(rank_layers(layers, pp, schedule)):
        reading.notes.append(f"{written}: stages between the ends are taken as even")


def counted_chunks(reading: Reading, pp: int) -> int | None:
    """Return the chunks of a rank that a number of layers in each stage makes.

    Both ends count as some layers too.

    Args:
        reading: What was understood of the file.
        pp: Ranks.

    Returns:
        None where the file says no such number, or the model is not known.

    Raises:
        ConfigError: If stages do not fit the ranks or the schedule.

    References:
        torchtitan2025, torchtitan/distributed/pipeline_parallel.py: _get_pipeline_metadata.
    """
    each, model = reading.value("layers_per_stage"), reading.model
    if each is None or model is None or pp == 1:
        return None
    ends = sum(int(reading.value(name, 0)) for name in (EMBEDDING, HEAD))
    number = -(-(model.num_layers + ends) // int(each))
    one_chunk = entry_number("chunks", _place(reading)) == 1.0
    here = (
        f"{reading.path}: {each} layers a stage of {model.num_layers} and {ends} for the ends make "
        f"{number} stages"
    )
    if number % pp:
        raise ConfigError(f"{here}, which pp={pp} does not divide")
    if one_chunk and number != pp:
        raise ConfigError(f"{here}, and this schedule has one on each of pp={pp} ranks")
    if not one_chunk and number == pp:
        raise ConfigError(f"{here}, and this schedule wants two or more on each of pp={pp} ranks")
    return number // pp


def _place(reading: Reading) -> float:
    return float(SCHEDULES.index(str(reading.value("schedule", USUAL_SCHEDULE))))


def stage_ends(reading: Reading, pp: int, vpp: int, schedule: str) -> dict[str, int]:
    """Return the layers of the ends that a file states; none where it cuts as is usual.

    That is evenly, or so that embedding and head count as a layer each where that divides.

    Args:
        reading: What was understood of the file.
        pp: Ranks.
        vpp: Chunks of each.
        schedule: Name of the schedule.
    """
    if pp == 1 or reading.model is None:
        return {}
    stated = {name: int(reading.value(name, 0)) for name in STAGE_FIELDS}
    if any(stated.values()):
        return stated
    chunks = _chunks(reading, pp * vpp)
    if len(chunks) != pp * vpp or sum(chunks) != reading.model.num_layers or min(chunks) < 0:
        return {}
    if ends_count(float(sum(chunks)), float(len(chunks))) and chunks == spread(
        sum(chunks), len(chunks), 1, 1
    ):
        return {}
    ranks = rank_layers(chunks, pp, schedule)
    falls = all(one >= after for one, after in pairwise(ranks))
    if min(ranks) < 1 or (falls and ranks[0] - ranks[-1] <= 1):
        return {}
    return dict(zip(STAGE_FIELDS, (ranks[0], ranks[-1]), strict=True))


def _chunks(reading: Reading, count: int) -> list[int]:
    """Return the layers of each chunk, as far as a file says; none where it does not."""
    written = str(reading.value(CHUNKS, ""))
    if written:
        return [int(word) for word in written.split(",")]
    ends = [int(reading.value(name, 0)) for name in (EMBEDDING, HEAD)]
    if not any(ends) or reading.model is None:
        return []
    return spread(reading.model.num_layers, count, *ends)
