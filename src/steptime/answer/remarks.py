"""What is said of facts that count for nothing, of an MFU over 100 %, of what cannot be."""

from __future__ import annotations

from dataclasses import replace

from steptime.formulas.flops import causal_flop_per_token, num_devices, tokens_per_step
from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.ranks import stage_shared
from steptime.formulas.records import TimeFacts
from steptime.formulas.roofline.context import head_ranks, key_heads
from steptime.formulas.roofline.tensor import chunk_share
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed
from steptime.inputs.context_kind import CONTEXT_KIND, windows_refused
from steptime.inputs.job import Job
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_named
from steptime.inputs.software import Software

SHARDING = "sharding"
"""The name of the record of a layout that would hold less if its ranks shared less."""
HOLDS_MORE = "ZeRO-{stage} holds {more:,.2f} GB more than ZeRO-{best} would: {reason}"
WHOLE_LAYER = "what is whole for a moment, a layer or a matrix, outweighs what ranks share"
OTHER_SOFTWARE = "it is taken to run on other software, {name}"
SEQUENCE = "sequence"
UNUSED_LAYERS = "not used: it counts where everything is recomputed (--recompute full)"
ONE_RANK = (
    "heads are exchanged over 1 rank here, so all goes round the ring as with p2p: heads of keys "
    "and values number {heads} over tp={tp}, context ranks in an NVLink domain {ranks}"
)
OVERLAP = "overlap_tp"
"""The fact that says how much of the tensor-parallel messages products hide."""
NO_DOMAIN = (
    "hides nothing over tp={tp}: chunks land in memory that ranks of one NVLink domain of {domain} "
    "map; software that is told to all the same does not start"
)
NO_SPLIT = "hides nothing without sequence parallelism: an all-reduce is not cut into chunks"
NO_WINDOWS = (
    "{layers} layers have a sliding window, and Transformer Engine refuses those on a ring; the "
    "answer is for a ring that takes them"
)
TOO_LONG = (
    "{tokens:,} tokens are more than the {most:,} positions that {model} is stated for; the "
    "answer is for one whose positions were extended"
)


def past_the_positions(model: ModelShape, seq_length: int) -> tuple[Assumed, ...]:
    """Return a record of a sequence that is longer than any the model is stated for.

    Args:
        model: The shape.
        seq_length: Tokens of a sequence.
    """
    most = model.max_positions or model.learned_positions
    if not 0 < most < seq_length:
        return ()
    why = TOO_LONG.format(tokens=seq_length, most=most, model=model.name)
    return (Assumed(what=SEQUENCE, value=str(seq_length), why=why, how="--seq-length"),)


def facts_unused(record: Job, one: Software) -> tuple[Assumed, ...]:
    """Return a record of each fact that says something of a layout to which it does not apply.

    Args:
        record: Of the layout.
        one: Gives the facts.
    """
    found, layers = [], one.memory.recompute_layers
    if layers > 0.0 and record.recompute_full == 0.0:
        name = "recompute_layers"
        found.append(Assumed(what=name, value="0", why=UNUSED_LAYERS, how="--recompute full"))
    facts = one.time
    if facts is not None:
        found += _not_hidden(record, facts)
    if facts is not None and facts.cp_head_ranks == 0.0 and record.cp > 1.0:
        found += _one_rank(record, int(head_ranks(record, facts)))
    if record.cp > 1.0 and record.windowed_layers > 0.0 and windows_refused(one.lines):
        why = NO_WINDOWS.format(layers=int(record.windowed_layers))
        value, how = str(one.lines[CONTEXT_KIND].value), "--fact cp_comm_type=all_gather"
        found.append(Assumed(what=CONTEXT_KIND, value=value, why=why, how=how))
    return tuple(found)


def _not_hidden(record: Job, facts: TimeFacts) -> list[Assumed]:
    """Return a record of tensor-parallel messages that nothing can hide, though facts say so."""
    if record.tp == 1.0 or facts.overlap_tp == 0.0 or chunk_share(record, facts) > 0.0:
        return []
    if record.sequence_parallel == 0.0:
        return [Assumed(what=OVERLAP, value="0", why=NO_SPLIT, how="--sequence-parallel")]
    why = NO_DOMAIN.format(tp=int(record.tp), domain=int(record.nvlink_domain))
    return [Assumed(what=OVERLAP, value="0", why=why, how="--fact overlap_tp=0")]


