"""Recipes in Python, read without being run; all written here."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from written_files import facts

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration
from steptime.readers.python.recipe import LARGEST_BYTES


def read(folder: Path, text: str, **given: str) -> Reading:
    folder.mkdir(exist_ok=True)
    path = folder / "recipes.py"
    path.write_text(text)
    return read_configuration(path, given)


REGISTRY = """
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.trainer import Trainer
from . import model_registry

LENGTH = 8192


def own_8b() -> Trainer.Config:
    model_spec = model_registry("8B", attn_backend="flex")
    return Trainer.Config(
        hf_assets_path="./assets/hf/Llama-3.1-8B",
        model_spec=model_spec,
        optimizer=default_adamw(lr=3e-4),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * LENGTH,
            max_context_length=LENGTH,
            steps=1000,
        ),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
        activation_checkpoint=FullAC.Config(),
    )


def own_8b_float8() -> Trainer.Config:
    config = own_8b()
    config.compile = CompileConfig(enable=True, components=["model"])
    config.model_spec = model_registry("8B", converters=[Float8LinearConverter.Config(fqns=["x"])])
    config.activation_checkpoint = SelectiveAC.Config()
    config.training.num_tokens_per_train_step = 64 * LENGTH
    return config
"""

BRIDGE = '''
import torch
from megatron.bridge import AutoBridge


def own_8b_config() -> ConfigContainer:
    """Own."""
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-8B").get_model_config()
    cfg.model.tensor_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_size = 1
    cfg.model.context_parallel_size = 1
    cfg.model.sequence_parallel = True
    cfg.model.seq_length = 8192
    cfg.train.global_batch_size = 128
    cfg.train.micro_batch_size = 1
    cfg.model.cross_entropy_loss_fusion = True
    cfg.model.cross_entropy_fusion_impl = "te"
    cfg.optimizer.exp_avg_dtype = torch.bfloat16
    cfg.optimizer.exp_avg_sq_dtype = torch.bfloat16
    cfg.ddp.use_distributed_optimizer = True
    cfg.ddp.overlap_grad_reduce = True
    cfg.ddp.grad_reduce_in_fp32 = False
    return cfg


def _narrow(recipe: str, batch: int = 256) -> ConfigContainer:
    cfg = own_8b_config()
    cfg.mixed_precision = get_mixed_precision_config(recipe)
    cfg.train.global_batch_size = batch
    return cfg


def own_8b_fp8_config() -> ConfigContainer:
    return _narrow("bf16_with_fp8_current_scaling_mixed")
'''


# --- by hand


def test_torchtitan_s_registry_is_read_by_the_folder_that_it_lies_in(tmp_path: Path) -> None:
    reading = read(tmp_path / "llama3", REGISTRY, recipe="own_8b")
    layout, batch = completed(reading, {"num_gpus": 16})
    assert reading.kind == "torchtitan"
    assert reading.model is not None
    assert reading.model.name == "Llama 3 8B"
    assert (layout.tp, layout.dp, layout.zero_stage, layout.recompute) == (2, 8, 3, "full")
    # Two sequences of 8,192 tokens a rank, and one pass.
    assert (batch.micro_batch_size, batch.global_batch_size, batch.seq_length) == (2, 16, 8192)
    assert facts(reading)["kernel"] == "flash-triton"


def test_a_recipe_changes_another_of_its_file(tmp_path: Path) -> None:
    reading = read(tmp_path / "llama3", REGISTRY, recipe="own_8b_float8")
    layout, batch = completed(reading, {"num_gpus": 16})
    assert (layout.precision, layout.recompute, layout.tp) == ("fp8", "selective", 2)
    assert batch.global_batch_size == 64
    assert facts(reading)["eager"] == 0.0
    # The other is as it was.
    assert (
        completed(read(tmp_path / "llama3", REGISTRY, recipe="own_8b"), {"num_gpus": 16})[
            0
        ].precision
        == "bf16"
    )


def test_a_recipe_handed_to_the_trainer_of_graphs_is_the_same(tmp_path: Path) -> None:
    text = (
        REGISTRY
        + """

