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
