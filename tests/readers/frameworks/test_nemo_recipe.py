"""Scripts that start from a recipe of NeMo's own, read without being run; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, read_configuration

SCRIPT = """
import nemo_run as run
from functools import partial
from nemo.collections import llm
from nemo.collections.llm.recipes.mixtral_8x7b import pretrain_recipe


def own_model():
    return run.Config(llm.Llama3Config8B, num_layers=12, hidden_size=2048, seq_length=2048)


if __name__ == "__main__":
    args = get_parser().parse_args()
    recipe = {start}
    recipe.trainer.max_steps = 100
    recipe.trainer.callbacks.append(run.Config(TimingCallback))
    {more}
    run.run(recipe, executor=own())
"""


def script(folder: Path, start: str, more: str = "pass", **given: str) -> Reading:
    path = folder / "own.py"
    path.write_text(SCRIPT.format(start=start, more=more))
    return read_configuration(path, given)


def test_a_recipe_of_the_library_sets_what_the_script_does_not(tmp_path: Path) -> None:
    found = script(tmp_path, "llm.llama3_70b.pretrain_recipe(num_nodes=8, num_gpus_per_node=8)")
    assert found.model is not None
    assert found.model.name == "Llama 3 70B"
    # As github.com/NVIDIA-NeMo/NeMo has it: nemo/collections/llm/recipes/llama3_70b.py.
    wanted = {"tp": 4, "pp": 4, "vpp": 5, "cp": 2, "global_batch_size": 512, "num_gpus": 64}
    assert {name: found.value(name) for name in wanted} == wanted
    assert not found.missing
    assert not found.notes
    why = {one.name: one.why for one in found.assumptions}
    assert why["tp"] == "NeMo's recipe llama3_70b"


def test_what_is_asked_of_it_and_what_is_kept_for_later_count(tmp_path: Path) -> None:
    plain = script(tmp_path, "pretrain_recipe()")
    assert (plain.value("tp"), plain.value("ep"), plain.value("num_gpus")) == (1, 8, 64)
    fast = script(tmp_path, "pretrain_recipe(performance_mode=True)")
    assert (fast.value("tp"), fast.value("ep"), fast.value("num_gpus")) == (8, 1, 64)
    later = script(tmp_path, "partial(llm.llama3_8b.pretrain_recipe, num_nodes=4)(name='x')")
    assert (later.value("num_gpus"), later.value("cp")) == (32, 2)
    asked = script(tmp_path, "partial(llm.llama3_8b.pretrain_recipe, num_nodes=args.nodes)()")
    assert [gap.partition(":")[0] for gap in asked.missing] == ["num_gpus"]


def test_a_model_of_the_script_s_own_comes_before_the_recipe_s(tmp_path: Path) -> None:
    start = "llm.llama3_8b.pretrain_recipe(num_nodes=1)"
    found = script(tmp_path, start, "recipe.model = run.Config(llm.LlamaModel, own_model())")
    assert found.model is not None
    assert (found.model.num_layers, found.model.hidden_size) == (12, 2048)
    # Sequences are as long as the recipe's data, 8,192, whatever the model may take.
    assert found.value("seq_length") == 8192
    assert any("not as the model may take (2048)" in note for note in found.notes)
    told = "recipe.data.tokenizer = run.Config(own_tokenizer, name='x')"
    assert any("add --set vocab_size=N" in note for note in script(tmp_path, start, told).notes)


PERF = """set_primary_perf_configs(recipe, "pre_train", num_nodes=16, num_gpus_per_node=8, mbs=2,
        gbs=256, max_steps=50, tp_size=2, pp_size=4, cp_size=1, vp_size=5, ep_size=1,
        compute_dtype="{}", fp8_recipe="{}", recompute_layers={}, use_mcore_fsdp={})"""


def test_a_function_of_the_library_sets_what_its_arguments_say(tmp_path: Path) -> None:
    start = "llm.llama31_70b.pretrain_recipe(performance_mode=True)"
    found = script(tmp_path, start, PERF.format("fp8", "mxfp8", 3, False))
    wanted = {"tp": 2, "pp": 4, "vpp": 5, "cp": 1, "num_gpus": 128, "micro_batch_size": 2}
    wanted |= {"global_batch_size": 256, "precision": "mxfp8", "sequence_parallel": True}
    assert {name: found.value(name) for name in wanted} == wanted
    told = {one.name: one.value for one in found.software_facts}
    # Three layers of each of five chunks: megatronlm2026, transformer_block.py.
    assert told | {"recompute_layers": 5 * 3, "sent_gradient_bytes": 2.0} == told
    sharded = script(tmp_path, start, PERF.format("bf16", "ds", 0, True))
    assert (sharded.value("precision"), sharded.value("zero_stage")) == ("bf16", 3)
    assert sharded.value("recompute") == "none"


@pytest.mark.parametrize(
    ("scheme", "shown"), [("", "is left out"), ("peft_scheme='dora'", "= 'dora'")]
)
def test_fine_tuning_by_the_library_is_of_added_matrices(
    scheme: str, shown: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=f"peft_scheme {shown}: small added .*=None trains"):
        script(tmp_path, f"llm.llama3_8b.finetune_recipe({scheme})")


def test_fine_tuning_of_the_whole_model_by_the_library(tmp_path: Path) -> None:
    found = script(tmp_path, "llm.llama3_70b.finetune_recipe(peft_scheme=None)")
    assert found.model is not None
    assert found.model.name == "Llama 3 70B"
    # As github.com/NVIDIA-NeMo/NeMo has it: finetune_default.py and llama3_70b.py.
    wanted = {"tp": 8, "pp": 4, "global_batch_size": 128, "seq_length": 2048, "num_gpus": 32}
    assert {name: found.value(name) for name in wanted} == wanted
    assert (found.value("zero_stage"), found.missing) == (1, [])
    assert any("every sequence is taken as full" in note for note in found.notes)
    start = "llm.llama3_8b.finetune_recipe(peft_scheme=None, seq_length=4096, num_nodes=2)"
    longer = script(tmp_path, start)
    told = {name: longer.value(name) for name in ("tp", "seq_length", "num_gpus")}
    assert told == {"tp": 2, "seq_length": 4096, "num_gpus": 16}


@pytest.mark.parametrize("more", ["packed_sequence=True", "performance_mode=True"])
def test_fine_tuning_that_sets_more_asks_for_its_layout(more: str, tmp_path: Path) -> None:
    found = script(tmp_path, f"llm.llama3_8b.finetune_recipe(peft_scheme=None, {more})")
    assert found.model is not None
    assert "tp: the recipe that this file changes may have its own" in found.missing


@pytest.mark.parametrize("given", [{}, {"recipe": "recipe"}])
def test_a_recipe_that_the_program_s_own_function_builds_and_runs_is_read(
    given: dict[str, str], tmp_path: Path
) -> None:
    start = "llm.llama3_8b.pretrain_recipe(num_nodes=2, num_gpus_per_node=8)"
    text = SCRIPT.format(start=start, more="recipe.trainer.strategy.tensor_model_parallel_size = 4")
    path = tmp_path / "own.py"
    path.write_text(
        text.replace('if __name__ == "__main__":', "def main(nodes=2):")
        + '\n\nif __name__ == "__main__":\n    main()\n'
    )
    found = read_configuration(path, given)
    assert found.model is not None
    assert found.model.name == "Llama 3 8B"
    assert (found.value("tp"), found.value("num_gpus")) == (4, 16)
