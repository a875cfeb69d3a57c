"""What each parallelism sends, as its paper counts it."""

from __future__ import annotations

from steptime.formulas.messages import context, data, expert, hybrid, pipeline, sequence

Line = tuple[str, str, float, float]


def lines(messages: list[dict[str, object]]) -> list[Line]:
    return [(m["phase"], m["kind"], m["count"], m["bytes"]) for m in messages]  # type: ignore[misc]


def test_zero_sends_as_its_paper_says() -> None:
    # rajbhandari2020, Sec. 7.2: gradients scattered and weights gathered, 2 P in all; stage 3
    # gathers weights once more, 3 P. Here P = 12 of 2 bytes in 3 layers, 2 micro-batches.
    assert lines(data.zero_2(12.0, 3.0, 2.0, 2.0)) == [
        ("backward", "reduce_scatter", 6.0, 8.0),
        ("update", "all_gather", 1.0, 24.0),
    ]
    # zhao2023, Sec. 3.2.2: a shard's gradients are added up over the copies, an F-th of a layer.
    assert lines(hybrid.hybrid_3(12.0, 3.0, 2.0, 4.0, 2.0)) == [
        ("forward", "all_gather", 6.0, 8.0),
        ("backward", "all_gather", 6.0, 8.0),
        ("backward", "reduce_scatter", 6.0, 8.0),
        ("backward", "all_reduce", 6.0, 2.0),
    ]


def test_sequence_parallelism_sends_as_its_paper_says() -> None:
    # korthikanti2022, Sec. 4.2.2: a gather and a scatter a pass, and one gather more backward. A
    # sequence of 3 tokens, 5 wide, of 2 bytes; norms and a bias add up three rows.
    assert lines(sequence.sequence_block(1.0, 3.0, 5.0, 2.0)) == [
        ("forward", "all_gather", 1.0, 30.0),
        ("forward", "reduce_scatter", 1.0, 30.0),
        ("backward", "all_gather", 2.0, 30.0),
        ("backward", "reduce_scatter", 1.0, 30.0),
        ("backward", "all_reduce", 3.0, 10.0),
    ]
    again = lines(sequence.recomputed_sequence_block(1.0, 3.0, 5.0, 2.0))
    assert again == [("backward", "reduce_scatter", 1.0, 30.0)]


def test_heads_are_exchanged_as_the_paper_says() -> None:
    # jacobs2023, Sec. 3.2: queries, keys and values go, the result comes: 4 h a token with as
    # many heads. 6 tokens on 3 ranks, 8 wide, keys 4 wide, of 2 bytes; gradients the same way.
    both = [("all_to_all", 2.0, 32.0), ("all_to_all", 2.0, 16.0)]
    wanted = [(phase, *one) for phase in ("forward", "backward") for one in both]
    assert lines(context.exchanged_attention(1.0, 6.0, 8.0, 4.0, 3.0, 2.0)) == wanted


def test_stages_send_each_micro_batch_each_way() -> None:
    assert lines(pipeline.stage_sends(8.0, 1.0, 3.0, 5.0, 2.0)) == [
        ("forward", "send", 8.0, 30.0),
        ("backward", "send", 8.0, 30.0),
    ]


def test_what_every_rank_of_experts_adds_up() -> None:
    # A router of 8 x 4 and two shared matrices of 8 x 6, of 2 bytes.
    assert lines(expert.replicated(8.0, 4.0, 6.0, 2.0)) == [
        ("backward", "all_reduce", 1.0, 64.0),
        ("backward", "all_reduce", 2.0, 96.0),
    ]
    assert lines(expert.replicated(8.0, 4.0, 0.0, 2.0))[1][2] == 0.0
