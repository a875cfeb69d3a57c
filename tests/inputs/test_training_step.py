import inspect
from dataclasses import fields

import pytest

from steptime import Batch, ConfigError, Layout, training_step
from steptime.inputs.fields import FIELDS, LAYOUT_FIELDS, Field
from steptime.inputs.layout import SCHEDULES, num_microbatches
from steptime.inputs.presets import accelerator, model
from steptime.inputs.software import check_known
from steptime.inputs.training_step import TrainingStep

BASE = {
    "model": "llama3-405b",
    "accelerator": "h100",
    "seq_length": 8192,
    "global_batch_size": 2048,
    "tp": 8,
    "pp": 16,
    "dp": 64,
}


def taken(step: TrainingStep) -> dict[str, str]:
    """Return what was taken for granted of a step, by what it is."""
    return {one.what: one.value for one in step.assumed}


# limit


def test_names_and_objects_are_the_same() -> None:
    by_object = {"model": model("llama3-405b"), "accelerator": accelerator("h100")}
    assert training_step(**BASE) == training_step(**BASE | by_object)


def test_defaults_are_stated() -> None:
    step = training_step(**BASE)
    assert (step.layout.vpp, step.layout.schedule) == (1, "1f1b")
    assert not step.chunks_given
    # ZeRO-2 is what Llama 3's own report says; the rest is what is usual with Megatron-Core.
    assert taken(step) == {
        "vpp": "1",
        "schedule": "1f1b",
        "zero": "2",
        "network": "400 Gb/s per device",
    }
    assert [str(one) for one in step.assumed if one.what == "zero"] == ["zero: 2 (its own report)"]
    given = training_step(**BASE, vpp=1, schedule="1f1b", zero_stage=2, network_gbit=400)
    assert given.layout.vpp == 1
    assert given.assumed == ()
    assert given.job() == step.job()
    assert given.chunks_given


def test_interleaving_without_chunks_takes_two_where_layers_allow() -> None:
    step = training_step(**BASE, schedule="interleaved-1f1b")
    assert step.layout.vpp == 2
    assert taken(step)["vpp"] == "2"
    # 80 layers over 16 stages are five each, which two chunks cannot share alike.
    step = training_step(**BASE | {"model": "llama3-70b"}, schedule="looped-bfs")
    assert step.layout.vpp == 5
    assert "vpp: 5 (the most that 80 layers allow)" in map(str, step.assumed)
    assert training_step(**BASE, vpp=2).layout.schedule == "interleaved-1f1b"


def test_schedules_with_two_chunks() -> None:
    assert training_step(**BASE, schedule="zb-v").layout.vpp == 2


def test_ep_takes_no_devices() -> None:
    layout = Layout(tp=2, pp=4, dp=8, ep=8)
    assert layout.num_devices == 64


def test_num_microbatches() -> None:
    batch = Batch(global_batch_size=96, seq_length=1, micro_batch_size=2)
    assert num_microbatches(Layout(dp=4), batch) == 12


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_field_stands_where_the_signature_has_it(field: Field) -> None:
    parameters = list(inspect.signature(training_step).parameters)
    assert FIELDS.index(field) == parameters.index(field.name)


def test_every_parameter_is_a_field_and_every_size_of_a_layout_too() -> None:
    assert [field.name for field in FIELDS] == list(inspect.signature(training_step).parameters)
    assert set(LAYOUT_FIELDS) == {field.name for field in fields(Layout)}
    assert len({flag for field in FIELDS for flag in field.flags}) == sum(
        len(field.flags) for field in FIELDS
    )


