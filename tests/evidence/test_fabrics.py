"""What share of the network each source would want for itself."""

from dataclasses import replace

import numpy as np
import pytest

from steptime.evidence.adding import step_of
from steptime.evidence.fabrics import (
    HIGHEST,
    LOWEST,
    NOT_NAMED,
    SHARE,
    Wanted,
    moves,
    over_servers,
    published_shares,
    span,
    that_tell,
    wanted_of,
    wanted_share,
)
from steptime.evidence.residuals import EXPERTS
from steptime.evidence.samples import Sample, main_samples, table
from steptime.evidence.text_table import by_phrase
from steptime.inputs.constants import published_constants

CONSTANTS = published_constants()


def made(samples: tuple[Sample, ...], share: float) -> list[Sample]:
    """Return runs whose measured step is what the model says at a share of the network."""
    steps_s = step_of(table(samples).parts(CONSTANTS.changed({SHARE: share})))
    return [replace(one, step_time_s=float(s)) for one, s in zip(samples, steps_s, strict=True)]


BLOOM = tuple(one for one in over_servers(main_samples()) if one.origin == "bloom")


# --- by hand


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_runs_that_a_share_made_want_it(share: float) -> None:
    assert wanted_share(table(made(BLOOM, share)), CONSTANTS) == pytest.approx(share, rel=1e-4)


def test_the_median_is_of_those_that_tell_alone() -> None:
    def one(share: float, moved: float) -> Wanted:
        return Wanted(source="s", fabric="", runs=3, most_devices=16, share=share, moves=moved)

    told = [one(0.2, 0.1), one(0.4, 0.2), one(0.9, 0.1), one(0.3, 0.01), one(HIGHEST, 0.3)]
    assert span(told) == (0.2, 0.4, 0.9)


# --- limit


def test_a_share_beyond_what_is_looked_for_is_its_end() -> None:
    slow = [replace(one, step_time_s=one.step_time_s * 1e3) for one in BLOOM]
    fast = [replace(one, step_time_s=one.step_time_s / 1e3) for one in BLOOM]
    assert wanted_share(table(slow), CONSTANTS) == LOWEST
    assert wanted_share(table(fast), CONSTANTS) == HIGHEST


def test_a_run_on_one_server_says_nothing_of_the_network() -> None:
    kept = over_servers(main_samples())
    assert all(one.kind != EXPERTS for one in kept)
    alone = [
        one
        for one in main_samples()
        if one.inputs.run.layout.num_devices <= one.inputs.run.accelerator.nvlink_domain
    ]
    assert not {one.id for one in kept} & {one.id for one in alone}
    assert moves(table(alone[:20]), CONSTANTS) == 0.0


# --- the data


def test_every_fabric_is_named_in_the_text_of_its_network() -> None:
    words = {"Omni-Path": "Omni-Path", "RoCE": "RoC", "HDR": "HDR", "Ethernet": "thernet"}
    words |= {"data-centre network": "DCN"}
    infiniband = ("NDR", "400Gb/s")
    for text, fabric in by_phrase("networks.csv", "fabric").items():
        if fabric == "NDR" and " " in text:
            assert any(word in text for word in infiniband), text
        elif fabric and " " in text:
            assert words[fabric].casefold() in text.casefold(), text


def test_the_published_share_lies_amid_what_sources_want() -> None:
    """It is one for all: no named fabric has two sources that tell, to know one from the other."""
    found = published_shares()
    least, usual, most = span(found)
    published = CONSTANTS.values()[SHARE]
    assert least < usual < most
    assert usual == pytest.approx(published, abs=0.05)
    assert sum(one.tells for one in found) >= 6
    heard = [one.fabric for one in that_tell(found) if one.fabric != NOT_NAMED]
    assert len(heard) == len(set(heard)) >= 3
    assert {"HDR", "NDR", "RoCE", "Omni-Path", NOT_NAMED} == {one.fabric for one in found}
    assert all(one.runs >= 3 and one.moves > 0.0 for one in found)


def test_a_figure_is_of_the_fabric_of_its_sources_table() -> None:
    (one,) = (one for one in published_shares() if one.source == "nar21")
    assert one.fabric == "HDR"


def test_sources_are_asked_one_by_one() -> None:
    (alone,) = wanted_of(BLOOM, CONSTANTS)
    assert alone in published_shares()
    assert alone.runs == len(BLOOM)
    assert np.isfinite(alone.share)
