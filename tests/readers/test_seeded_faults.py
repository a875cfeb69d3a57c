"""More kinds of files that draws by seed showed to be read wrongly; each is written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import read

from steptime.inputs.errors import ConfigError

TREE = """
language_model:
  num_layers: 24
  hidden_size: 1024
  num_attention_heads: 16
model_parallel:
  tensor_model_parallel_size: 2
  bf16: True
micro_batch_size: 2
global_batch_size: 128
seq_length: 4096
vocab_size: 32000
"""


# --- by hand


def test_a_switch_of_encoders_that_is_on_by_default_says_nothing(tmp_path: Path) -> None:
    # Megatron-LM's own YAML of a GPT lists every argument with its default.
    reading = read(tmp_path, "gpt.yaml", TREE + "bert_binary_head: True\n")
    assert reading.model is not None
    assert (reading.model.num_layers, reading.value("tp")) == (24, 2)


def test_what_a_command_prints_is_one_word(tmp_path: Path) -> None:
    text = (
        "layers=$(yq '.model.layers' $config)\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $layers --hidden-size 4096 "
        "--num-attention-heads $(heads of $config) --vocab-size 32000 --seq-length 2048 "
        "--micro-batch-size 1 --global-batch-size 64 --bf16\n"
    )
    gaps = read(tmp_path, "train.sh", text).missing
    assert any(gap.startswith("num_layers: --num-layers = \"$(yq '.model.layers'") for gap in gaps)
    assert any("$(heads of $config)" in gap for gap in gaps)
    whole = read(tmp_path, "train.sh", text, num_layers="32", num_attention_heads="32")
    assert whole.model is not None
    assert whole.value("num_gpus") == 8


NEMO = """
trainer:
  num_nodes: 4
  devices: -1
  precision: bf16
model:
  mcore_gpt: True
  micro_batch_size: 1
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
  encoder_seq_length: 4096
  num_layers: 24
  hidden_size: 2048
  num_attention_heads: 16
  vocab_size: 32000
"""


def test_all_devices_that_there_are_is_asked_for(tmp_path: Path) -> None:
    gaps = read(tmp_path, "own.yaml", NEMO).missing
    assert [gap.partition(":")[0] for gap in gaps] == ["num_gpus"]
    assert read(tmp_path, "own.yaml", NEMO, gpus_per_node="8").value("num_gpus") == 32


# --- refusal


def test_stages_of_different_layouts_are_refused_by_name(tmp_path: Path) -> None:
    text = TREE + "hetero:\n  enable_hetero: True\n  hetero_process_meshes: [1, 1, 1, 2, 1]\n"
    with pytest.raises(ConfigError, match=r"hetero.enable_hetero = True: stages of different"):
        read(tmp_path, "hetero.yaml", text)


@pytest.mark.parametrize(
    "text",
    [
        '{"dim_model": 4096, "num_heads": 32, "num_layers": 48, "vocab_size": 30720}',
        '{"dim": 256, "num_layers": 4, "max_seq_len": 512, "patch_size": 16}',
    ],
)
def test_a_count_of_layers_alone_is_no_launch_file(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is of no format that is known here"):
        read(tmp_path, "own.json", text)


def test_ranks_inside_experts_do_nothing_on_a_dense_model(tmp_path: Path) -> None:
    text = TREE + "expert_tensor_parallel_size: 4\n"
    reading = read(tmp_path, "dense.yaml", text)
    assert reading.value("etp") is None
    assert "expert_tensor_parallel_size does nothing without experts" in reading.notes
    mixed = text + "num_experts: 8\nmoe_router_topk: 2\n"
    assert read(tmp_path, "mixed.yaml", mixed).value("etp") == 4


SENTENCEPIECE = "tokenizer_type: Llama2Tokenizer\ntokenizer_model: {}\n"


def test_a_class_of_tokenizers_tells_its_usual_file_s_vocabulary_alone(tmp_path: Path) -> None:
    tree = TREE.replace("vocab_size: 32000\n", "")
    usual = read(tmp_path, "a.yaml", tree + SENTENCEPIECE.format("/data/tokenizer.model"))
    assert usual.value("vocab_size") == 32000
    own = read(tmp_path, "b.yaml", tree + SENTENCEPIECE.format("/own/v4_1.0.model"))
    assert own.missing[0] == "vocab_size: /own/v4_1.0.model may be any vocabulary"


RECIPE = """
model:
  tensor_model_parallel_size: 1
  context_parallel_size: 1
