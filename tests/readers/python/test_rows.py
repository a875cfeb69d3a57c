"""Scripts of NeMo 2 whose layout is a row of a table beside the library; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration

SCRIPT = """
from nemo.collections.llm.recipes.llama3_8b import finetune_recipe, pretrain_recipe
from ..helpers import get_user_configs, set_exp_logging_configs, set_primary_perf_configs
from ..argument_parser import parse_cli_args


def own(args, nodes, mbs, gbs, tp, pp, cp, vp, ep, graphs, fsdp, layers, offload, modules):
    recipe = pretrain_recipe(performance_mode=True)
    recipe = set_primary_perf_configs(
        recipe, "pre_train", nodes, args.gpus_per_node, mbs, gbs, 100, tp, pp, cp, vp, ep,
        use_mcore_fsdp=fsdp, recompute_layers=layers, activation_offload_layers=offload,
        recompute_modules=modules, compute_dtype=args.compute_dtype, fp8_recipe=args.fp8_recipe,
    )
    recipe = set_exp_logging_configs(recipe, "pre_train", "llm", "llama3", args.wandb)
    return recipe


if __name__ == "__main__":
    args = parse_cli_args().parse_args()
    kwargs = get_user_configs(args.gpu.lower(), "pre_train", "llama3", "8b", args)
    nodes, mbs, gbs, tp, pp, cp, vp, ep, _, graphs, fsdp, layers, offload, modules = kwargs[:14]
    recipe = own(
        args, nodes, mbs, gbs, tp, pp, cp, vp, ep, graphs, fsdp, layers, offload, modules
    )
"""
HEAD = (
    "task,model,size,system,dtype,num_gpus,seq_len,tp_size,pp_size,cp_size,ep_size,vp_size,mbs,gbs,"
    "etp_size,cuda_graphs,use_mcore_fsdp,recompute_layers,activation_offload_layers,"
    "recompute_modules\n"
)
ROWS = {
    "h100": "lora,llama3,8b,h100,bf16,8.0,4096,8,1,1,1,1,1,8,,0,0,0,0,\n"
    "pre_train,llama3,8b,h100,bf16,16.0,8192,2.0,2.0,1.0,1.0,4.0,1.0,64.0,,0,0,0,0,\n"
    "pre_train,llama3,8b,h100,bf16,32.0,8192,1.0,1.0,2.0,1.0,1.0,2.0,128.0,,0,0,0,0,\n"
    "pre_train,llama3,8b,h100,fp8,8.0,8192,1.0,1.0,1.0,1.0,1.0,1.0,32.0,,0,1,5,0,\n",
    "gb200": "pre_train,llama3,8b,gb200,bf16,8.0,8192,1,1,1,1,1,1,16,,0,0,0,2,\n",
}


def script(folder: Path, *, table: bool = True, **given: str) -> Reading:
    own = folder / "performance"
    (own / "llm").mkdir(parents=True, exist_ok=True)
    (own / "helpers.py").write_text(
        "def get_user_configs(gpu, task, name, size, args):\n    pass\n"
    )
    rows = own / "recommended_model_configs"
    rows.mkdir(exist_ok=True)
    for gpu, lines in ROWS.items() if table else ():
        (rows / f"model_configs_{gpu}.csv").write_text(HEAD + lines)
    path = own / "llm" / "pretrain_own.py"
    path.write_text(SCRIPT)
    return read_configuration(path, given)


def test_a_layout_is_the_first_row_of_its_device(tmp_path: Path) -> None:
    reading = script(tmp_path, gpu="h100")
    layout, batch = completed(reading, {})
    assert (layout.tp, layout.pp, layout.vpp, layout.dp) == (2, 2, 4, 4)
    assert (layout.sequence_parallel, layout.zero_stage) == (True, 1)
    assert (batch.micro_batch_size, batch.global_batch_size) == (1, 64)
    assert reading.value("num_gpus") == 16


def test_options_of_the_program_choose_the_row(tmp_path: Path) -> None:
    layout, batch = completed(script(tmp_path, gpu="h100", num_gpus="32"), {})
    assert (layout.tp, layout.cp, layout.dp, batch.micro_batch_size) == (1, 2, 16, 2)
    reading = script(tmp_path, gpu="h100", compute_dtype="fp8")
    layout, _ = completed(reading, {})
    assert (layout.zero_stage, layout.precision, layout.recompute) == (3, "fp8", "full")
    assert {one.name: one.value for one in reading.software_facts}["recompute_layers"] == 5


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, r"pretrain_own.py:\d+: .*add --set gpu=NAME, one of gb200, h100"),
        ({"gpu": "h20"}, "one of gb200, h100"),
        (
            {"gpu": "h100", "num_gpus": "7"},
            r"no row of model_configs_h100.csv has task = pre_train",
        ),
        # GB200 nodes hold 4, and two layers wait on the host.
        ({"gpu": "gb200"}, "cpu_offloading = True: activations are kept on the host"),
    ],
)
def test_what_no_row_answers_is_told(given: dict[str, str], why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        script(tmp_path, **given)


def test_without_its_table_the_layout_is_asked_for(tmp_path: Path) -> None:
    reading = script(tmp_path, table=False, gpu="h100")
    asked = {one.partition(":")[0] for one in reading.missing}
    assert {"tp", "pp", "cp", "micro_batch_size", "cpu_offloading"} <= asked
    with pytest.raises(ConfigError, match="of a table that is not beside the file"):
        completed(reading, {"num_gpus": 8})


def test_a_recipe_s_own_nodes_that_do_not_hold_its_layout_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "from nemo.collections.llm.recipes import llama31_70b\n\n\n"
        "def recipe():\n    return llama31_70b.pretrain_recipe(performance_mode=False)\n"
    )
    reading = read_configuration(path)
    assert "num_gpus: the usual 1 x 8 do not hold tp x cp x pp = 32" in reading.missing
    layout, _ = completed(reading, {"num_gpus": 64})
    assert (layout.tp, layout.cp, layout.pp, layout.dp) == (4, 2, 4, 2)
