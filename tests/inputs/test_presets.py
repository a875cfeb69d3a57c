import re
from pathlib import Path

import pytest

from steptime.evidence.runs import Incomplete, device_of
from steptime.evidence.schema import published_rows
from steptime.inputs.datafiles import data_table, write_whole
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import (
    accelerator,
    accelerator_names,
    measured_share,
    model,
    model_names,
)

# published: data sheets, in the units of this package


@pytest.mark.parametrize(
    ("name", "peak_tflop", "nvlink_gbyte", "network_gbyte", "domain"),
    [
        ("a100", 312, 300, 25, 8),
        ("h100", 989, 450, 50, 8),
        ("h800", 989, 200, 50, 8),
        ("gb200", 2500, 900, 50, 72),
    ],
)
def test_accelerators(
    name: str, peak_tflop: float, nvlink_gbyte: float, network_gbyte: float, domain: int
) -> None:
    device = accelerator(name)
    assert device.peak_flop_per_s == peak_tflop * 1e12
    assert device.nvlink_bytes_per_s == nvlink_gbyte * 1e9
    assert device.network_bytes_per_s == network_gbyte * 1e9
    assert device.nvlink_domain == domain


def test_every_published_run_names_a_known_accelerator() -> None:
    unknown = set()
    for row in published_rows():
        try:
            device_of(row, [])
        except Incomplete:
            unknown.add(row.gpu)
    assert unknown == set()


def test_a_rate_that_nobody_measured_is_inferred_from_those_that_are() -> None:
    # Half of the measured devices reach more of their data sheet: 0.803 is an H100's.
    assert measured_share() == pytest.approx(794.5 / 989.0)
    assert accelerator("v100").matmul_flop_per_s == pytest.approx(125e12 * 794.5 / 989.0)
    inferred = {name for name in accelerator_names() if accelerator(name).inferred}
    tpus = {"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e"}
    assert inferred == tpus | {
        *("v100-32gb", "mi250x-gcd", "ascend-910b", "trainium1-core", "trainium2")
    }
    for name in tpus:
        device = accelerator(name)
        # austin2025: a product of 95.6 ms by the data sheet took 96.
        assert device.matmul_flop_per_s / device.peak_flop_per_s == pytest.approx(
            95.6 / 96, abs=1e-3
        )
    assert all(accelerator(name).caution for name in inferred)


# invariant


def test_every_preset_loads_and_has_a_source() -> None:
    assert all(model(name).source for name in model_names())
    assert all(accelerator(name).source for name in accelerator_names())


def test_no_name_or_alias_means_two_things() -> None:
    for file in ("models.toml", "accelerators.toml"):
        table = data_table(file)
        names = [key.lower() for key in table]
        names += [alias.lower() for entry in table.values() for alias in entry["aliases"]]
        repeated = {name for name in names if names.count(name) > 1}
        # An alias may repeat its own key in other letters.
        assert all(name in table for name in repeated), repeated


def test_aliases_lead_to_the_same_preset() -> None:
    assert accelerator("H100-80GB SXM") is accelerator("H100-80GB SXM")
    assert accelerator("H100-80GB SXM") == accelerator("h100")
    assert model("Llama-3.1-405B") == model("llama3-405b")


def test_own_files(tmp_path: Path) -> None:
    gpu = tmp_path / "my_gpu.toml"
    gpu.write_text(
        "[my-gpu]\npeak_tflop_per_s = 100\nhbm_gbyte = 48\nhbm_gbyte_per_s = 900\n"
        "nvlink_gbyte_per_s_both = 64\nnetwork_gbit_per_s = 100\n"
    )
    assert accelerator(str(gpu)).nvlink_bytes_per_s == 32e9
    shape = tmp_path / "my_model.toml"
    shape.write_text(
        "num_layers = 4\nhidden_size = 64\nffn_hidden_size = 256\nnum_attention_heads = 4\n"
        "num_query_groups = 2\nvocab_size = 100\n"
    )
    assert model(str(shape)).head_dim == 16
    assert model(str(shape)).name == "my_model"
    shape.write_text("[mine]\n" + shape.read_text())
    assert model(str(shape)).name == "mine"


def test_a_checkpoint_has_the_shape_of_its_model() -> None:
    assert model("meta-llama/Meta-Llama-3-8B-Instruct") == model("llama3-8b")
    assert model("Qwen/Qwen2.5-7B-Instruct") == model("qwen2.5-7b")
    assert model("google/gemma-2-9b-it") == model("gemma2-9b")


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("qwen3-320b", "one of its family: qwen3-30b-a3b, qwen3-235b-a22b, qwen3-0.6b"),
        ("lama3-8b", "did you mean 'llama3-8b'"),
        ("nobody/nothing", "a config.json or a TOML file of a model will do too"),
    ],
)
def test_a_hint_is_about_sense_not_letters(asked: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(hint)):
        model(asked)
    with pytest.raises(ConfigError) as refused:
        accelerator("b30")
    assert "b300'" not in str(refused.value)


