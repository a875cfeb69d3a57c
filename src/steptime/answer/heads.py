"""Refuse context parallelism by heads where the heads of attention do not fall to the ranks."""

from __future__ import annotations

from dataclasses import replace

from steptime.formulas.roofline.context import head_ranks, heads_left_over
from steptime.inputs.errors import ConfigError
from steptime.inputs.job import Job
from steptime.inputs.software import Software

HEADS_LEFT = (
    "cp={cp}: the software ({stack}, cp_comm_type) cuts attention by heads, and {heads} heads, "
    "{keys} of keys and values, over tp={tp} do not fall to {ranks} ranks; "
    "use {mended}, or --fact cp_comm_type=p2p"
)


def check_heads(record: Job, one: Software) -> None:
    """Refuse what software that exchanges slices of tokens for heads refuses.

    Args:
        record: Of one layout.
        one: Gives the facts; without those of time nothing is known of it.

    Raises:
        ConfigError: With the most ranks that would do.
    """
    facts = one.time
    # One rank has all the heads.
    if facts is None or record.cp == 1.0 or not heads_left_over(record, facts):
        return
    ranks, latent = int(head_ranks(record, facts)), record.kv_lora_rank > 0.0
    keys = record.num_attention_heads if latent else record.num_query_groups
    whole = ranks == record.cp
    fitting = (
        count
        for count in range(ranks, 0, -1)
        if record.cp % count == 0
        and not heads_left_over(
            replace(record, cp=float(count)), replace(facts, cp_head_ranks=float(count))
        )
    )
    # One rank does wherever tp divides the heads, which is checked before.
    most = next(fitting, 1)
    raise ConfigError(
        HEADS_LEFT.format(
            cp=int(record.cp),
            stack=one.stack.name,
            heads=int(record.num_attention_heads),
            keys=int(keys),
            tp=int(record.tp),
            ranks=ranks,
            mended=f"cp={most}" if whole else f"--fact cp_head_ranks={most}",
        )
    )
