"""What a question leaves open of its memory: naming a thing moves the peak as the ranking says."""

from __future__ import annotations

import json
import math

import pytest

from steptime.answer import predict
from steptime.answer.choices import choices_of
from steptime.answer.unstated import MEMORY
from steptime.cli.main import run
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.stack import MEMORY_FACTS, WORD_FACTS

ASKED = {
    "model": "llama3-70b",
    "accelerator": "h100",
    "seq_length": 8192,
    "global_batch_size": 512,
    "tp": 8,
    "pp": 4,
    "dp": 8,
}
LINE = "memory -m llama3-70b -a h100 -s 8192 -B 512 --tp 8 --pp 4 --dp 8".split()
FOUND = predict(**ASKED)

# ---- by hand


def test_what_counts_most_comes_first() -> None:
    by_name = {one.what: one for one in FOUND.unstated_of_memory}
    assert FOUND.unstated_of_memory[0].change == max(one.change for one in by_name.values())
    # Eight micro-batches more at a time weigh more than what a context takes.
    assert by_name["micro_batch_size"].change > by_name["reserve_bytes"].change
    # What concerns time alone is no thing of memory.
    assert not {"network_gbit", "overlap_dp", "eager", "loss_bytes"} & set(by_name)


# ---- invariant


@pytest.mark.parametrize("place", range(6))
def test_naming_a_thing_gives_the_peaks_told(place: int) -> None:
    one = FOUND.unstated_of_memory[place]
    peaks = [FOUND.total_bytes]
    for choice in choices_of(FOUND.step, FOUND.software, MEMORY)[one.what]:
        try:
            peaks.append(predict(**ASKED | choice.stated).total_bytes)
        except ConfigError:
            continue
    assert (one.low_bytes, one.high_bytes) == (min(peaks), max(peaks))
    assert one.change == pytest.approx(math.log(max(peaks) / min(peaks)))


def test_a_fact_that_is_stated_is_not_open() -> None:
    stated = predict(**ASKED, facts={"gated_values": 4.0})
    assert "gated_values" in {one.what for one in FOUND.unstated_of_memory}
    assert "gated_values" not in {one.what for one in stated.unstated_of_memory}


def test_every_fact_that_is_asked_for_is_one_of_memory() -> None:
    assert set(data_table("open_things.toml")[MEMORY]) <= {*MEMORY_FACTS, *WORD_FACTS}


# ---- on the command line


def test_memory_prints_the_three_first(capsys: pytest.CaptureFixture[str]) -> None:
    first = FOUND.unstated_of_memory
    assert run(LINE) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"naming {first[0].says} would settle this most: {first[0].how}" in told
    assert f"naming {first[2].says}: {first[2].how}" in told
    assert f"naming {first[3].says}" not in told
    assert run([*LINE, "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["unstated"]
    assert [one["what"] for one in kept] == [one.what for one in first]
    assert kept[0]["high_bytes"] == first[0].high_bytes