# refusal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nx = 1\n", "lacks peak_tflop_per_s"),
        ("[a]\n[b]\n", "exactly one table"),
        ("a = 1\n", "exactly one table"),
        ("[a\n", "cannot be read as TOML"),
        (
            "[a]\npeak_tflop_per_s = -1\nhbm_gbyte = 1\nhbm_gbyte_per_s = 1\n"
            "nvlink_gbyte_per_s_both = 1\nnetwork_gbit_per_s = 1\n",
            "peak_tflop_per_s must be a number > 0",
        ),
        (
            "[a]\npeak_tflop_per_s = 'x'\nhbm_gbyte = 1\nhbm_gbyte_per_s = 1\n"
            "nvlink_gbyte_per_s_both = 1\nnetwork_gbit_per_s = 1\n",
            "wrong type",
        ),
    ],
)
def test_bad_accelerator_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gpu.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        accelerator(str(path))


SOUND = {
    "peak_tflop_per_s": 312,
    "hbm_gbyte": 80,
    "hbm_gbyte_per_s": 2039,
    "nvlink_gbyte_per_s_both": 600,
    "network_gbit_per_s": 200,
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"matmul_tflop_per_s": 313}, "matmul_tflop_per_s 313 is over peak_tflop_per_s 312"),
        ({"matmul_fp8_tflop_per_s": 9}, "matmul_fp8_tflop_per_s 9 is over peak_fp8_tflop_per_s 0"),
        ({"peak_fp8_tflop_per_s": 311}, "peak_fp8_tflop_per_s 311 is under peak_tflop_per_s 312"),
        ({"hbm_mib": 40960}, "hbm_mib 40960 is 42.9 GB and contradicts hbm_gbyte 80"),
        ({"hbm_mib": 81930}, "hbm_mib 81930 is 85.9 GB and contradicts hbm_gbyte 80"),
        ({"nvlink_gbyte_per_s_both": 0}, "nvlink_gbyte_per_s_both must be a number > 0"),
        ({"network_gbit_per_s": "nan"}, "network_gbit_per_s must be a number > 0"),
    ],
)
def test_accelerator_files_that_contradict_themselves(
    tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    path = tmp_path / "gpu.toml"
    sound = SOUND | {"peak_fp8_tflop_per_s": 0, "matmul_tflop_per_s": 312, "hbm_mib": 81920}
    for fields in (sound, sound | changed):
        lines = [f"{name} = {value}" for name, value in fields.items()]
        path.write_text("\n".join(["[mine]", *lines]))
        if fields is sound:
            assert accelerator(str(path)).hbm_bytes == 81920 * 2**20
    with pytest.raises(ConfigError, match=f"accelerator 'mine': {message}"):
        accelerator(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "num_layers = 4\n",
            "shape.toml: missing hidden_size, ffn_hidden_size, num_attention_heads, "
            "num_query_groups, vocab_size",
        ),
        ("num_layers = 4\nnonsense = 4\n", "shape.toml:2: nonsense is no field; known: name, "),
        (
            "[mine]\nnum_layer = 4\n",
            "shape.toml:2: num_layer is no field; did you mean 'num_layers'",
        ),
        ("experts = 3\n[b]\nx = 1\n", "shape.toml:2: b is no field"),
        (
            "num_layers = 0\nhidden_size = 64\nffn_hidden_size = 256\nnum_attention_heads = 4\n"
            "num_query_groups = 2\nvocab_size = 100\n",
            "shape.toml:1: num_layers must be >= 1, got 0",
        ),
    ],
)
def test_bad_model_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "shape.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        model(str(path))


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'gpt3-175b'"):
        model("gpt3-176b")
    with pytest.raises(ConfigError, match="one of: a100-40gb"):
        accelerator("?")


# ---- files written whole


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("nvidia a100-sxm4-40gb", "a100-40gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA B300 SXM6 AC", "b300"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("Tesla V100-SXM2-32GB", "v100-32gb"),
        ("AMD Instinct MI300X OAM", "mi300x"),
        ("AMD Instinct MI250X / MI250", "mi250x-gcd"),
    ],
)
def test_devices_go_by_the_names_that_their_drivers_print(printed: str, name: str) -> None:
    assert accelerator(printed).name == name


@pytest.mark.parametrize("printed", ["NVIDIA H100 NVL", "NVIDIA A100-PCIE-40GB", "NVIDIA H20Z"])
def test_a_device_that_is_near_by_name_alone_is_refused(printed: str) -> None:
    with pytest.raises(
        ConfigError, match=r"unknown accelerator .* TOML file of a device will do too"
    ):
        accelerator(printed)


def test_no_two_devices_share_a_name() -> None:
    table = data_table("accelerators.toml")
    names = [word for key, one in table.items() for word in {key, *map(str.lower, one["aliases"])}]
    assert len(names) == len(set(names))
