"""The reader of compiled programs, on text of every form that XLA prints."""

from __future__ import annotations

import pytest

from steptime.parallel import hlo, hlo_groups

PROGRAM = """HloModule jit_f, is_scheduled=true, num_partitions=8

%add (a: f64[], b: f64[]) -> f64[] {
  ROOT %c = f64[] add(%a, %b)
}

%body (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %x = f32[4]{0} get-tuple-element(%p), index=1
  %s = f32[4]{0} collective-permute(%x), channel_id=3, source_target_pairs={{0,1},{1,0}}
  ROOT %t = (s32[], f32[4]) tuple(%i, %s)
}

%inner (q: bf16[8]) -> bf16[2] {
  ROOT %r = bf16[2]{0} reduce-scatter(%q), replica_groups=[2,4]<=[8], dimensions={0}, to_apply=%add
}

ENTRY %main (x: f64[2,3]) -> f64[2,3] {
  %x = f64[2,3] parameter(0), metadata={op_name="jit(f)/jvp()/dot"}
  %v = f64[5] multiply(%x, %x), metadata={op_name="jit(f)/transpose(jvp())/mul"}
  %y = f64[5]{0} bitcast(%v)
  %a = (f64[2,3]{1,0}, f64[5]{0}) all-reduce(%x, %y), replica_groups={{0,1},{2,3}}, to_apply=%add, \
metadata={op_name="jit(f)/transpose(jvp())/psum"}
  %g = (f32[2]{0}, f32[8]{0}) all-gather-start(%x), replica_groups={{0,1,2,3}}, dimensions={0}
  %h = f32[8]{0} all-gather-done(%g)
  %p = (f32[6]{0}, f32[6]{0}, u32[]) collective-permute-start(%x), source_target_pairs={{0,1}}
  %e = ((s8[4]{0}, s8[4]{0})) all-to-all(%x, %y), replica_groups={{0,1}}
  %w = (s32[], f32[4]) while(%i), condition=%c, body=%body, \
backend_config={"known_trip_count":{"n":"5"}}
  %z = ((bf16[8]), bf16[2]) async-start(%x), calls=%inner
  %d = bf16[2]{0} async-done(%z), calls=%inner
  ROOT %o = f64[2,3] copy(%x), metadata={op_name="all-reduce(x)"}
}
"""


def test_every_form_is_read() -> None:
    found = {one.kind: one for one in hlo.collectives(PROGRAM) if one.count == 1}
    assert found["all_reduce"].part_bytes == (48, 40)
    assert found["all_reduce"].groups == ((0, 1), (2, 3))
    assert found["all_gather"].part_bytes == (32,)
    assert found["permute"].part_bytes == (24,)
    assert found["all_to_all"].part_bytes == (8,)
    assert found["reduce_scatter"].part_bytes == (16,)
    assert found["reduce_scatter"].groups == ((0, 1, 2, 3), (4, 5, 6, 7))


def test_merged_arrays_keep_the_phase_of_what_computed_them() -> None:
    merged = hlo.collectives(PROGRAM)[0]
    assert merged.merged
    assert [hlo.phase(name) for name in merged.part_names] == ["forward", "backward"]


def test_a_loop_counts_each_of_its_rounds() -> None:
    (looped,) = (one for one in hlo.collectives(PROGRAM) if one.count != 1)
    assert (looped.kind, looped.count, looped.size_bytes) == ("permute", 5, 16)
    assert looped.groups == ((0, 1), (1, 0))


def test_nothing_is_counted_twice() -> None:
    assert len(hlo.collectives(PROGRAM)) == 6


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("replica_groups=[2,2]<=[4]", ((0, 1), (2, 3))),
        ("replica_groups=[2,2]<=[2,2]T(1,0)", ((0, 2), (1, 3))),
        ("replica_groups=mesh['a'=2,'b'=2] {'a'}", ((0, 2), (1, 3))),
        ("replica_groups=mesh['a'=2,'b'=2] {'b'}, use_global_device_ids=true", ((0, 1), (2, 3))),
        ("replica_groups=mesh['a'=2,'b'=2] {'a','b'}", ((0, 1, 2, 3),)),
        ("replica_groups=mesh['a'=4] {'a':(1)2}", ((0, 2), (1, 3))),
        ("replica_groups=mesh['a'=4] {'a':(2)2}", ((0, 1), (2, 3))),
    ],
)
def test_groups(text: str, groups: hlo_groups.Groups) -> None:
    assert hlo_groups.groups(text) == groups


@pytest.mark.parametrize("text", ["replica_groups={}", "no groups at all"])
def test_unknown_groups_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        hlo_groups.groups(text)


def test_a_loop_of_unknown_length_is_refused() -> None:
    text = PROGRAM.replace("known_trip_count", "unknown")
    with pytest.raises(ValueError, match="loop of unknown length"):
        hlo.collectives(text)


def test_a_collective_in_a_branch_is_refused() -> None:
    text = PROGRAM.replace(
        "  ROOT %o",
        "  %k = f32[4] conditional(%i, %x), branch_computations={%add, %inner}\n  ROOT %o",
    )
    with pytest.raises(ValueError, match="branch"):
        hlo.collectives(text)


def test_phases_come_from_the_name_stack() -> None:
    assert hlo.phase("jit(f)/jvp()/shard_map/psum") == "forward"
    assert hlo.phase("jit(f)/transpose(jvp())/shard_map/psum") == "backward"
    assert hlo.phase("jit(f)/update/psum") == "update"
