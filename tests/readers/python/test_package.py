"""Recipes that take names from other files of their package; our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration

SHARED = """
import nemo_run as run
from own.shapes import OwnConfig, OwnConfigSmall
from .plans import adam


def own_model(version: str):
    config = None
    if version == "small":
        config = run.Config(OwnConfigSmall)
    elif version == "large":
        config = run.Config(OwnConfig)
    assert config is not None
    return run.Config(OwnModel, config=config)


def own_trainer(tensor=1, pipeline=2, nodes=1, precision="bf16-mixed"):
    plugin = None
    if precision == "bf16-mixed":
        plugin = run.Config(Mixed, precision="bf16-mixed", grad_reduce_in_fp32=True)
    strategy = run.Config(
        Strategy,
        tensor_model_parallel_size=tensor,
        pipeline_model_parallel_size=pipeline,
        sequence_parallel=tensor > 1,
    )
    return run.Config(Trainer, num_nodes=nodes, devices=8, plugins=plugin, strategy=strategy)
"""

SHAPES = """
from dataclasses import dataclass

WIDTH = 256


@dataclass
class OwnConfig:
    num_layers: int = 16
    hidden_size: int = 4 * WIDTH
    ffn_hidden_size: int = 2816
    num_attention_heads: int = 16
    num_query_groups: int = 4
    vocab_size: int = 32000
    gated_linear_unit: bool = True
    normalization: str = "RMSNorm"
    position_embedding_type: str = "rope"
    share_embeddings_and_output_weights: bool = False
    add_bias_linear: bool = False
    bf16: bool = False


@dataclass
class OwnConfigSmall(OwnConfig):
    num_layers: int = 8
"""

PLANS = """
import nemo_run as run


def adam(max_lr=1e-4):
    config = run.Config(OptimizerConfig, lr=max_lr, use_distributed_optimizer=True)
    return run.Config(MegatronOptimizerModule, config=config)
"""

RECIPE = """
import nemo_run as run
from own.recipes.shared import own_model, own_trainer
from own.recipes.plans import adam

NAME = "small"


def trainer(nodes: int = 1):
    return own_trainer(tensor=2, nodes=nodes)


def pretrain_recipe(name: str = "default", nodes: int = 2, fn=None):
    return run.Partial(
        fn,
        model=own_model(version=NAME),
        trainer=trainer(nodes=nodes),
        data=run.Config(Mock, seq_length=2048, global_batch_size=64, micro_batch_size=2),
        optim=adam(max_lr=3e-4),
    )


def pretrain_recipe_overlapped(name: str = "default"):
    recipe = pretrain_recipe(name=name)
    recipe.trainer.callbacks = []
    recipe.trainer.callbacks.append(run.Config(MegatronCommOverlapCallback, tp_comm_overlap=True))
    return recipe


def finetune_recipe(peft_scheme="lora"):
    recipe = pretrain_recipe()
    if peft_scheme is None or peft_scheme.lower() == "none":
        recipe.optim.config.lr = 5e-6
    elif peft_scheme.lower() in ["lora", "dora"]:
        recipe.peft = run.Config(KINDS[peft_scheme.lower()])
    else:
        raise ValueError(peft_scheme)
    return recipe
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "own" / "recipes"
    folder.mkdir(parents=True)
    (tmp_path / "own" / "shapes.py").write_text(SHAPES)
    (folder / "shared.py").write_text(SHARED)
    (folder / "plans.py").write_text(PLANS)
    (folder / "own_small.py").write_text(RECIPE)
    return folder / "own_small.py"


def told(reading: Reading) -> dict[str, object]:
    return {one.name: one.value for one in reading.software_facts}


# --- by hand


