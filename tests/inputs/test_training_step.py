import pytest

from steptime import Batch, ConfigError, Layout, training_step
from steptime.inputs.layout import num_microbatches
from steptime.inputs.presets import accelerator, model

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


def test_interleaving_without_chunks_takes_the_most() -> None:
    assert training_step(**BASE, schedule="interleaved-1f1b").layout.vpp == 8
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
        ({"precision": "fp8", "accelerator": "a100"}, "no 8-bit matrix products"),
    ],
)
def test_refusals(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        training_step(**BASE | change)