train:
  global_batch_size: 8
checkpoint:
  finetune: true
"""


def test_what_a_recipe_may_share_is_asked_for_where_its_cut_is(tmp_path: Path) -> None:
    asked = [gap.partition(":")[0] for gap in read(tmp_path, "own.yaml", RECIPE).missing]
    assert {"model", "pp", "zero_stage", "recompute"} <= set(asked)
    said = RECIPE.replace("train:", "  recompute_granularity: null\ntrain:")
    gaps = read(tmp_path, "said.yaml", said).missing
    assert not any(gap.startswith("recompute") for gap in gaps)


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("batch:\n  micro_batch_size: 2\n  batch_size: 16\n", "Fast-LLM"),
        ("gpu_name: A100\ntensor_parallel_size: 16\nnum_layers: 8\nhidden_size: 64\n", "vTrain"),
        ("distributed:\n  fsdp_type: full_shard\nmodel:\n  n_layers: 8\n", "Lingua"),
    ],
)
def test_a_file_of_a_program_that_is_not_read_is_named(
    text: str, program: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=f"is a file of {program}, which is not read; read are"):
        read(tmp_path, "own.yaml", text)


COMMAND = (
    "torchrun --nproc_per_node 8 {} --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
    "--seq-length 2048 --micro-batch-size 1 --global-batch-size 64 --bf16 "
    "--tokenizer-type Llama2Tokenizer --tokenizer-model {}\n"
)


@pytest.mark.parametrize("program", ["own/dpo.py", "scripts/ppo_train.py", "reward_modeling.py"])
def test_a_program_of_post_training_is_refused_by_its_name(program: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"{program} runs post-training"):
        read(tmp_path, "train.sh", COMMAND.format(program, "/data/tokenizer.model"))


@pytest.mark.parametrize("path", ["${ROOT}/own-100k.model", "${MODEL:-/x/own.model}"])
def test_a_vocabulary_that_is_not_told_is_asked_for(path: str, tmp_path: Path) -> None:
    gaps = read(tmp_path, "train.sh", COMMAND.format("pretrain_gpt.py", path)).missing
    assert any(gap.startswith("vocab_size") and "may be any" in gap for gap in gaps)
    for open_one in ("${ROOT}/tokenizer.model", "${MODEL}"):
        usual = read(tmp_path, "train.sh", COMMAND.format("pretrain_gpt.py", open_one))
        why = {one.name: one.why for one in usual.assumptions}
        assert usual.value("vocab_size") == 32000
        assert why["vocab_size"] == "the tokenizer llama2tokenizer"


def test_a_command_of_a_program_that_is_not_read_is_named(tmp_path: Path) -> None:
    text = COMMAND.format("own.py", "x") + "  --hf-transformer-model-dir /data/llama\n"
    with pytest.raises(ConfigError, match="is a file of llm-recipes, which is not read"):
        read(tmp_path, "train.sh", text.replace("\n  --hf", " --hf"))


MAXTEXT = "base_config: base.yml\nper_device_batch_size: 2\nmax_target_length: 1024\n"


def test_sizes_that_maxtext_is_not_given_are_its_own_or_the_named_model_s(tmp_path: Path) -> None:
    own = read(tmp_path, "own.yml", MAXTEXT + "base_emb_dim: 512\nbase_num_decoder_layers: 8\n")
    assert own.model is not None
    # maxtext2025, configs/base.yml: 16 heads of 128, 7168 wide, 32,000 entries.
    assert (own.model.hidden_size, own.model.num_attention_heads) == (512, 16)
    assert (own.model.head_dim, own.model.ffn_hidden_size) == (128, 7168)
    assert own.model.vocab_size == 32000
    text = MAXTEXT + "model_name: mixtral-8x7b\nbase_num_decoder_layers: 5\n"
    cut = read(tmp_path, "cut.yml", text)
    assert cut.model is not None
    assert cut.model.experts is not None
    assert (cut.model.num_layers, cut.model.experts.num_experts) == (5, 8)
    assert any("without override_model_config" in note for note in cut.notes)


def test_quotes_of_a_command_cut_nothing_in_a_second_reading(tmp_path: Path) -> None:
    text = (
        "ARGS=(--num-layers 6 --pipeline-model-parallel-layout 'Et\\|\\(t\\|\\)*4tL')\n"
        'NOTE=$(shown "it\'s" $HERE so long that its last "quotes" are cut)\n'
        'cmd="torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py ${ARGS[@]} --note $NOTE '
        "--hidden-size 512 --num-attention-heads 8 --vocab-size 32000 --seq-length 512 --bf16 "
        '--pipeline-model-parallel-size 6 --micro-batch-size 1"\n'
        "eval $cmd\n"
    )
    reading = read(tmp_path, "train.sh", text)
    assert reading.value("pp") == 6


def test_four_bits_of_another_kind_are_told(tmp_path: Path) -> None:
    reading = read(tmp_path, "own.yaml", TREE + "fp4: e2m1\nfp4_recipe: mxfp4\n")
    assert any("mxfp4: taken as nvfp4" in note for note in reading.notes)


FORK = COMMAND.format("pretrain_gpt.py", "/data/tokenizer.model").rstrip()


def test_a_fork_s_experts_are_read_and_others_are_refused(tmp_path: Path) -> None:
    own = FORK + " --moe-num-experts=64 --moe-top-k=2 --moe-capacity-factor=1\n"
    reading = read(tmp_path, "fork.sh", own)
    assert reading.model is not None
    assert reading.model.experts is not None
    assert (reading.model.experts.num_experts, reading.model.experts.top_k) == (64, 2)
    for flag in ("--num-local-experts 8", "--n-routed-experts 8", "--own-num-experts 8"):
        with pytest.raises(ConfigError, match=f"{flag.split()[0]} = '8': .* without experts"):
            read(tmp_path, "other.sh", f"{FORK} {flag}\n")
    assert read(tmp_path, "one.sh", f"{FORK} --own-num-experts 1\n").model is not None


def test_a_name_that_may_change_the_answer_is_said_first(tmp_path: Path) -> None:
    notes = read(tmp_path, "own.sh", f"{FORK} --own-parallel-mode ring --own-colour red\n").notes
    assert notes[0] == "NOT UNDERSTOOD, may change the answer: --own-parallel-mode"
    assert "not used: --own-colour" in notes


def test_a_flag_of_activations_comes_before_the_granularity(tmp_path: Path) -> None:
    # megatronlm2026, megatron/training/arguments.py: it sets the granularity to selective.
    text = f"{FORK} --recompute-activations --recompute-granularity full\n"
    assert read(tmp_path, "own.sh", text).value("recompute") == "selective"


def test_a_multiple_widens_the_network_as_llama_s_own_code_does(tmp_path: Path) -> None:
    tree = TREE.replace("1024", "8192") + "swiglu: True\nmultiple_of: 4096\n"
    reading = read(tmp_path, "own.yaml", tree + "hidden_dim_multiplier: 1.3\n")
    assert reading.model is not None
    # By hand: 2/3 x 4 x 8192 = 21845, x 1.3 = 28398, up to a multiple of 4096, as Llama 2 70B has.
    assert reading.model.ffn_hidden_size == 28672
    open_one = read(tmp_path, "own.yaml", tree + "hidden_dim_multiplier: inf\n")
    assert any(gap.startswith("ffn_hidden_size") for gap in open_one.missing)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.yml", MAXTEXT.replace("base.yml", "inference/inference_jetstream.yml"), "inference"),
        ("b.yaml", NEMO + "  virtual_prompt_style: no-prompts\n", "small added layers"),
        ("c.sh", FORK + " --lora-dim 128\n", "small added matrices"),
        ("d.yaml", NEMO + "  hyena:\n    order: 2\n", "long convolutions"),
    ],
)
def test_what_trains_no_whole_decoder_is_refused(
    name: str, text: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=f"{why}.* not modelled"):
        read(tmp_path, name, text)


def test_adapters_that_a_file_only_lists_say_nothing(tmp_path: Path) -> None:
    text = NEMO + "  peft:\n    peft_scheme: null\n    adapter_tuning:\n      adapter_dim: 16\n"
    assert read(tmp_path, "sft.yaml", text).model is not None


def test_axolotl_s_eight_bits_count(tmp_path: Path) -> None:
    text = "base_model: meta-llama/Llama-3.1-8B\nsequence_len: 4096\nmicro_batch_size: 1\n"
    text += "gradient_accumulation_steps: 1\nbf16: true\ndatasets:\n  - path: x\n"
    assert read(tmp_path, "own.yaml", text + "fp8: true\n").value("precision") == "fp8"
    assert read(tmp_path, "own.yaml", text + "fp8: false\n").value("precision") == "bf16"