def test_what_other_files_of_the_package_say_is_read(package: Path) -> None:
    reading = read_configuration(package, {"recipe": "pretrain_recipe"})
    layout, batch = completed(reading, {})
    model = reading.model
    assert reading.kind == "nemo2"
    assert model is not None
    # The class gives 8 layers, its base all else; a plugin's precision comes before the class's.
    assert (model.num_layers, model.hidden_size, model.num_query_groups) == (8, 1024, 4)
    assert (layout.tp, layout.pp, layout.dp, layout.zero_stage) == (2, 2, 4, 1)
    assert (layout.precision, layout.sequence_parallel) == ("bf16", True)
    assert (batch.global_batch_size, batch.micro_batch_size, batch.seq_length) == (64, 2, 2048)
    assert told(reading)["sent_gradient_bytes"] == 4.0


def test_a_callback_is_a_fact(package: Path) -> None:
    plain = read_configuration(package, {"recipe": "pretrain_recipe"})
    overlapped = read_configuration(package, {"recipe": "pretrain_recipe_overlapped"})
    assert "overlap_tp" not in told(plain)
    assert told(overlapped)["overlap_tp"] == 1.0
    assert overlapped.notes == plain.notes


def test_a_trainer_is_no_recipe(package: Path) -> None:
    names = "pretrain_recipe, pretrain_recipe_overlapped, finetune_recipe"
    with pytest.raises(ConfigError, match=f"holds 3 recipes; .*NAME: {names}"):
        read_configuration(package)


def test_a_default_that_a_branch_decides_is_followed(package: Path) -> None:
    with pytest.raises(ConfigError, match=r"peft.* small added matrices are trained"):
        read_configuration(package, {"recipe": "finetune_recipe"})
    package.write_text(RECIPE.replace('peft_scheme="lora"', "peft_scheme=None"))
    reading = read_configuration(package, {"recipe": "finetune_recipe"})
    assert completed(reading, {})[0].tp == 2


def test_a_file_that_only_passes_recipes_on(package: Path) -> None:
    passing = package.with_name("passing.py")
    passing.write_text("from own.recipes.own_small import pretrain_recipe as small_recipe\n")
    assert completed(read_configuration(passing), {})[0].pp == 2


def test_a_file_that_takes_another_as_a_whole(package: Path) -> None:
    longer = package.with_name("longer.py")
    longer.write_text(
        "from own.recipes import own_small\n\n\ndef pretrain_recipe():\n"
        "    recipe = own_small.pretrain_recipe(nodes=4)\n"
        "    recipe.trainer = own_small.trainer(nodes=4)\n"
        "    recipe.data = run.Config(Mock, seq_length=8192, global_batch_size=64,\n"
        "        micro_batch_size=1)\n    return recipe\n"
    )
    layout, batch = completed(read_configuration(longer), {})
    assert (layout.tp, layout.dp, layout.zero_stage, batch.seq_length) == (2, 8, 1, 8192)


def test_without_its_package_a_recipe_still_says_what_it_hands_over(tmp_path: Path) -> None:
    path = tmp_path / "own_recipe.py"
    path.write_text(
        "def pretrain_recipe(tensor_parallelism: int = 8, pipeline_parallelism: int = 2):\n"
        "    return run.Partial(fn, model=qwen2_model(version='qwen25_32b'),\n"
        "        trainer=qwen2_trainer(tensor_parallelism=tensor_parallelism,\n"
        "            pipeline_parallelism=pipeline_parallelism, num_nodes=2,\n"
        "            num_gpus_per_node=8, sequence_parallelism=True, precision='bf16-mixed'),\n"
        "        data=run.Config(Mock, seq_length=4096, global_batch_size=32,\n"
        "            micro_batch_size=2),\n"
        "        optim=distributed_fused_adam_with_cosine_annealing(max_lr=1e-4))\n"
    )
    reading = read_configuration(path)
    layout, batch = completed(reading, {})
    assert reading.model is not None
    assert reading.model.name == "Qwen2.5 32B"
    assert (layout.tp, layout.pp, layout.dp, layout.zero_stage) == (8, 2, 1, 1)
    assert (layout.sequence_parallel, batch.micro_batch_size) == (True, 2)


# --- refusal


def test_files_that_take_from_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from two import f\n")
    (tmp_path / "two.py").write_text("from one import f\n")
    with pytest.raises(ConfigError, match="holds no recipe"):
        read_configuration(tmp_path / "one.py")
