import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steptime import ConfigError, predict
from steptime.answer.predictor import PREDICTORS

Call = Callable[..., tuple[int, str, str]]

LLAMA = {
    "--model": "llama3-405b",
    "--accelerator": "h100",
    "--tp": "8",
    "--pp": "16",
    "--dp": "64",
    "--seq-length": "8192",
    "--global-batch-size": "2048",
}


def words(**changes: str) -> list[str]:
    options = LLAMA | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    return ["predict", *(word for pair in options.items() for word in pair)]


# published


def test_the_chapters_baseline_on_llama_is_as_printed(steptime: Call) -> None:
    status, out, _ = steptime(*words(predictor="chapter"), "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["step_time_s"] == pytest.approx(13.94, abs=0.005)
    assert math.fsum(answer["breakdown_s"].values()) == pytest.approx(answer["step_time_s"])
    assert answer["num_gpus"] == 8192
    assert answer["num_microbatches"] == 32


def test_the_table_names_what_was_assumed(steptime: Call) -> None:
    status, out, _ = steptime(*words())
    assert status == 0
    said = " ".join(out.split())
    assert "assumed: vpp: 1; schedule: 1f1b; zero: 2 (its own report); network: 400 Gb/s" in said
    status, out, _ = steptime(*words(predictor="chapter"))
    assert "vpp: 8 (the most that 126 layers allow)" in " ".join(out.split())
    assert "no interval" in out


@pytest.mark.parametrize(
    ("name", "chunks", "schedule"), [("chapter", 8, "interleaved-1f1b"), ("baseline", 1, "1f1b")]
)
def test_the_baselines_memory_is_of_the_layout_that_it_timed(
    steptime: Call, name: str, chunks: int, schedule: str
) -> None:
    _, out, _ = steptime(*words(predictor=name), "--json")
    found = json.loads(out)
    _, out, _ = steptime(*words(predictor=name, vpp=str(chunks)), "--json")
    asked = json.loads(out)
    assert (found["layout"]["vpp"], found["layout"]["schedule"]) == (chunks, schedule)
    assert found["step_time_s"] == asked["step_time_s"]
    assert found["memory"] == asked["memory"]


def test_both_answers_come_with_memory(steptime: Call) -> None:
    _, out, _ = steptime(*words(stack="megatron"), "--json")
    answer = json.loads(out)
    assert answer["predictor"] == "roofline"
    assert answer["fits"] is answer["memory"]["fits"] is True
    assert math.fsum(answer["memory"]["bytes"].values()) == pytest.approx(
        answer["memory"]["total_bytes"]
    )
    assert answer["memory"]["limit_bytes"] == 81559 * 2**20


def test_python_takes_a_path_and_refuses_unknown_inputs(tmp_path: Path) -> None:
    shape = tmp_path / "mine.toml"
    shape.write_text(
        "num_layers = 4\nhidden_size = 64\nffn_hidden_size = 256\nnum_attention_heads = 4\n"
        "num_query_groups = 2\nvocab_size = 100\n"
    )
    base = {"model": shape, "accelerator": "h100", "seq_length": 128, "global_batch_size": 8}
    assert predict(**base).step.model.name == "mine"
    with pytest.raises(ConfigError, match="unknown input 'zero'; did you mean 'zero_stage'"):
        predict(**base, zero=3)


def test_a_named_stack_sets_time_and_memory(steptime: Call) -> None:
    line = "-m gpt3-175b -a a100 --tp 8 --pp 8 --dp 2 -s 2048 -B 64 --precision fp16"
    _, plain, _ = steptime("predict", *line.split(), "--json")
    _, named, _ = steptime("predict", *line.split(), "--stack", "vtrain", "--json")
    _, memory, _ = steptime("memory", *line.split(), "--stack", "vtrain", "--json")
    assert json.loads(plain)["step_time_s"] != json.loads(named)["step_time_s"]
    total = json.loads(named)["memory"]["total_bytes"]
    assert total == json.loads(memory)["total_bytes"]
    assert total != json.loads(plain)["memory"]["total_bytes"]
    assert json.loads(memory)["stack"] == json.loads(named)["software"] == "vtrain"


def test_gpt3_on_one_server_does_not_fit(steptime: Call) -> None:
    line = "predict -m gpt3-175b -a a100 --tp 8 -s 2048 -B 8 --recompute full --json"
    status, out, _ = steptime(*line.split())
    answer = json.loads(out)
    assert status == 0
    assert answer["fits"] is False
    assert "does not fit" in answer["memory"]["reason"]


def test_python_gives_the_same(steptime: Call) -> None:
    _, out, _ = steptime(*words(predictor="baseline"), "--json")
    result = predict(
        predictor="baseline",
        model="llama3-405b",
        accelerator="h100",
        tp=8,
        pp=16,
        dp=64,
        seq_length=8192,
        global_batch_size=2048,
    )
    assert result.step_time_s == json.loads(out)["step_time_s"]


# refusal


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "llama3-400b"}, "did you mean 'llama3-405b'?"),
        ({"model": "llama3-40b"}, "one of its family: llama3-8b, llama3-70b, llama3-405b?"),
        ({"accelerator": "h10"}, "did you mean one of its family: h100, "),
        ({"tp": "0"}, "tp must be >= 1, got 0"),
        ({"tp": "-8"}, "tp must be >= 1, got -8"),
        ({"tp": "7"}, "tp=7 does not divide the 128 attention heads"),
        ({"tp": "1.5"}, "got '1.5'"),
        ({"tp": "nan"}, "got 'nan'"),
        ({"tp": "9" * 30}, "a number of over 20 digits"),
        ({"pp": "127"}, "pp=127 is over num_layers=126"),
        ({"vpp": "9"}, "vpp=9 leaves chunks without a layer"),
        ({"global_batch_size": "2047"}, "the nearest that does is 2048"),
        ({"ep": "2"}, "needs experts"),
        ({"cp": "3"}, "cp=3 does not divide seq_length=8192"),
        ({"recompute": "ful"}, "did you mean 'full'?"),
        ({"precision": "fp32"}, "unknown precision 'fp32'"),
        ({"schedule": "1f1"}, "did you mean '1f1b'?"),
        ({"schedule": "gpipe", "vpp": "2"}, "one chunk a device"),
        ({"zero": "4"}, "zero_stage must be <= 3"),
        ({"accelerator": "a100", "precision": "fp8"}, "no 8-bit"),
        ({"predictor": "oracle"}, "unknown predictor"),
        ({"stack": ""}, "unknown stack ''"),
        ({"stack": "megatron-cor"}, "did you mean 'megatron-core'?"),
        ({"accelerator": "l40s", "predictor": "roofline"}, "no measured rate"),
        ({"model": "none.toml"}, "none.toml"),
        ({"model": "none.json"}, "none.json"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    steptime: Call, changes: dict[str, str], message: str
) -> None:
    status, out, err = steptime(*words(**changes))
    assert (status, out) == (2, "")
    assert err.startswith("steptime: ")
    assert err.count("\n") == 1
    assert message in err