def own_graph() -> GraphTrainer.Config:
    config = to_graph_trainer_config(own_8b(), model_registry)
    config.compile = GraphTrainerCompileConfig(enable=True)
    return config
"""
    )
    reading = read(tmp_path / "llama3", text, recipe="own_graph")
    layout, batch = completed(reading, {"num_gpus": 16})
    assert (layout.tp, layout.dp, layout.recompute) == (2, 8, "full")
    assert (batch.micro_batch_size, batch.seq_length) == (2, 8192)
    assert facts(reading)["eager"] == 0.0


def test_a_registry_under_another_name_is_the_registry(tmp_path: Path) -> None:
    (tmp_path / "llama3").mkdir()
    (tmp_path / "llama3" / "__init__.py").write_text("def model_registry(flavor): return f(flavor)")
    text = REGISTRY.replace("import model_registry", "import model_registry as own_registry")
    text = text.replace('model_registry("8B", converters', 'own_registry("8B", converters')
    reading = read(tmp_path / "llama3", text, recipe="own_8b_float8")
    assert reading.value("precision") == "fp8"


def test_megatron_bridge_s_recipe(tmp_path: Path) -> None:
    reading = read(tmp_path, BRIDGE, recipe="own_8b_config")
    layout, batch = completed(reading, {"num_gpus": 16})
    assert reading.kind == "megatron-bridge"
    assert reading.model is not None
    assert reading.model.name == "Llama 3 8B"
    assert (layout.tp, layout.dp, layout.zero_stage) == (2, 8, 1)
    assert (batch.global_batch_size, batch.seq_length) == (128, 8192)
    assert facts(reading) | {
        "loss_bytes": 14.0,
        "moment_bytes": 4.0,
        "sent_gradient_bytes": 2.0,
        "overlap_dp": 1.0,
    } == facts(reading)


def test_a_function_is_followed_with_its_arguments(tmp_path: Path) -> None:
    reading = read(tmp_path, BRIDGE, recipe="own_8b_fp8_config")
    layout, batch = completed(reading, {"num_gpus": 16})
    assert (layout.precision, layout.tp, batch.global_batch_size) == ("fp8", 2, 256)


# --- refusal


def test_several_recipes_are_listed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds 2 recipes; .*own_8b_config, own_8b_fp8_config"):
        read(tmp_path, BRIDGE)
    with pytest.raises(ConfigError, match="has no recipe 'nobody'"):
        read(tmp_path, BRIDGE, recipe="nobody")


def test_what_is_not_written_down_is_asked_for(tmp_path: Path) -> None:
    text = BRIDGE.replace(
        "tensor_model_parallel_size = 2", "tensor_model_parallel_size = int(os.environ['TP'])"
    )
    reading = read(tmp_path, text, recipe="own_8b_config")
    assert any("tp: model.tensor_model_parallel_size" in gap for gap in reading.missing)
    branch = BRIDGE.replace(
        "    cfg.model.tensor_model_parallel_size = 2\n",
        "    if LARGE:\n        cfg.model.tensor_model_parallel_size = 2\n",
    )
    reading = read(tmp_path, branch, recipe="own_8b_config")
    assert any("in a branch" in gap for gap in reading.missing)


def test_a_helper_that_may_change_a_recipe_is_told(tmp_path: Path) -> None:
    text = BRIDGE.replace("    return cfg\n", "    set_layout(cfg.model)\n    return cfg\n", 1)
    notes = read(tmp_path, text, recipe="own_8b_config").notes
    assert any("set_layout(cfg.model) may change what is read" in note for note in notes)


def test_small_added_matrices_are_refused(tmp_path: Path) -> None:
    text = BRIDGE.replace("    return cfg\n", "    cfg.peft = LoRA(dim=16)\n    return cfg\n", 1)
    with pytest.raises(ConfigError, match="peft"):
        read(tmp_path, text, recipe="own_8b_config")


def test_a_program_without_a_recipe_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no recipe .* or ask: steptime predict"):
        read(tmp_path, "import torch\nprint(torch.ones(3))\n")
    with pytest.raises(ConfigError, match="not valid Python"):
        read(tmp_path, "def broken(:\n")


CALLS = "".join(
    f"def f{n}():\n    c = R()\n"
    + "".join(f"    c.a{m} = f{n + 1}()\n" for m in range(20))
    + "    return c\n"
    for n in range(12)
)
NESTED = "def f():\n    a = [1] * 1\n" + "".join(
    f"    b{n} = [{', '.join(['b' + str(n - 1) if n else 'a'] * 90)}]\n" for n in range(30)
)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + ")" * 5000,
        "def f():\n    return " + "+".join(["1"] * 20000),
        "def f():\n    return R(" + "a=R(" * 500 + ")" * 501,
        "def f():\n    return g()\ndef g():\n    return f()\n",
        CALLS,
        NESTED + "    return R(training=R(max_context_length=b29))\n",
        "x = 1\n" * (LARGEST_BYTES // 6),
        "def f():\n    return R(\n" + "".join(f"a{n}={n},\n" for n in range(12000)) + ")\n",
        "def f():\n    return R(training=R(max_context_length=9**9**9))\n",
    ],
    ids=["nested", "sum", "records", "circle", "calls", "lists", "long", "fields", "power"],
)
def test_a_hostile_recipe_is_refused_at_once(text: str, tmp_path: Path) -> None:
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(ConfigError) as caught:
        completed(read(tmp_path, text), {"num_gpus": 8})
    taken = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    # Tracing makes it several times slower; the processor's time does not count a busy machine's.
    assert taken < 6
    assert peak < 200e6


NEMO = """from nemo.collections import llm
{indent}recipe = llm.llama3_70b.pretrain_recipe(name="x", num_nodes=16, num_gpus_per_node=8)
{indent}recipe.trainer.strategy.tensor_model_parallel_size = 4
{indent}recipe.trainer.strategy.pipeline_model_parallel_size = 8
{indent}recipe.trainer.strategy.virtual_pipeline_model_parallel_size = 5
{indent}recipe.trainer.strategy.context_parallel_size = 2
{indent}recipe.trainer.strategy.sequence_parallel = True
{indent}recipe.data.global_batch_size = 256
{indent}recipe.data.micro_batch_size = 1
"""


@pytest.mark.parametrize("is_function", [True, False])
def test_what_is_set_of_a_recipe_of_the_library_is_read(is_function: bool, tmp_path: Path) -> None:
    text = NEMO.format(indent="    " if is_function else "")
    if is_function:
        text = text.replace("import llm\n", "import llm\ndef own():\n") + "    return recipe\n"
    found = read(tmp_path, text)
    wanted = {"tp": 4, "pp": 8, "vpp": 5, "cp": 2, "sequence_parallel": True, "num_gpus": 128}
    assert {name: found.value(name) for name in wanted} == wanted


def test_nodes_that_are_set_come_before_those_handed_over(tmp_path: Path) -> None:
    text = NEMO.format(indent="") + "recipe.trainer.num_nodes = 4\n"
    assert read(tmp_path, text).value("num_gpus") == 32
    text = NEMO.format(indent="").replace("recipe.trainer.strategy.sequence_parallel = True\n", "")
    # The library's own recipe has it on.
    assert read(tmp_path, text).value("sequence_parallel") is True
    gaps = read(tmp_path, text.replace("llama3_70b", "own_70b")).missing
    assert "sequence_parallel: the recipe that this file changes may have its own" in gaps
