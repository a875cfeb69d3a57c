"""What the user sets beside a launch file, ``NAME=VALUE``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from steptime.inputs.errors import ConfigError
from steptime.readers.entries import Entry
from steptime.readers.reading import COMMAND_LINE
from steptime.readers.safe import short

ARGUMENTS = frozenset(
    """
    activation activation_func activations_checkpoint_granularity activations_checkpoint_method
    batch_size bf16 checkpoint_activations context_parallel_size cp
    data_parallel_sharding_strategy deepspeed_activation_checkpointing devices
    encoder_seq_length ep etp expert_model_parallel_size expert_tensor_parallel_size
    ffn_hidden_size fp16 fp4 fp4_format fp8 fp8_format fp8_recipe gated_linear_unit gbs
    global_batch_size gpus_per_node group_query_attention hf_model_id hf_path hf_tokenizer
    hidden_size kv_channels kv_lora_rank library make_vocab_size_divisible_by
    max_position_embeddings mbs merge_file micro_batch_size mixed_precision model_id
    moe_ffn_hidden_size moe_layer_freq moe_router_topk moe_shared_expert_intermediate_size
    multi_latent_attention name nnodes no_position_embedding nproc_per_node
    num_attention_heads num_experts num_gpus num_gpus_per_node num_layers
    num_layers_per_virtual_pipeline_stage num_moe_experts num_nodes num_query_groups
    num_virtual_stages_per_pipeline_rank optimizer_name override_vocab_size
    padded_vocab_size pipeline_model_parallel_size position_embedding_type pp precision
    q_lora_rank qk_head_dim qk_pos_emb_head_dim quick_geglu rampup_batch_size
    recompute_activations recompute_granularity recompute_method recompute_modules
    seq_length sequence_length sequence_parallel share_embeddings_and_output_weights
    shared_expert_intermediate_size should_pad_vocab slurm_gpus_per_node slurm_nodes swiglu
    tensor_model_parallel_size tensor_parallel tokenizer_model tokenizer_type tp
    untie_embeddings_and_output_weights use_custom_fsdp use_distributed_optimizer
    use_megatron_fsdp use_rotary_position_embeddings use_torch_fsdp2 v_head_dim
    virtual_pipeline_model_parallel_size vocab_size vp wandb_exp_name window_attn_skip_freq
    window_size world_size zero_stage
    """.split()
)
"""Every argument that the readers of scripts and YAML files ask for."""

_WORD = re.compile(r"[A-Za-z_][\w.]*")


def check_settings(given: Mapping[str, str], text: str, name: str) -> None:
    """Refuse what would change nothing, and offer the nearest name that would.

    Args:
        given: What the user sets.
        text: The file; a variable or key that it has may be set too.
        name: What to call the file.

    Raises:
        ConfigError: If a name is neither an argument nor in the file.
    """
    if not given:
        return
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    words = {word for line in lines for word in _WORD.findall(line.replace("-", "_"))}
    words |= {word.lstrip("_") for word in words}
    for key in given:
        if key in ARGUMENTS or key in words:
            continue
        known = sorted(ARGUMENTS | {word for word in words if word.isupper()})
        near = difflib.get_close_matches(key[:80], known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "name a variable or an argument of it"
        raise ConfigError(f"--set {short(key, most=60)}: {name} has no such name; {hint}")


def set_entries(given: Mapping[str, str]) -> list[Entry]:
    """Return what the user sets as entries.

    Args:
        given: By name.
    """
    return [Entry(key, value, COMMAND_LINE, f"--set {key}") for key, value in given.items()]
