import re
from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator, model

# ---- models

OWN = {
    "num_layers": "4",
    "hidden_size": "64",
    "ffn_hidden_size": "256",
    "num_attention_heads": "4",
    "num_query_groups": "2",
    "vocab_size": "100",
}


@pytest.mark.parametrize(
    ("key", "value", "must_be"),
    [
        ("gated", '"yes"', "true or false, got 'yes'"),
        ("gated", "2", "true or false, got 2"),
        ("qkv_bias", '"false"', "true or false, got 'false'"),
        ("tied", "[1]", "true or false, got [1]"),
        ("tied", "nan", "true or false, got nan"),
        ("tied", "1979-05-27", "true or false, got datetime.date(1979, 5, 27)"),
        ("name", '["x"]', "a text in quotes, got ['x']"),
        ("norm", "3", "a text in quotes, got 3"),
        ("trained_with", "1", "a text in quotes, got 1"),
        ("model_type", "[1]", "a text in quotes, got [1]"),
        ("num_layers", "1979-05-27", "a whole number, got datetime.date(1979, 5, 27)"),
        ("vocab_size", "true", "a whole number, got True"),
        ("window_size", "4.0", "a whole number, got 4.0"),
        ("activation_clamp", '"7"', "a number, got '7'"),
        ("activation_clamp", "nan", "a finite number, got nan"),
        ("glu_offset", "true", "a number, got True"),
        ("facts", "3", "a table, got 3"),
        ("experts", '"8"', "a table, got '8'"),
        ("latent_attention", "[8]", "a table, got [8]"),
    ],
)
def test_a_models_fields_hold_what_their_types_say(
    tmp_path: Path, key: str, value: str, must_be: str
) -> None:
    path = tmp_path / "shape.toml"
    path.write_text("\n".join(f"{name} = {one}" for name, one in (OWN | {key: value}).items()))
    with pytest.raises(ConfigError, match=re.escape(f"{key} must be {must_be}")):
        model(str(path))


def test_a_shape_made_in_python_is_checked_alike() -> None:
    sound = {"name": "x", **{name: int(value) for name, value in OWN.items()}}
    assert ModelShape(**sound, gated=True, activation_clamp=7).gated  # type: ignore[arg-type]
    for field, value in (("gated", "yes"), ("tied", 1), ("name", ["x"]), ("experts", 8)):
        with pytest.raises(ConfigError, match=f"^{field} must be "):
            ModelShape(**sound | {field: value})  # type: ignore[arg-type]


# ---- accelerators

DEVICE = {
    "peak_tflop_per_s": "312",
    "hbm_gbyte": "80",
    "hbm_gbyte_per_s": "2039",
    "nvlink_gbyte_per_s_both": "600",
    "network_gbit_per_s": "200",
}


def device_file(folder: Path, changed: dict[str, str]) -> str:
    path = folder / "gpu.toml"
    lines = (f"{name} = {value}" for name, value in (DEVICE | changed).items())
    path.write_text("\n".join(("[mine]", *lines)))
    return str(path)


@pytest.mark.parametrize(
    ("key", "value", "must_be"),
    [
        ("generation", '["hopper"]', "a text in quotes, got ['hopper']"),
        ("product_scale", '"x"', "a number, got 'x'"),
        ("watt", '"x"', "a number, got 'x'"),
        ("matmul_tflop_per_s", '"x"', "a number, got 'x'"),
        ("hbm_gbyte", "true", "a number, got True"),
        ("nvlink_domain", "8.0", "a whole number, got 8.0"),
        ("matmul_inferred", '"no"', "true or false, got 'no'"),
        ("source", '"a data sheet"', "a table, got 'a data sheet'"),
        ("aliases", "3", "a list in brackets, got 3"),
    ],
)
def test_a_devices_fields_hold_what_their_types_say(
    tmp_path: Path, key: str, value: str, must_be: str
) -> None:
    message = f"accelerator 'mine': {key} is of the wrong type: it must be {must_be}"
    with pytest.raises(ConfigError, match=re.escape(message)):
        accelerator(device_file(tmp_path, {key: value}))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("nvlink_domian", "72", "nvlink_domian is no field, did you mean 'nvlink_domain'?"),
        ("products", "[1]", "products is no field, "),
        ("generation", '"hoper"', "unknown generation 'hoper'; did you mean 'hopper'?"),
        ("generation", '"Hopper"', "unknown generation 'Hopper'; did you mean 'hopper'?"),
    ],
)
def test_a_slip_of_the_hand_in_a_devices_file_is_told(
    tmp_path: Path, key: str, value: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"accelerator 'mine': {message}")):
        accelerator(device_file(tmp_path, {key: value}))


@pytest.mark.parametrize("name", ["", "ada"])
def test_a_generation_without_rates_may_be_named_or_left_out(tmp_path: Path, name: str) -> None:
    assert accelerator(device_file(tmp_path, {"generation": f'"{name}"'})).generation == name


@pytest.mark.parametrize("name", ["rubin", "cdna5", "banana"])
def test_a_generation_that_nobody_knows_is_refused(tmp_path: Path, name: str) -> None:
    message = f"accelerator 'mine': unknown generation '{name}'; known: ampere, hopper, "
    with pytest.raises(ConfigError, match=re.escape(message)) as refused:
        accelerator(device_file(tmp_path, {"generation": f'"{name}"'}))
    assert "leave the key out for a device of none" in str(refused.value)
