"""Which data sheet belongs to a device that was measured: by its name, or none."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from steptime.evidence.measure_device import Device
from steptime.evidence.measure_file import preset_like
from steptime.inputs.errors import ConfigError


def test_one_gpu_of_no_known_name_needs_a_preset_before_it_is_measured() -> None:
    with pytest.raises(ConfigError, match="--like"):
        preset_like(Device("Prototype", "hopper", 100, 1e11, "", is_gpu=True), None, 1)
    with pytest.raises(ConfigError, match="--like"):
        preset_like(Device("GeForce", "", 100, 1e11, "", is_gpu=True), None, 1)
    assert preset_like(Device("Prototype", "hopper", 1, 1e11, "", is_gpu=True), None, 8) is None
    assert preset_like(Device("x86 CPU", "", 2, 1e10, ""), None, 1) is None


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA A100-SXM4-40GB", "a100-40gb"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA GB200", "gb200"),
    ],
)
def test_a_gpus_name_finds_its_data_sheet(name: str, preset: str) -> None:
    found = preset_like(Device(name, "hopper", 132, 8e10, "", is_gpu=True), None, 1)
    assert found is not None
    assert found.name == preset


@pytest.mark.parametrize("name", ["NVIDIA GH200 480GB", "NVIDIA H100 NVL"])
def test_another_part_of_the_name_has_other_links(name: str) -> None:
    with pytest.raises(ConfigError, match="--like"):
        preset_like(Device(name, "hopper", 114, 8e10, "", is_gpu=True), None, 1)