def test_unknown_options_and_commands_are_refused(steptime: Call) -> None:
    for line in (["predict", "--modl", "x"], ["prediction"], ["predict"]):
        status, out, err = steptime(*line)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1


# invariant

sizes = st.one_of(
    st.sampled_from([1, 2, 3, 4, 8, 16, 64]), st.integers(min_value=-10, max_value=10**40)
)
odd = st.one_of(sizes, st.just(math.nan), st.just(math.inf), st.just("8"), st.just(True))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tp=odd,
    cp=sizes,
    pp=sizes,
    vpp=st.none() | sizes,
    dp=sizes,
    seq_length=st.sampled_from([1, 2048, 8192]) | sizes,
    global_batch_size=st.sampled_from([64, 512, 2048, 49152]) | sizes,
    micro_batch_size=sizes,
    name=st.sampled_from(["gpt3-175b", "llama3-8b", "mixtral-8x7b", "deepseek-v3"]),
    predictor=st.sampled_from(list(PREDICTORS)),
)
def test_any_input_is_answered_or_refused(name: str, predictor: str, **inputs) -> None:  # type: ignore[no-untyped-def]
    try:
        result = predict(predictor=predictor, model=name, accelerator="h100", **inputs)
    except ConfigError:
        return
    assert math.isfinite(result.step_time_s)
    assert result.step_time_s > 0
    assert all(math.isfinite(part) and part >= 0 for part in result.breakdown_s.values())
    assert math.isfinite(result.memory.total_bytes)
    assert result.memory.total_bytes > 0


def test_only_what_fits_is_a_remedy_and_more_devices_are_counted(steptime: Call) -> None:
    layout = "-m llama3-70b -a h100 --tp 8 --pp 4 --dp 8 -s 8192 -B 256 --schedule gpipe"
    status, shown, _ = steptime("predict", *layout.split())
    assert status == 0
    fits = [line for line in shown.splitlines() if line.startswith("to fit: ")]
    assert fits[0].startswith("to fit: --schedule 1f1b: ")
    assert any("--pp 64 on 4,096 GPUs: " in line for line in fits)
    assert not any("not fit" in line for line in fits)
