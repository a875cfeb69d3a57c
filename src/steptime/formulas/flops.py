"""Floating-point operations of a training step, by each of the conventions in use."""

from steptime.formulas.causal import windowed_keys
from steptime.formulas.number import Number, minimum, where
from steptime.formulas.parameters import (
    active_layer_parameters,
    dense_layer_parameters,
    num_expert_layers,
)
from steptime.formulas.records import Job


def score_width(job: Job) -> Number:
    """Return the width over which one layer's attention multiplies, per key: ``2 h`` in GPT.

    Queries meet keys over the query width, and the scores meet values over the value width.
    """
    ordinary = 2.0 * job.num_attention_heads * job.head_dim
    latent = job.num_attention_heads * (
        job.qk_nope_head_dim + job.qk_rope_head_dim + job.v_head_dim
    )
    return where(job.kv_lora_rank > 0.0, latent, ordinary)


def keys_per_token(job: Job) -> Number:
    """Return the keys a token is multiplied with, summed over the layers: ``l s`` without windows.

    Attention in full: the half that a causal mask throws away is counted.
    """
    full = job.num_layers - job.windowed_layers
    return full * job.seq_length + job.windowed_layers * minimum(job.window_size, job.seq_length)


def attention_flop_per_token(job: Job) -> Number:
    """Return the forward FLOP of scores and weighted sums per token: ``4 s h l`` in GPT.

    References:
        narayanan2021, Appendix.
    """
    return 2.0 * keys_per_token(job) * score_width(job)


def matrix_flop_per_token(job: Job) -> Number:
    """Return the forward FLOP per token of all layers' matrices: two for each parameter met.

    References:
        narayanan2021, Appendix.
    """
    mixture = num_expert_layers(job)
    dense = (job.num_layers - mixture) * dense_layer_parameters(job)
    return 2.0 * (dense + mixture * active_layer_parameters(job))


def logit_flop_per_token(job: Job) -> Number:
    """Return the forward FLOP per token of the output matrix: ``2 V h``."""
    return 2.0 * job.vocab_size * job.hidden_size


def model_flop_per_token(job: Job) -> Number:
    """Return the training FLOP per token that the model needs: forward three times over.

    Attention counts in full and nothing that is computed twice counts twice.

    References:
        korthikanti2022, Eq. 7.
    """
    return 3.0 * (
        matrix_flop_per_token(job) + attention_flop_per_token(job) + logit_flop_per_token(job)
    )


def causal_attention_flop_per_token(job: Job) -> Number:
    """Return the forward FLOP of attention per token with what the causal mask hides left out.

    Half of all without a window; of a windowed layer little but its first tokens' share.
    """
    full = 0.5 * (job.num_layers - job.windowed_layers) * job.seq_length
    seen = full + job.windowed_layers * windowed_keys(job.seq_length, job.window_size)
    return 2.0 * seen * score_width(job)


def causal_flop_per_token(job: Job) -> Number:
    """Return the model FLOP per token with what the causal mask hides left out."""
    attention = causal_attention_flop_per_token(job)
    return 3.0 * (matrix_flop_per_token(job) + attention + logit_flop_per_token(job))


def attention_share(job: Job) -> Number:
    """Return the share of the model FLOP that attention has, what the causal mask hides left out.

    References:
        derived here, book/roofline.md.
    """
    matrix, logits = matrix_flop_per_token(job), logit_flop_per_token(job)
    seen = matrix + causal_attention_flop_per_token(job) + logits
    return 1.0 - 3.0 * (matrix + logits) / (3.0 * seen)


def recomputed_flop_per_token(job: Job) -> Number:
    """Return the FLOP per token that recomputation adds.

    Full recomputation runs the layers' forward again, selective only the attention core.

    References:
        korthikanti2022, Sec. 5 and Eq. 8.
    """
    attention = attention_flop_per_token(job)
    return (
        job.recompute_full * (matrix_flop_per_token(job) + attention)
        + job.recompute_selective * attention
    )


def hardware_flop_per_token(job: Job) -> Number:
    """Return the FLOP per token that the devices execute, recomputation included.

    For GPT with full recomputation it is ``96 l h**2 (1 + s/6h + V/16lh)``.

    References:
        narayanan2021, Eq. 3.
    """
    return model_flop_per_token(job) + recomputed_flop_per_token(job)


def tokens_per_step(job: Job) -> Number:
    """Return the tokens of one step: ``B s``."""
    return job.global_batch_size * job.seq_length


def num_microbatches(job: Job) -> Number:
    """Return the micro-batches of a step: ``B / (d b)``."""
    return job.global_batch_size / (job.dp * job.micro_batch_size)


def num_devices(job: Job) -> Number:
    """Return the devices of the job: ``t c p d``."""
    return job.tp * job.cp * job.pp * job.dp


def layer_pace_s(job: Job, step_time_s: Number) -> Number:
    """Return what a step takes for each layer and micro-batch that a rank works through.

    The layers' share of the FLOP is taken of the step, so all that it waits for is in it: a layer
    takes no longer on the device.

    Args:
        step_time_s: Of the step.

    References:
        derived here, book/roofline.md.
    """
    logits = 3.0 * logit_flop_per_token(job) / model_flop_per_token(job)
    layers = job.num_layers / job.pp * num_microbatches(job)
    return (1.0 - logits) * step_time_s / layers
