"""What a rank's trace is read from where device and processor both say it, and messages of Gloo."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_traces import GEMM, kernel, mark, message, write

from steptime.inputs.errors import ConfigError
from steptime.readers.trace.events import LARGEST_EVENT_BYTES
from steptime.readers.trace.rank import RankTrace, read_rank

REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def lengths_us(found: RankTrace) -> list[int]:
    """Return the lengths of the steps in whole microseconds."""
    return [round((end - start) * 1e6) for start, end in found.steps.values()]


# --- by hand


@pytest.mark.parametrize(
    ("device", "wanted"), [(True, [100]), (False, [90])], ids=["both", "processor alone"]
)
def test_steps_are_the_devices_where_it_has_them(
    device: bool, wanted: list[int], tmp_path: Path
) -> None:
    events = [kernel(GEMM, 0.0, 50.0), mark("ProfilerStep#5", 0.0, 90.0, device=False)]
    events += [mark("ProfilerStep#5", 0.0, 100.0)] if device else []
    assert lengths_us(read_rank(write(tmp_path / "rank.json", events))) == wanted


def test_a_message_of_gloo_is_the_processors(tmp_path: Path) -> None:
    events = [
        kernel(GEMM, 0.0, 50.0),
        mark("gloo:all_reduce", 10.0, 5.0, device=False),
        mark("gloo:all_reduce", 20.0, 7.0, device=True),
        mark("forward", 0.0, 50.0, device=False),
    ]
    found = read_rank(write(tmp_path / "rank.json", events))
    assert [round((one.end_s - one.start_s) * 1e6) for one in found.messages] == [5]


@pytest.mark.parametrize(
    ("size", "elements", "wanted"),
    [(8, 1024, (8, 1024)), (1, 1, (1, 1)), (0, 0, (0, 0)), (-1, -5, (0, 0)), ("8", None, (0, 0))],
)
def test_what_a_message_says_of_its_size(
    size: object, elements: object, wanted: tuple[int, int], tmp_path: Path
) -> None:
    said = {"Group size": size, "In msg nelems": elements}
    events = [kernel(GEMM, 0.0, 5.0), message(REDUCE, 5.0, 5.0, "allreduce", **said)]
    (one,) = read_rank(write(tmp_path / "rank.json", events)).messages
    assert (one.group_size, one.elements) == wanted


# --- limit


def test_one_event_holds_sixteen_mebibytes_at_most(tmp_path: Path) -> None:
    assert LARGEST_EVENT_BYTES == 16 * 1024 * 1024
    first, mebibyte = kernel(GEMM, 0.0, 5.0), 1024 * 1024
    long = kernel(GEMM, 5.0, 5.0, note="x" * (15 * mebibyte))
    both = read_rank(write(tmp_path / "rank.json", [first, long]))
    assert (
        both.kernels
        == read_rank(write(tmp_path / "rank.json", [first, kernel(GEMM, 5.0, 5.0)])).kernels
    )
    long = kernel(GEMM, 5.0, 5.0, note="x" * (17 * mebibyte))
    with pytest.raises(ConfigError, match="no event ends within 16 MiB"):
        read_rank(write(tmp_path / "rank.json", [first, long]))
