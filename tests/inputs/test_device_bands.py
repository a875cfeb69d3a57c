"""Numbers of an accelerator's own file in another unit than their key says, and sparse peaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.inputs.datafiles import data_table
from steptime.inputs.device_bands import KINDS, known_shares
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator, accelerator_names

DEVICE: dict[str, object] = {
    "generation": '"hopper"',
    "peak_tflop_per_s": 989,
    "matmul_tflop_per_s": 794.5,
    "hbm_gbyte": 80,
    "hbm_gbyte_per_s": 3350,
    "nvlink_gbyte_per_s_both": 900,
    "network_gbit_per_s": 400,
}
TIMED = '[{ kind = "copy", precision = "", size = [64] }]'


def written(folder: Path, **changed: object) -> str:
    """Return the path of a device's file."""
    path = folder / "mine.toml"
    lines = (f"{name} = {value}" for name, value in (DEVICE | changed).items())
    path.write_text("\n".join(("[mine]", *lines)), encoding="utf-8")
    return str(path)


# ---- limit


def test_every_known_device_lies_in_its_bands() -> None:
    for name in accelerator_names():
        assert accelerator(name).peak_flop_per_s > 0.0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        # A tenth of the slowest and ten times the fastest; of networks a fiftieth.
        ("peak_tflop_per_s", 25_000),
        ("hbm_gbyte", 1.6),
        ("hbm_gbyte", 2880),
        ("hbm_gbyte_per_s", 41),
        ("hbm_gbyte_per_s", 80_000),
        ("nvlink_gbyte_per_s_both", 6.4),
        ("network_gbit_per_s", 0.5),
        ("network_gbit_per_s", 1),
        ("watt", 28),
        # A tenth of the share of its peak that the least of measured devices reaches.
        ("matmul_tflop_per_s", 989 * 0.0512),
    ],
)
def test_what_lies_within_ten_times_of_known_devices_is_taken(
    tmp_path: Path, key: str, value: float
) -> None:
    changed = {key: value}
    if key == "peak_tflop_per_s":
        changed["matmul_tflop_per_s"] = 20_000
    assert accelerator(written(tmp_path, **changed)).name == "mine"


# ---- refusal


@pytest.mark.parametrize(
    ("key", "value", "unit", "hint"),
    [
        ("hbm_gbyte_per_s", 3.35, "GB/s of memory", "3.35 TB/s would be 3350"),
        ("hbm_gbyte_per_s", 3.35e12, "GB/s of memory", "3.35e+12 bytes/s would be 3350"),
        ("peak_tflop_per_s", 0.989, "TFLOP/s of 16-bit products", "0.989 PFLOP/s would be 989"),
        ("peak_tflop_per_s", 989e12, "TFLOP/s of 16-bit", "9.89e+14 FLOP/s would be 989"),
        ("peak_fp8_tflop_per_s", 1.979, "TFLOP/s of 8-bit", "1.979 PFLOP/s would be 1979"),
        ("peak_fp4_tflop_per_s", 9.0, "TFLOP/s of 4-bit", "9 PFLOP/s would be 9000"),
        ("hbm_gbyte", 81920, "GB of memory", "81920 MiB would be 85.8993"),
        ("hbm_gbyte", 0.08, "GB of memory", "0.08 TB would be 80"),
        ("hbm_mib", 80, "MiB of memory", "80 GiB would be 81920"),
        ("nvlink_gbyte_per_s_both", 0.9, "GB/s of both", "0.9 TB/s would be 900"),
        ("network_gbit_per_s", 0.4, "Gb/s of a device's share", "0.4 Tb/s would be 400"),
        ("network_gbit_per_s", 400e9, "Gb/s of a device's share", "4e+11 b/s would be 400"),
        ("watt", 0.7, "W", "0.7 kW would be 700"),
        ("matmul_tflop_per_s", 0.7945, "TFLOP/s as measured", "0.7945 PFLOP/s would be 794.5"),
        ("matmul_tflop_per_s", 50, "TFLOP/s as measured", ""),
    ],
)
def test_a_number_in_another_unit_is_named_with_its_own(
    tmp_path: Path, key: str, value: float, unit: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        accelerator(written(tmp_path, **{key: value}))
    told = str(refused.value)
    assert told.startswith(f"accelerator 'mine': {key} {value:g} is likely in a wrong unit: ")
    assert f"it is in {unit}" in told
    assert "and known devices have " in told
    assert hint in told
    assert told.endswith("can be timed: steptime measure")


def test_a_file_that_was_measured_may_be_slow(tmp_path: Path) -> None:
    slow = {"peak_tflop_per_s": 0.05, "matmul_tflop_per_s": 0.05, "hbm_gbyte_per_s": 20}
    slow |= {"generation": '""'}
    assert accelerator(written(tmp_path, **slow, timings=TIMED)).peak_flop_per_s == 0.05e12
    with pytest.raises(ConfigError, match=r"peak_tflop_per_s 0\.05 is likely"):
        accelerator(written(tmp_path, **slow))
    with pytest.raises(ConfigError, match=r"hbm_gbyte_per_s 9e\+06 is likely"):
        accelerator(written(tmp_path, **slow | {"hbm_gbyte_per_s": 9e6}, timings=TIMED))


def test_the_command_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, hbm_gbyte_per_s=3.35)
    words = ["predict", "-m", "llama3-8b", "-a", path, "-s", "4096", "-B", "8", "--dp", "8"]
    assert run(words) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "3.35 TB/s would be 3350" in told


# ---- a peak with sparsity


def test_all_measured_devices_reach_over_half_of_their_dense_peak() -> None:
    """So half or less tells a peak with sparsity, which is twice the dense one."""
    for kind in KINDS[:2]:
        shares = known_shares(kind)
        assert min(shares) > 0.5
        # With sparsity none would be over a half.
        assert max(shares) / 2.0 <= 0.5
    assert not any(accelerator(name).caution.count("sparsity") for name in accelerator_names())


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, ""),
        ({"peak_tflop_per_s": 1588}, ""),
        ({"peak_tflop_per_s": 1979}, "matmul_tflop_per_s 794.5 is half of peak_tflop_per_s 1979"),
        (
            {"peak_fp8_tflop_per_s": 3958, "matmul_fp8_tflop_per_s": 1402.6},
            "matmul_fp8_tflop_per_s 1402.6 is half of peak_fp8_tflop_per_s 3958 or less",
        ),
    ],
)
def test_a_peak_of_which_half_would_do_is_told(
    tmp_path: Path, changed: dict[str, object], told: str
) -> None:
    caution = accelerator(written(tmp_path, **changed)).caution
    assert told in caution
    assert ("the one with sparsity, give half of it" in caution) == bool(told)


def test_an_answer_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, peak_tflop_per_s=1979, caution='"An engineering sample."')
    words = ["predict", "-m", "llama3-8b", "-a", path, "-s", "4096", "-B", "8", "--dp", "8"]
    assert run(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "An engineering sample.; matmul_tflop_per_s 794.5 is half of peak_tflop_per_s" in told


# ---- data


def test_every_band_says_its_unit_and_where_its_width_comes_from() -> None:
    bands = data_table("device_bands.toml")
    assert bands["source"]
    for name, band in bands.items():
        if name != "source":
            assert band["unit"], name
            assert min(band["slower"], band["faster"]) >= 1, name