def _one_rank(record: Job, ranks: int) -> list[Assumed]:
    if ranks > 1:
        return []
    domain = int(record.nvlink_domain)
    why = ONE_RANK.format(
        heads=int(key_heads(record) * record.tp),
        tp=int(record.tp),
        ranks=int(max(min(record.cp, domain / record.tp), 1.0)),
    )
    return [Assumed(what=CONTEXT_KIND, value="1 rank", why=why, how="--fact cp_head_ranks=N")]


def sharding_holds_more(
    record: Job, plain: Software, one: Software, total_bytes: float
) -> tuple[Assumed, ...]:
    """Return a record where sharing less would hold less, with the reason.

    What is gathered is whole for a moment; and where nobody names software, another is taken for
    ranks that share the weights.

    Args:
        record: Of the layout.
        plain: The software where weights stay whole.
        one: The software that the layout runs on.
        total_bytes: On the fullest device, as asked.
    """
    if record.zero_stage < 2.0 or (stage := int(stage_shared(record))) < 2:
        return ()
    held = {
        known: memory_total_bytes(replace(record, zero_stage=float(known)), plain.memory)
        for known in plain.stack.zero_stages
        if known < stage
    }
    best = min(held, key=lambda known: float(held[known]), default=stage)
    if best == stage or held[best] >= total_bytes:
        return ()
    same = memory_total_bytes(replace(record, zero_stage=float(best)), one.memory)
    reason = WHOLE_LAYER if same < total_bytes else OTHER_SOFTWARE.format(name=one.stack.name)
    more = (total_bytes - held[best]) / 1e9
    why = HOLDS_MORE.format(stage=stage, more=float(more), best=best, reason=reason)
    return (Assumed(what=SHARDING, value=str(stage), why=why, how=f"--zero {best}"),)


def over_the_peak(
    mfu_fraction: float, causal_fraction: float, device: Accelerator, precision: str
) -> str:
    """Return why an MFU may be over 100 % of the 16-bit peak; nothing where it is not.

    Args:
        mfu_fraction: Of the 16-bit peak, attention in full.
        causal_fraction: Likewise, with what the causal mask hides left out.
        device: Gives the peaks.
        precision: Of the products.
    """
    if mfu_fraction <= 1.0:
        return ""
    reasons, narrow, share = [], precision_named(precision), causal_fraction
    if narrow.fp8:
        peaks = {8: device.peak_fp8_flop_per_s, 4: device.peak_fp4_flop_per_s}
        bits = narrow.bits if peaks.get(narrow.bits, 0.0) > 0.0 else 8
        peak = peaks[bits] / device.peak_flop_per_s
        share = causal_fraction / peak
        reasons.append(
            f"products run in {narrow.bits} bits: {100.0 * mfu_fraction / peak:.1f} % of the "
            f"{bits}-bit peak"
        )
    if (not narrow.fp8 or mfu_fraction / peak > 1.0) and share <= 1.0:
        reasons.append("attention in full counts what a causal mask skips")
    if share > 1.0:
        reasons.append("no device computes faster than its peak: the model is too fast here")
    return "over 100 %: " + "; ".join(reasons)


def past_the_peak(record: Job, device: Accelerator, precision: str, step_time_s: float) -> str:
    """Return a sentence if a step computes faster than its device can, however FLOP count.

    Args:
        record: Of the layout.
        device: Gives the peaks.
        precision: Of the products.
        step_time_s: As measured.
    """
    flop = tokens_per_step(record) * causal_flop_per_token(record)
    rate = float(flop / num_devices(record) / step_time_s)
    # Products in 4 bits run at most three times as fast as in 8.
    narrow = precision_named(precision).fp8
    peak = 3.0 * device.peak_fp8_flop_per_s if narrow else device.peak_flop_per_s
    if rate <= peak:
        return ""
    return (
        f"it amounts to {rate / 1e12:,.0f} TFLOP/s per GPU even without what a causal mask "
        f"skips, over the device's peak of {peak / 1e12:,.0f}: check units, gpus, gbs and seq_len"
    )
