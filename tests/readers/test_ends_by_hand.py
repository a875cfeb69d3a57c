"""More ends of what readers take: numbers that `seq` prints, biases, gaps, names alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError
from steptime.inputs.training_step import shape_named
from steptime.readers.common.stage_layers import CHUNKS, stage_ends
from steptime.readers.configured import check_whole
from steptime.readers.other_model import take_model
from steptime.readers.shell.follow import followed
from steptime.readers.trace.rank import _ranks

CONFIGS = json.loads((Path(__file__).parent / "hub_configs.json").read_text(encoding="utf-8"))
SHAPE = "--num-layers 10 --hidden-size 64 --num-attention-heads 4 --vocab-size 1000"


# --- from outside


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        # What GNU's seq prints.
        *(("4", "1 2 3 4"), ("2 4", "2 3 4"), ("2 2 6", "2 4 6"), ("3 -1 1", "3 2 1")),
        *(("1 100 400", "1 101 201 301"), ("5 4", "")),
    ],
)
def test_numbers_are_those_that_seq_prints(words: str, printed: str) -> None:
    script = followed(f"for n in $(seq {words}); do A+=($n); done\ntrain ${{A[@]}}\n", "run.sh", {})
    assert script.commands[-1].words == ["train", *printed.split()]


@pytest.mark.parametrize("words", ["x", "", "1 x", "1 1 1 1"])
def test_what_seq_refuses_is_not_known(words: str) -> None:
    script = followed(f"for n in $(seq {words}); do A=$n; done\ntrain --tp 2\n", "run.sh", {})
    assert script.commands[-1].words == ["train", "--tp", "2"]


@pytest.mark.parametrize(
    ("before", "entered"),
    [
        *(("[ 1 = 1 ] &&", True), ("[ 1 = 2 ] &&", False)),
        *(("[ 1 = 2 ] ||", True), ("[ 1 = 1 ] ||", False)),
    ],
)
def test_a_loop_behind_a_condition_runs_where_bash_runs_it(before: str, entered: bool) -> None:
    script = followed(f"A=-; {before} for n in 1 2; do A+=$n; done\ntrain --n $A.\n", "run.sh", {})
    assert script.commands[-1].words == ["train", "--n", "-12." if entered else "-."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Bash's arrays, lengths and names of names, of one letter too.
        ("A=(1 2 3); A[1]=9\ntrain ${A[@]}\n", "1 9 3"),
        ("A=(1 2 3); A[3]=4\ntrain ${A[@]}\n", "1 2 3 4"),
        ("A=abc; B=A\ntrain ${#A} ${!B}\n", "3 abc"),
        # An empty word beside `=`, and a sum that is none beside one that is.
        ("A=; if [ x = $A ]; then T=1; else T=2; fi\ntrain $T\n", "2"),
        ("A=x; if [ x = $A ]; then T=1; else T=2; fi\ntrain $T\n", "1"),
        ("A=$((2 @ 3)); B=$((2 * 3))\ntrain $B\n", "6"),
        ("NAME=abcd; OTHER=NAME\ntrain ${#NAME} ${!OTHER}\n", "4 abcd"),
    ],
)
def test_values_are_those_that_bash_puts_in(text: str, words: str) -> None:
    assert followed(text, "run.sh", {}).commands[-1].words == ["train", *words.split()]


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("train --tp 2 \\\n  # --pp 4 \\\n  --zero\n", True),
        # Another command behind the comment, no command before it, and no comment.
        ("train --tp 2 \\\n  # --pp 4 \\\necho\n", False),
        ("# --pp 4 \\\n--zero\ntrain --tp 2\n", False),
        ("train --tp 2\n--zero\n", False),
    ],
)
def test_a_comment_that_cuts_a_command_is_told_and_no_other(text: str, cuts: bool) -> None:
    notes = followed(text, "run.sh", {}).notes
    assert any("a comment ends the command there" in note for note in notes) is cuts


@pytest.mark.parametrize(("last", "follows"), [(256, True), (257, False)])
def test_a_loop_is_followed_over_as_many_numbers_as_are_taken(last: int, follows: bool) -> None:
    text = f"A=0; for n in $(seq {last}); do A=$n; done\ntrain --n $A\n"
    script = followed(text, "run.sh", {})
    assert (script.commands[-1].words == ["train", "--n", str(last)]) is follows


def test_families_whose_every_matrix_has_a_bias(tmp_path: Path) -> None:
    # Their modelling code on the Hub: `bias=True`, or what their configurations say of it.
    every = {"gpt_neox", "gpt2", "bloom", "opt", "phi", "gpt_oss", "starcoder2", "gpt_neo"}
    for one in CONFIGS:
        shape = read(tmp_path, "config.json", json.dumps(one["config"])).model
        assert shape is not None
        assert shape.linear_bias is (one["config"]["model_type"] in every), one["name"]


# --- by hand


def test_layers_that_are_listed_need_not_divide_over_the_stages(tmp_path: Path) -> None:
    flags = f"{SHAPE} --seq-length 64 --micro-batch-size 1 --global-batch-size 8 --world-size 4 "
    flags += "--pipeline-model-parallel-size 4 "
    reading = read(tmp_path, "run.args", f"{flags} --num-layer-list 3,3,2,2")
    assert reading.value("uneven_stages") is True


def test_of_what_a_file_lacks_another_model_has_the_sizes_alone(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.args", "--num-layers 10 --tensor-model-parallel-size 2\n")
    lacked = {gap.split(":")[0] for gap in reading.missing}
    assert {"hidden_size", "seq_length"} <= lacked
    take_model(reading, shape_named("llama3-8b"))
    left = {gap.split(":")[0] for gap in reading.missing}
    assert "hidden_size" not in left
    assert "seq_length" in left


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        # A letter less or more is a slip; a number or a word more is another name.
        *(("ffn-hiden-size", True), ("ffn-hidden-sizes", True)),
        *(("ffn-hidden-size2", False), ("v-ffn-hidden-size", False)),
    ],
)
def test_a_slip_is_told_what_it_may_be_meant_for(flag: str, meant: bool, tmp_path: Path) -> None:
    sizes = f"{SHAPE} --seq-length 64 --micro-batch-size 1 --global-batch-size 8 --bf16"
    notes = read(tmp_path, "run.args", f"{sizes} --{flag} 5\n").notes
    assert notes == [f"not used: --{flag}{' (did you mean ffn_hidden_size?)' if meant else ''}"]


@pytest.mark.parametrize(
    ("flags", "refused"),
    [
        *(("--config gone.yaml --micro-batch-size 2", True), ("--config gone.yaml", True)),
        # Its own sizes, a file that can hold no keys, and what is no file of keys.
        *((f"--config gone.yaml {SHAPE}", False), ("--config gone.txt", False)),
        ("--save gone.yaml", False),
    ],
)
def test_a_command_that_changes_a_file_that_is_not_here_is_refused(
    flags: str, refused: bool
) -> None:
    words = ["train.py", *flags.split()]
    sized = "--num-layers" in words
    if not refused:
        check_whole(words, sized, "run.sh")
        return
    with pytest.raises(ConfigError, match=r"run\.sh: --config = gone\.yaml says most"):
        check_whole(words, sized, "run.sh")


SIZED = f"{SHAPE} --seq-length 64 --micro-batch-size 1 --global-batch-size 8 --bf16"


@pytest.mark.parametrize(("optimizer", "told"), [("adam", False), ("sgd", True), ("muon", True)])
def test_states_of_another_optimizer_are_said_to_be_taken_as_adams(
    optimizer: str, told: bool, tmp_path: Path
) -> None:
    notes = read(tmp_path, "run.args", f"{SIZED} --optimizer {optimizer}\n").notes
    assert bool(notes) is told
    assert all("taken as Adam's" in note for note in notes)


@pytest.mark.parametrize(
    ("groups", "reach", "limit"),
    [(4, 2, (4, 2)), (4, 1, (4, 1)), (4, 4, (1, 0)), (4, 0, (1, 0)), (1, 1, (1, 0))],
)
def test_groups_of_experts_bound_a_token_that_reaches_some_of_them(
    groups: int, reach: int, limit: tuple[int, int], tmp_path: Path
) -> None:
    flags = f"{SIZED} --num-experts 8 --moe-router-topk 2 --moe-router-num-groups {groups} "
    flags += f"--moe-router-group-topk {reach}" if reach else ""
    shape = read(tmp_path, "run.args", flags).model
    assert shape is not None
    assert shape.experts is not None
    assert (shape.experts.num_groups, shape.experts.max_groups) == limit


@pytest.mark.parametrize(
    ("given", "wide"),
    [
        # gptneox: two thirds of the file's number, or of 4 x 768, half for each of two matrices;
        # of 8 x 768 whatever the file says where its feed-forward network is Llama's.
        ({"activation": "geglu", "intermediate_size": 1536}, 512),
        ({"activation": "geglu"}, 1024),
        ({"mlp_type": "llama", "intermediate_size": 9999}, 2048),
        ({"activation": "gelu"}, 3072),
    ],
)
def test_widths_of_gated_networks_by_hand(
    given: dict[str, object], wide: int, tmp_path: Path
) -> None:
    sizes = {"num_layers": 2, "hidden_size": 768, "num_attention_heads": 12, "seq_length": 128}
    sizes |= {"train_micro_batch_size_per_gpu": 1, "train_batch_size": 8}
    shape = read(tmp_path, "own.yml", json.dumps(sizes | given)).model
    assert shape is not None
    assert shape.ffn_hidden_size == wide


@pytest.mark.parametrize(
    ("text", "where"),
    [("tp: 1\n  a: [1\n", ":2: not valid"), ("tp: 1\npp: 1\nb: }\n", ":3: not valid")],
)
def test_what_is_not_yaml_is_refused_with_its_line(text: str, where: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=where):
        read(tmp_path, "own.yaml", text)


def test_ranks_that_were_cut_short_are_not_known() -> None:
    assert _ranks("[0, 8, 16]") == (0, 8, 16)
    assert _ranks("[0, 1, ..., 63]") == ()
    assert _ranks(None) == ()


@pytest.mark.parametrize(
    ("chunks", "ends"),
    [
        # Ten layers on four ranks, as a file lists them.
        ("1,4,4,1", {"first_stage_layers": 1, "last_stage_layers": 1}),
        # As is usual, evenly or with both ends as a layer. Of other layers, other ranks, a debt.
        *((one, {}) for one in ("3,3,2,2", "2,3,3,2", "2,3,3,3", "2,3,2,2", "2,6,2", "2,3,3,1,1")),
        *(("-1,5,4,2", {}), ("0,4,4,2", {})),
    ],
)
def test_stages_that_a_file_lists_are_taken_where_they_can_be(
    chunks: str, ends: dict[str, int], tmp_path: Path
) -> None:
    reading = read(tmp_path, "run.args", SIZED)
    reading.state(CHUNKS, chunks, written="--stages")
    assert stage_ends(reading, 4, 1, "1f1b") == ends


@pytest.mark.parametrize(
    ("axes", "stage"),
    [
        # MaxText: weights are shared over the fsdp and the expert axes, not over data.
        *(("fsdp: 1|data: -1", 0), ("fsdp: 1|expert: -1", 3), ("fsdp: 1|expert: 4", 3)),
        *(("fsdp: -1", 3), ("fsdp: 8", 3)),
    ],
)
def test_axes_over_which_weights_are_shared(axes: str, stage: int, tmp_path: Path) -> None:
    named = [one.replace(":", "_parallelism:") for one in axes.split("|")]
    text = "base_config: base.yml\nmodel_name: mixtral-8x7b\nper_device_batch_size: 2\n"
    text += "".join(f"ici_{one}\n" for one in named)
    assert read(tmp_path, "own.yml", text).value("zero_stage") == stage


def test_a_text_part_of_a_kind_that_nobody_knows_is_not_read_as_the_usual_one(
    tmp_path: Path,
) -> None:
    part = next(one["config"] for one in CONFIGS if one["name"] == "llama-3-8b")
    wrapped = {"model_type": "llava", "text_config": part | {"model_type": "nobody"}}
    with pytest.raises(ConfigError, match="'nobody' is not known"):
        read(tmp_path, "config.json", json.dumps(wrapped))
    del wrapped["text_config"]["model_type"]  # type: ignore[attr-defined]
    shape = read(tmp_path, "config.json", json.dumps(wrapped)).model
    assert shape is not None
    assert shape.num_layers == 32


@pytest.mark.parametrize(("every", "dense"), [(1, 0), (2, 3), (3, 4), (4, 4), (5, 4)])
def test_of_five_layers_each_so_many_th_has_experts(every: int, dense: int, tmp_path: Path) -> None:
    # transformers: layer i has experts where (i + 1) % decoder_sparse_step is 0.
    sizes = {"num_hidden_layers": 5, "hidden_size": 64, "vocab_size": 1000, "num_experts": 8}
    sizes |= {"intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 4}
    sizes |= {"num_experts_per_tok": 2, "moe_intermediate_size": 32, "decoder_sparse_step": every}
    text = json.dumps({"model_type": "qwen2_moe"} | sizes)
    shape = read(tmp_path, "config.json", text).model
    assert shape is not None
    assert shape.experts is not None
    assert shape.experts.num_dense_layers == dense


def test_a_launcher_that_names_no_nodes_starts_one(tmp_path: Path) -> None:
    reading = read(tmp_path, "run.sh", f"torchrun --nproc_per_node 8 pretrain_gpt.py {SIZED}\n")
    assert (reading.value("num_nodes"), reading.value("num_gpus")) == (1, 8)