# refusal


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schedule": "zb-v", "vpp": 3}, "two chunks a device"),
        ({"schedule": "dualpipe", "vpp": 2}, "one chunk a device"),
        ({"schedule": "nope"}, "unknown schedule"),
        ({"tp": "8"}, "tp must be a whole number, got '8'"),
        ({"dp": "64"}, "dp must be a whole number, got '64'"),
        ({"cp": "2", "dp": "64"}, "cp must be a whole number, got '2'"),
        ({"zero_stage": "3", "stack": "torchtitan"}, "zero_stage must be a whole number, got '3'"),
        ({"zero_stage": 1, "stack": "torchtitan"}, "no such sharding; use 0, 2, 3"),
        ({"dp_replicate": 3}, "dp_replicate=3 does not divide dp=64; .* is 2"),
        ({"order": "tp-pp"}, "unknown rank order 'tp-pp'"),
        ({"network_gbit": 0}, "network_gbit must be a number > 0"),
        ({"stack": "megatron-cor"}, "did you mean 'megatron-core'"),
        ({"date": "2025-13"}, "date must be a month such as 2025-02, got '2025-13'"),
        ({"facts": {"gravity": 1.0}}, "unknown fact 'gravity'"),
        ({"facts": {"overlap_dp": "much"}}, "fact overlap_dp must be a number, got 'much'"),
        ({"facts": {"kernel": 1.0}}, "fact kernel must be a word"),
        ({"stack": "deepspeed-zero3-2021"}, "recompute is not stated beside DeepSpeed ZeRO-3"),
        ({"model": "gpt5"}, "unknown model"),
        ({"sequence_parallel": "yes"}, "sequence_parallel must be True or False, got 'yes'"),
        ({"accelerator": ["h100"]}, "accelerator must be a name, a file or an Accelerator"),
        ({"model": 7}, "model must be a name, a file or a ModelShape, got 7"),
        ({"precision": "fp8", "accelerator": "a100"}, "matrix products; use bf16$"),
        ({"precision": "nvfp4", "accelerator": "h100"}, "of that format; use fp8$"),
        ({"precision": "mxfp8", "accelerator": "h200"}, "of that format; use fp8$"),
        ({"schedule": "dualpipe", "pp": 3}, "even pp .* got 3 and 32; use 4 and 32"),
        ({"schedule": "dualpipe", "dp": 2048 // 9, "global_batch_size": 227 * 9}, "use 16 and 32"),
        ({"schedule": "dualpipe-v", "dp": 128}, "needs 2 pp = 32 micro-batches, got 16"),
        (
            {"schedule": "interleaved-zb", "vpp": 2, "pp": 4, "dp": 227, "global_batch_size": 2043},
            "use 8 or 12",
        ),
    ],
)
def test_refusals(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        training_step(**BASE | change)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_are_refused_where_the_simulator_refuses_them(schedule: str) -> None:
    from steptime.pipeline.build import fixed_chunks, refusal

    sizes = BASE | {"dp": 1, "tp": 1, "schedule": schedule, "vpp": fixed_chunks(schedule) or 2}
    for pp in (1, 2, 3, 4, 5, 8):
        for micro in (1, 2, 3, 4, 7, 8, 9, 12, 16, 17):
            asked = sizes | {"pp": pp, "global_batch_size": micro}
            if refusal(schedule, pp, micro, asked["vpp"]):
                with pytest.raises(ConfigError, match=r"micro-batches|makes none"):
                    training_step(**asked)
            else:
                assert training_step(**asked).layout.schedule == schedule


def test_devices_the_roofline_does_not_know_name_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"use --predictor baseline$"):
        check_known(accelerator("l40s"))


def test_how_experts_are_cut_is_told_where_it_is_assumed() -> None:
    sizes = {"tp": 8, "dp": 4, "seq_length": 4096, "global_batch_size": 64}
    step = training_step(model="mixtral-8x7b", accelerator="h100", **sizes)
    assert step.layout.etp == 1
    assert taken(step)["etp"] == "1"
    asked = training_step(model="mixtral-8x7b", accelerator="h100", etp=8, **sizes)
    assert "etp" not in taken(asked)
    dense = training_step(model="llama2-7b", accelerator="h100", **sizes)
    assert "etp" not in taken(dense)


@pytest.mark.parametrize("name", ["etp", "ep"])
def test_ranks_of_experts_are_refused_by_name_where_a_model_has_none(name: str) -> None:
    sizes = {"tp": 8, "dp": 4, "seq_length": 4096, "global_batch_size": 64}
    asked = sizes | {"model": "llama2-7b", "accelerator": "h100"}
    with pytest.raises(ConfigError, match=f"{name}=2 needs experts, and .* is dense; use {name}=1"):
        training_step(**asked, **{name: 2})
    assert getattr(training_step(**asked, **{name: 1}).layout, name) == 1
    with pytest.raises(ConfigError, match=f"{name} must be >= 1, got 0"):
        training_step(**asked, **{name: 0})
