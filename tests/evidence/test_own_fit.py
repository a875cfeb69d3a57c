"""Constants of a user's cluster, rows that stand out, and rows that leave something open."""

from __future__ import annotations

import math
import random
from pathlib import Path
from statistics import fmean

import pytest

pytest.importorskip("scipy")


from steptime.evidence.diagnose import diagnoses
from steptime.evidence.judge import run_result, validation
from steptime.evidence.ladder import RUNGS
from steptime.evidence.open_rows import open_rows
from steptime.evidence.own_curve import drawn, sources_left_out
from steptime.evidence.own_fit import OwnFit, fit_to, own_fit, write_fit
from steptime.evidence.own_steps import moved
from steptime.evidence.row_device import measured
from steptime.evidence.runs import run_of
from steptime.evidence.samples import samples
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.constants import MOST_SHARE, published_constants, read_constants
from steptime.inputs.errors import ConfigError

ROWS = published_rows()
KORTHIKANTI = [row for row in ROWS if row.id.startswith("kor22")]


def measured_by(constants: object, rows: list[PublishedRow]) -> list[PublishedRow]:
    """Return the rows with the step time that other constants would give."""
    made = []
    for row in rows:
        result = run_result(run_of(row), constants=constants)  # type: ignore[arg-type]
        made.append(row.model_copy(update={"step_time_s": result.step_time_s}))
    return made


# ---- limit


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_fit_finds_the_factor_that_slowed_a_cluster(factor: float) -> None:
    base = published_constants()
    true = moved(base, frozenset({"ampere"}), (math.log(factor), 0.0, 0.0))
    fit = own_fit(measured_by(true, KORTHIKANTI))
    first = fit.learned[0]
    assert first.name == "factor"
    assert first.value == pytest.approx(factor, rel=0.03)
    assert first.low < factor < first.high
    assert fit.mean_after < 0.03 < fit.mean_before


def test_a_fit_finds_a_network_that_is_half_as_fast() -> None:
    base = published_constants()
    rows = [row for row in ROWS if row.id.startswith("vtrain")]
    true = moved(base, frozenset({"ampere"}), (0.0, math.log(2.0), 0.0))
    fit = own_fit(measured_by(true, rows))
    assert [one.name for one in fit.learned] == ["factor", "network"]
    assert fit.learned[0].value == pytest.approx(1.0, abs=0.05)
    assert 1.4 < fit.learned[1].value < 2.2
    assert fit.mean_after < 0.5 * fit.mean_before


def test_runs_as_predicted_teach_nothing() -> None:
    fit = own_fit(measured_by(published_constants(), KORTHIKANTI))
    assert fit.learned == ()
    assert fit.constants == published_constants()


def test_one_run_moves_the_factor_part_of_the_way() -> None:
    rows = measured_by(published_constants(), KORTHIKANTI[:1])

    def slowed(times: float) -> OwnFit:
        step_s = times * (rows[0].step_time_s or 0.0)
        return own_fit([rows[0].model_copy(update={"step_time_s": step_s})])

    fit = slowed(1.15)
    assert fit.mean_left_out is None
    assert 1.0 < fit.learned[0].value < 1.15
    assert fit.learned[0].low < 1.0 < fit.learned[0].high
    # Runs of one cluster differ by more than this: its sign is a toss, and nothing is learned.
    kept = slowed(1.04)
    assert kept.learned == ()
    assert kept.constants == published_constants()


def test_runs_measured_thrice_too_slow_are_set_aside() -> None:
    chosen = [row for row in ROWS if row.id.startswith("nar21-t1")]
    clean = own_fit(chosen)
    slow = [
        row.model_copy(update={"tflops_per_gpu": (row.tflops_per_gpu or 0.0) / 3.0})
        for row in chosen[:3]
    ]
    fit = own_fit([*slow, *chosen[3:]])
    assert fit.set_aside == tuple(row.id for row in slow)
    assert fit.rows == clean.rows - 3


