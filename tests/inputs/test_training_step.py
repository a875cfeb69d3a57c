import pytest

from steptime import Batch, ConfigError, Layout, training_step
from steptime.inputs.layout import SCHEDULES, num_microbatches
from steptime.inputs.presets import accelerator, model
from steptime.inputs.stack import stack_facts, stack_named

BASE = {
    "model": "llama3-405b",
    "accelerator": "h100",
    "seq_length": 8192,
    "global_batch_size": 2048,
    "tp": 8,
    "pp": 16,
    "dp": 64,
}


# limit


def test_names_and_objects_are_the_same() -> None:
    by_object = {"model": model("llama3-405b"), "accelerator": accelerator("h100")}
    assert training_step(**BASE) == training_step(**BASE | by_object)


def test_defaults_are_stated() -> None:
    step = training_step(**BASE)
    assert (step.layout.vpp, step.layout.schedule) == (1, "1f1b")
    assert not step.chunks_given
    assert any(text.startswith("vpp 1") for text in step.assumed)
    given = training_step(**BASE, vpp=1, schedule="1f1b", zero_stage=2)
    assert given.layout.vpp == 1
    assert given.assumed == ()
    assert given.chunks_given


def test_interleaving_without_chunks_takes_two_where_layers_allow() -> None:
    step = training_step(**BASE, schedule="interleaved-1f1b")
    assert step.layout.vpp == 2
    assert any(text.startswith("vpp 2 ") for text in step.assumed)
    # 80 layers over 16 stages are five each, which two chunks cannot share alike.
    step = training_step(**BASE | {"model": "llama3-70b"}, schedule="looped-bfs")
    assert step.layout.vpp == 5
    assert any(text.startswith("vpp 5, the most") for text in step.assumed)
    assert training_step(**BASE, vpp=2).layout.schedule == "interleaved-1f1b"


def test_schedules_with_two_chunks() -> None:
    assert training_step(**BASE, schedule="zb-v").layout.vpp == 2


def test_ep_takes_no_devices() -> None:
    layout = Layout(tp=2, pp=4, dp=8, ep=8)
    assert layout.num_devices == 64


def test_num_microbatches() -> None:
    batch = Batch(global_batch_size=96, seq_length=1, micro_batch_size=2)
    assert num_microbatches(Layout(dp=4), batch) == 12


# refusal


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schedule": "zb-v", "vpp": 3}, "two chunks a device"),
        ({"schedule": "dualpipe", "vpp": 2}, "one chunk a device"),
        ({"schedule": "nope"}, "unknown schedule"),
        ({"tp": "8"}, "tp must be a whole number, got '8'"),
        ({"model": "gpt5"}, "unknown model"),
        ({"sequence_parallel": "yes"}, "sequence_parallel must be True or False, got 'yes'"),
        ({"accelerator": ["h100"]}, "accelerator must be a name, a file or an Accelerator"),
        ({"model": 7}, "model must be a name, a file or a ModelShape, got 7"),
        ({"precision": "fp8", "accelerator": "a100"}, "matrix products; use bf16$"),
        ({"precision": "nvfp4", "accelerator": "h100"}, "of that format; use fp8$"),
        ({"precision": "mxfp8", "accelerator": "h200"}, "of that format; use fp8$"),
        ({"schedule": "dualpipe", "pp": 3}, "even pp .* got 3 and 32; use 4 and 32"),
        ({"schedule": "dualpipe", "dp": 2048 // 9, "global_batch_size": 227 * 9}, "use 16 and 10"),
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


@pytest.mark.parametrize("schedule", [name for name in SCHEDULES if name != "interleaved-1f1b"])
def test_schedules_are_refused_where_the_simulator_refuses_them(schedule: str) -> None:
    # Interleaved 1F1B is not among them: frameworks let its last round be shorter.
    from steptime.pipeline.build import fixed_chunks, refusal

    sizes = BASE | {"dp": 1, "tp": 1, "schedule": schedule, "vpp": fixed_chunks(schedule) or 2}
    for pp in (1, 2, 3, 4, 5, 8):
        for micro in (1, 2, 3, 4, 7, 8, 9, 12, 16, 17):
            asked = sizes | {"pp": pp, "global_batch_size": micro}
            if refusal(schedule, pp, micro, asked["vpp"]):
                with pytest.raises(ConfigError, match="micro-batches"):
                    training_step(**asked)
            else:
                assert training_step(**asked).layout.schedule == schedule


def test_devices_the_roofline_does_not_know_name_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"use --predictor baseline$"):
        stack_facts(stack_named("megatron-core"), accelerator("tpu-v5p"))


def test_how_experts_are_cut_is_told_where_it_is_assumed() -> None:
    sizes = {"tp": 8, "dp": 4, "seq_length": 4096, "global_batch_size": 64}
    step = training_step(model="mixtral-8x7b", accelerator="h100", **sizes)
    assert step.layout.etp == 1
    assert any(text.startswith("etp 1") for text in step.assumed)
    asked = training_step(model="mixtral-8x7b", accelerator="h100", etp=8, **sizes)
    assert not any(text.startswith("etp") for text in asked.assumed)
    dense = training_step(model="llama2-7b", accelerator="h100", **sizes)
    assert not any(text.startswith("etp") for text in dense.assumed)
