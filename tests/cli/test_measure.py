"""`steptime measure`: what it leaves behind when it cannot go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from steptime.cli.main import run as command
from steptime.evidence.measure_backends import NumpyBackend

# ---- refusal


def test_a_device_that_falls_over_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall_over(*_: object) -> float:
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(NumpyBackend, "agreed", fall_over)
    assert command(["measure", "--backend", "numpy", "--out", str(tmp_path / "x.toml")]) == 2
    assert "measuring failed: an illegal memory access" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_measuring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NumpyBackend, "product", None)
    out = tmp_path / "none" / "x.toml"
    assert command(["measure", "--backend", "numpy", "--out", str(out)]) == 2
    assert "No such file" in capsys.readouterr().err


def test_an_interrupted_measurement_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> Callable[[], float]:
        raise KeyboardInterrupt

    out = tmp_path / "x.toml"
    out.write_text("old", encoding="utf-8")
    monkeypatch.setattr(NumpyBackend, "copy", interrupt)
    words = ["measure", "--backend", "numpy", "--largest", "1024", "--seconds", "0.1"]
    assert command([*words, "--out", str(out)]) == 130
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


# ---- what is answered of a measured processor

PROCESSOR = """
[mine]
generation = ""
peak_tflop_per_s = 0.05
matmul_tflop_per_s = 0.05
hbm_gbyte = 25
hbm_gbyte_per_s = 74
nvlink_gbyte_per_s_both = 148
nvlink_domain = 1
network_gbit_per_s = 100
timings = [
  {{ kind = "product", precision = "{}", size = [64, 64, 64], seconds = 1, rate = 1, runs = 1, spread = 1 }},
  {{ kind = "copy", precision = "", size = [64], seconds = 1, rate = 1, runs = 1, spread = 1 }},
]
"""  # noqa: E501


@pytest.mark.parametrize(
    ("bits", "peak"), [("fp32", "best rate measured (fp32)"), ("bf16", "16-bit peak")]
)
def test_a_processor_is_told_in_its_own_bits_and_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bits: str, peak: str
) -> None:
    path = tmp_path / "cpu.toml"
    path.write_text(PROCESSOR.format(bits), encoding="utf-8")
    assert command(["predict", "-m", "gpt2", "-a", str(path), "-s", "512", "-B", "8"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f" of the {peak} with attention in full" in told
    rate = float(told.partition(" TFLOP/s per GPU")[0].rpartition(" ")[2])
    share = float(told.partition("MFU ")[2].partition(" ")[0])
    # Three digits of 0.05 TFLOP/s times the share that is told.
    assert rate == pytest.approx(0.05 * share / 100.0, rel=5e-3)
    assert "no run on this device was compared, nor on any of its kin" in told
    assert "nobody compared runs on the kin of mine" in told
    assert "generation " not in told