def test_runs_that_scatter_teach_less() -> None:
    slow = [
        row.model_copy(update={"step_time_s": 1.2 * (row.step_time_s or 0.0)})
        for row in measured_by(published_constants(), KORTHIKANTI)
    ]
    factors = (1.25, 0.8, 1.2, 0.85, 1.25, 0.8, 1.15, 0.9, 1.2, 0.8)
    noisy = [
        row.model_copy(update={"step_time_s": (row.step_time_s or 0.0) * factor})
        for row, factor in zip(slow, factors, strict=True)
    ]
    calm, wild = own_fit(slow), own_fit(noisy)
    assert wild.scatter > 0.1 > calm.scatter
    widths = [math.log(fit.learned[0].high / fit.learned[0].low) for fit in (calm, wild)]
    assert widths[1] > 1.1 * widths[0]
    # Runs that do not agree move the factor less from what other clusters have.
    assert 1.0 < wild.learned[0].value < 0.97 * calm.learned[0].value


# ---- published


@pytest.mark.slow
@pytest.mark.parametrize("rung", RUNGS)
def test_a_fit_is_no_worse_on_rows_that_it_did_not_see(rung: str) -> None:
    """200 draws of 1, 3 or 10 rows of a source that was left out, its others predicted."""
    sources, draw = sources_left_out(13, rung), random.Random(11)
    assert len(sources) >= 10
    found = [drawn(draw.choice(sources), draw.choice((1, 3, 10)), draw) for _ in range(200)]
    assert {one.count for one in found} == {1, 3, 10}
    gains = []
    for count in (1, 3, 10):
        chosen = [one for one in found if one.count == count]
        gains.append(fmean(one.before - one.after for one in chosen))
    assert fmean(one.before - one.after for one in found) > 0.0
    # Of a third of the draws, a hundredth of the error is chance.
    assert min(gains) > -0.01 * fmean(one.before for one in found)
    assert {one.learned for one in found} >= {(), ("factor",)}
    # Where nothing is known ten runs take away a tenth of the error, and one half of that.
    if rung == "nothing":
        assert gains[2] > 0.1 * fmean(one.before for one in found) > 2.0 * 0.03 * gains[0]


# ---- invariant


def test_a_fit_is_read_back_from_its_file(tmp_path: Path) -> None:
    fit = own_fit(KORTHIKANTI)
    assert fit.worth_it
    write_fit(fit, tmp_path / "own.toml")
    assert read_constants(tmp_path / "own.toml") == fit.constants


def test_a_share_without_bits_is_of_all_bits_but_those_named(tmp_path: Path) -> None:
    path, base = tmp_path / "own.toml", published_constants()
    path.write_text("[constants]\nblackwell_efficiency = 0.5\n", encoding="utf-8")
    own = read_constants(path)
    assert [own.of("blackwell", bits).efficiency for bits in (16, 8, 4)] == [0.5, 0.5, 0.5]
    assert own.of("hopper", 8) == base.of("hopper", 8)
    path.write_text("[constants]\ncdna4_efficiency = 0.5\n", encoding="utf-8")
    assert [read_constants(path).of("cdna4", bits).efficiency for bits in (16, 8)] == [0.5, 0.5]
    narrower = "blackwell_efficiency = 0.5\nblackwell_8_bit_efficiency = 0.6\n"
    path.write_text(f"[constants]\n{narrower}", encoding="utf-8")
    own = read_constants(path)
    assert [own.of("blackwell", bits).efficiency for bits in (16, 8, 4)] == [0.5, 0.6, 0.5]
    path.write_text("[constants]\nblackwell_8_bit_efficiency = 0.6\n", encoding="utf-8")
    assert read_constants(path) == base.changed({"blackwell_8_bit_efficiency": 0.6})


