"""Recipes beside torchtitan's registry, and converters of a model; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration

REGISTRY = """
from torchtitan.components.quantization import Float8LinearConverter
from torchtitan.trainer import Trainer
from . import model_registry


def own_1b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("1B", moe_comm_backend="deepep"),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=8192, max_context_length=4096, steps=10
        ),
        activation_checkpoint=FullAC.Config(),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
    )
"""
SUITE = """
from torchtitan.trainer import Trainer


def changed() -> Trainer.Config:
    from torchtitan.models.llama3.config_registry import own_1b

    config = own_1b()
    config.parallelism.tensor_parallel_degree = 4
    return config
"""
TOML = (
    '[model]\nname = "llama3"\nflavor = "8B"\nconverters = [{}]\n[training]\n'
    "local_batch_size = 1\nseq_len = 8192\n"
)


def repository(folder: Path, suite: str = SUITE, registry: str = REGISTRY) -> Path:
    """Write a repository of another name than its package, and recipes beside that."""
    own = folder / "checkout" / "torchtitan" / "models" / "llama3"
    own.mkdir(parents=True)
    (own / "config_registry.py").write_text(registry)
    path = folder / "checkout" / "suites" / "tests" / "features.py"
    path.parent.mkdir(parents=True)
    path.write_text(suite)
    return path


def test_a_suite_beside_the_package_starts_from_its_registry(tmp_path: Path) -> None:
    reading = read_configuration(repository(tmp_path))
    layout, batch = completed(reading, {"num_gpus": 8})
    # The model is of the folder of the registry, not of the suite.
    assert reading.model is not None
    assert reading.model.name == "Llama 3.2 1B"
    assert (layout.tp, layout.dp, layout.recompute) == (4, 2, "full")
    assert (batch.micro_batch_size, batch.seq_length) == (2, 4096)


def test_a_recipe_whose_start_is_elsewhere_is_refused(tmp_path: Path) -> None:
    path = repository(tmp_path, SUITE.replace("models.llama3", "models.gone"))
    with pytest.raises(ConfigError, match=r"starts from 'own_1b', which is not beside it"):
        read_configuration(path)


def titan(folder: Path, *converters: str) -> Reading:
    path = folder / "run.toml"
    path.write_text(TOML.format(", ".join(f'"{one}"' for one in converters)))
    return read_configuration(path)


@pytest.mark.parametrize(
    ("names", "right"),
    [
        ((), "bf16"),
        (("float8",), "fp8"),
        (("quantize.linear.float8", "primus_turbo"), "fp8"),
        (("primus_turbo",), "bf16"),
        (("quantize.dense.mx",), "mxfp8"),
        (("nvfp4_linear",), "nvfp4"),
    ],
)
def test_a_converter_is_a_precision(tmp_path: Path, names: tuple[str, ...], right: str) -> None:
    assert titan(tmp_path, *names).value("precision") == right


@pytest.mark.parametrize(
    ("name", "why"),
    [("own_converter", "'own_converter' is not understood"), ("lora", "small added matrices")],
)
def test_a_converter_that_is_not_known_is_not_off(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        titan(tmp_path, "float8", name)


def test_an_image_model_of_the_registry_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(TOML.format("").replace("llama3", "flux").replace("8B", "flux-dev"))
    with pytest.raises(ConfigError, match=r":2: model.name flux flux-dev: an image model is not"):
        read_configuration(path)


def test_the_registry_s_exchange_is_a_fact(tmp_path: Path) -> None:
    reading = read_configuration(repository(tmp_path))
    assert {one.name: one.value for one in reading.software_facts}["plain_exchange"] == 0.0


@pytest.mark.parametrize(
    ("record", "recompute", "per_op"),
    [
        ('mode="selective"', "selective", False),
        ('mode="selective", selective_ac_option="op"', "selective", True),
        ('mode="selective", selective_ac_option="2"', "full", False),
        ('mode="selective", selective_ac_option="1"', "full", False),
        ('mode="full"', "full", False),
        ('mode="none"', "none", False),
    ],
)
def test_a_record_that_says_its_own_mode_of_recomputation(
    record: str, recompute: str, per_op: bool, tmp_path: Path
) -> None:
    text = REGISTRY.replace("FullAC.Config()", f"ActivationCheckpointConfig({record})")
    assert text != REGISTRY
    path = repository(tmp_path, registry=text)
    reading = read_configuration(path)
    assert reading.value("recompute") == recompute
    told = {one.name for one in reading.software_facts if one.value}
    assert ("recompute_per_op" in told) is per_op