def test_a_row_is_judged_with_the_files_constants(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[constants]\nampere_efficiency = 0.5\n", encoding="utf-8")
    own = read_constants(tmp_path / "own.toml")
    assert own == published_constants().changed({"ampere_efficiency": 0.5})
    run = run_of(KORTHIKANTI[0])
    slower = run_result(run, constants=own).breakdown_s["compute"]
    assert slower > 1.5 * run_result(run).breakdown_s["compute"]


def test_open_rows_lie_between_their_choices() -> None:
    found = open_rows(ROWS, published_constants())
    assert {"llama3-001", "llama3-002", "nar21-t2-007"} <= {one.id for one in found}
    # Where nothing else is open. Others leave what is recomputed or the precision open as well.
    told = {row.id for row in ROWS if row.recompute and row.precision}
    measured_ids = {row.id for row in ROWS if measured(row)}
    assert len(told & {one.id for one in found}) >= 12
    assert all(one.inside for one in found if one.id in told & measured_ids)
    # On devices whose rate is inferred, three lie beside the fastest choice, by 1.31 % at most.
    beside = [one for one in found if one.id in told and not one.inside]
    assert len(beside) == 3
    for one in beside:
        assert one.step_time_low_s < 1.0132 * one.published_step_time_s


def test_a_wrong_layout_is_told_from_a_wrong_measurement() -> None:
    chosen = [row for row in ROWS if row.id.startswith("nar21-t1")]
    chosen = measured_by(published_constants(), chosen)
    interleaved = chosen[7]
    wrong = interleaved.model_copy(update={"vpp": 1, "gbs": 240})
    good = interleaved.model_copy(update={"gbs": 240})
    time_s = run_result(run_of(good)).step_time_s
    wrong = wrong.model_copy(update={"step_time_s": time_s, "id": "described"})
    slow = chosen[3].model_copy(
        update={"id": "measured", "step_time_s": 1.6 * (chosen[3].step_time_s or 0.0)}
    )
    rows = [*chosen, wrong, slow]
    doubts = diagnoses(rows, validation(rows).rows, published_constants())
    by_id = {doubt.id: doubt for doubt in doubts}
    assert by_id["described"].suspicion == "mis-described"
    assert "vpp" in by_id["described"].why
    assert by_id["measured"].suspicion in ("mis-measured", "mis-described")
    assert abs(by_id["measured"].error + math.log(1.6)) < 1e-9
    assert len(doubts) == 2


def test_rows_that_nobody_can_have_measured_teach_nothing() -> None:
    slower = [
        row.model_copy(update={"step_time_s": 1.2 * (row.step_time_s or 0.0)})
        for row in measured_by(published_constants(), KORTHIKANTI)
    ]
    wild = [
        slower[0].model_copy(update={"id": f"wild-{times:g}", "step_time_s": times * time_s})
        for times in (0.1, 12.0)
        for time_s in (slower[0].step_time_s or 0.0,)
    ]
    assert {one.id for one in validation([*slower, *wild]).rows if one.kept_out} == {
        "wild-0.1",
        "wild-12",
    }
    assert own_fit([*slower, *wild]) == own_fit(slower)


def test_constants_that_no_file_may_hold_are_not_learned() -> None:
    rows = measured_by(published_constants(), KORTHIKANTI)
    share = published_constants().efficiency["ampere", 16]
    times = 0.95 * share / MOST_SHARE
    fast = [
        row.model_copy(update={"step_time_s": times * (row.step_time_s or 0.0)}) for row in rows
    ]
    base = published_constants()
    kept = samples(fast)
    fit = fit_to(kept, base)
    assert (fit.learned, fit.constants, fit.fitted, fit.worth_it) == ((), base, (), False)
    assert "ampere_efficiency must be a number" in fit.refused
    assert "likely mis-described" in fit.refused


# ---- refusal


def test_no_row_is_too_few() -> None:
    with pytest.raises(ConfigError, match="at least 1 row"):
        own_fit([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no table"),
        ("[constants]\nampere_eficiency = 0.9\n", "did you mean 'ampere_efficiency'"),
        ("[constants]\nampere_efficiency = 'x'\n", "must be a number"),
    ],
)
def test_a_wrong_file_of_constants_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_constants(tmp_path / "own.toml")
