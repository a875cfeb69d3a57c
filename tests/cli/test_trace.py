"""`steptime trace`: a run beside the prediction, from a trace or a log."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made_traces import ADAM, FLASH, GEMM, REDUCE, SEND, kernel, message, steps, write

Call = Callable[..., tuple[int, str, str]]

RECORDED = Path(__file__).parents[1] / "readers" / "traces"
LAUNCH = Path(__file__).parents[1] / "readers" / "launch"
QUESTION = ("-m", "llama3-8b", "-a", "h100", "--tp", "2", "-s", "4096", "-B", "8")
LINE = (
    "iteration {}/ 9 | elapsed time per iteration (ms): {}.0 | "
    "throughput per GPU (TFLOP/s/GPU): 400.0 |\n"
)


@pytest.fixture
def traces(tmp_path: Path) -> list[str]:
    """Return the traces of two ranks that differ in their wait for each other."""
    found = []
    for rank in (0, 1):
        sums = {"Process Group Description": "mesh_tp", "Group size": 2}
        ready = 900_000 - 200_000 * rank
        events = [
            kernel(GEMM, 0, ready),
            message(
                REDUCE, 900_000 - 200_000 * rank, 300_000 + 200_000 * rank, "allreduce", **sums
            ),
            kernel(FLASH, 1_200_000, 100_000),
            kernel(ADAM, 1_400_000, 50_000),
            kernel("mystery", 1_450_000, 10_000),
        ]
        path = tmp_path / f"rank{rank}.json"
        found.append(str(write(path, steps(events, 1_500_000), rank, 2)))
    return found


def test_a_trace_beside_the_prediction(steptime: Call, traces: list[str]) -> None:
    status, out, _ = steptime("trace", *traces, *QUESTION, "--json")
    assert status == 0
    told = json.loads(out)
    by_part = {row["part"]: row for row in told["parts"]}
    # The mean of both ranks, in seconds: 0.9 and 0.7 of products, 0.3 and 0.5 of messages.
    assert by_part["products"]["measured_s"] == pytest.approx(0.8)
    assert by_part["tensor_parallel"]["measured_s"] == pytest.approx(0.4)
    assert by_part["host"]["measured_s"] == pytest.approx(0.14)
    assert sum(row["measured_s"] for row in told["parts"]) == pytest.approx(told["step_time_s"])
    said = told["prediction"]
    assert sum(row["predicted_s"] for row in told["parts"]) == pytest.approx(said["step_time_s"])
    gaps = [abs(row["gap_s"]) for row in told["parts"]]
    assert gaps == sorted(gaps, reverse=True)
    assert told["ranks"] == [0, 1]
    assert list(told["unknown_s"]) == ["mystery"]


def test_the_table_says_what_usually_causes_the_worst_gap(
    steptime: Call, traces: list[str]
) -> None:
    status, out, _ = steptime("trace", *traces, *QUESTION)
    text = " ".join(out.split())
    assert status == 0
    for words in (
        "1.5 s a step, measured on 2 ranks",
        "3 compared",
        "90 % interval",
        "tensor-parallel messages, slower than predicted:",
        "usually: ranks wait for the slowest",
        "unknown kernel, 0.7 % of the step: mystery",
    ):
        assert words in text, words


def test_a_trace_alone_needs_no_question(steptime: Call) -> None:
    status, out, _ = steptime("trace", *(str(RECORDED / f"tensor-{i}.json.gz") for i in (0, 1)))
    assert status == 0
    assert "predicted" not in out
    assert "messages of unknown group" in out


@pytest.mark.parametrize("flag", ["--gpus", "-n"])
def test_a_launch_file_takes_the_devices_that_it_leaves_open(
    steptime: Call, traces: list[str], tmp_path: Path, flag: str
) -> None:
    launch = tmp_path / "train.toml"
    launch.write_text(
        '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\n'
        "seq_len = 8192\n[parallelism]\ntensor_parallel_degree = 2\n"
    )
    words = ("--launch", str(launch), "-a", "h100", "--json", flag, "8")
    status, out, err = steptime("trace", *traces, *words)
    assert (status, err) == (0, "")
    explained = steptime("explain", str(launch), "-a", "h100", "--json", flag, "8")[1]
    told = json.loads(out)["prediction"]["step_time_s"]
    assert told == json.loads(explained)["step_time_s"]


def test_a_launch_file_is_the_question(steptime: Call, traces: list[str]) -> None:
    launch = str(LAUNCH / "llama70b.sh")
    status, out, _ = steptime("trace", *traces, "--launch", launch, "-a", "h100", "--json")
    explained = steptime("explain", launch, "-a", "h100", "--json")[1]
    assert status == 0
    said = json.loads(out)["prediction"]["step_time_s"]
    assert said == json.loads(explained)["step_time_s"]


def test_a_drawing_has_both_bars_to_one_scale(
    steptime: Call, traces: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "beside.svg"
    assert steptime("trace", *traces, *QUESTION, "--figure", str(path))[0] == 0
    root = ElementTree.fromstring(path.read_text())
    title = root[0].text or ""
    assert title.startswith("measured step: 1.5 s, predicted step: 1.")
    bars: dict[str, float] = {}
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        if box.get("height") == "34":
            top = str(box.get("y"))
            bars[top] = bars.get(top, 0.0) + float(str(box.get("width")))
    told = json.loads(steptime("trace", *traces, *QUESTION, "--json")[1])
    measured, predicted = bars.values()
    ratio = told["step_time_s"] / told["prediction"]["step_time_s"]
    assert measured / predicted == pytest.approx(ratio, rel=1e-3)


def test_a_log_beside_the_prediction(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("".join(LINE.format(i, 1700 + i) for i in range(1, 8)))
    told = json.loads(steptime("trace", str(path), *QUESTION, "--json")[1])
    assert told["step_time_s"] == pytest.approx(1.7045)
    assert told["software"] == "Megatron-LM"
    status, out, _ = steptime("trace", str(path), *QUESTION)
    assert status == 0
    assert "measured is inside the 90 % interval" in " ".join(out.split())


def test_a_step_time_follows_from_torchtitans_tokens(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    lines = (f"\x1b[31mstep: {i} \x1b[34mtps: 10,000 tflops: 500.0 mfu: 50%\n" for i in range(9))
    path.write_text("".join(lines))
    told = json.loads(steptime("trace", str(path), *QUESTION, "--json")[1])
    # Eight sequences of 4096 tokens on two devices of 10,000 tokens/s.
    assert told["step_time_s"] == pytest.approx(8 * 4096 / 2 / 10_000)


# refusal


def test_what_cannot_be_asked_is_one_line(
    steptime: Call, traces: list[str], tmp_path: Path
) -> None:
    log, pipe, zero = tmp_path / "run.log", tmp_path / "pipe", "/dev/zero"
    log.write_text(LINE.format(1, 2) * 4)
    os.mkfifo(pipe)
    for words, says in (
        ((traces[0], "-m", "llama3-8b"), "needs --accelerator"),
        ((traces[0], "--launch", str(LAUNCH / "llama70b.sh")), "needs --accelerator"),
        (
            (traces[0], "--launch", str(LAUNCH / "llama70b.sh"), "-a", "h100", "--tp", "8"),
            "says how its step is cut; leave --tp out",
        ),
        ((traces[0], traces[0]), "both of rank 0"),
        ((traces[0], str(log)), "not both at once"),
        ((str(log), str(log)), "one log at a time"),
        ((str(pipe),), "not a regular file"),
        ((zero,), "not a regular file"),
        ((str(tmp_path / "none"),), "No such file"),
        ((__file__,), "no line of a step"),
        ((traces[0], "--figure", "/none/x.svg"), "cannot write"),
    ):
        status, out, err = steptime("trace", *words)
        assert (status, out) == (2, ""), words
        assert says in err
        assert err.count("\n") == 1


def test_ranks_without_a_step_in_common_are_refused(steptime: Call, tmp_path: Path) -> None:
    events = [kernel(GEMM, 0, 5), message(SEND, 5, 5, "send")]
    every = steps(events, 10, 2)
    renamed = [{**one, "name": one["name"].replace("#", "#9")} for one in every]
    paths = write(tmp_path / "a", every), write(tmp_path / "b", renamed, 1)
    status, _, err = steptime("trace", *map(str, paths))
    assert status == 2
    assert "no step in common" in err


def test_the_layout_alone_tells_whose_messages_they_are(steptime: Call) -> None:
    paths = [str(RECORDED / f"fsdp-{i}.json.gz") for i in (0, 1)]
    told = json.loads(steptime("trace", *paths, "--dp", "2", "--json")[1])
    assert told["prediction"] is None
    parts = {row["part"] for row in told["parts"]}
    assert "data_parallel" in parts
    assert "messages" not in parts
    assert steptime("trace", *paths, "--dp", "0")[0] == 2


def test_a_log_of_another_batch_or_of_a_first_step_says_so(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    line = "iteration {}/ 9 | elapsed time per iteration (ms): {} | global batch size: {} |\n"
    path.write_text("".join(line.format(i, 1700, 256) for i in range(1, 5)))
    _, out, _ = steptime("trace", str(path), *QUESTION)
    said = "the log says a global batch size of 256, but the prediction is for 8 (-B)"
    assert said in " ".join(out.split())
    assert "3 lines of steps after warm-up" in out
    path.write_text(line.format(1, 189_000, 8))
    status, out, _ = steptime("trace", str(path), *QUESTION)
    assert status == 0
    assert "only the first step is there, which warms up" in out
    assert "after warm-up" not in out
    assert "a global batch size" not in out


@pytest.mark.parametrize(("ms", "tflops"), [(0.5, 400), (1700, 99999)])
def test_a_log_faster_than_its_device_is_refused(
    steptime: Call, tmp_path: Path, ms: float, tflops: float
) -> None:
    path = tmp_path / "run.log"
    line = LINE.replace("{}.0 |", "{} |").replace("400.0", "{}")
    path.write_text("".join(line.format(i, ms, tflops) for i in range(1, 5)))
    status, out, err = steptime("trace", str(path), *QUESTION)
    assert (status, out) == (2, "")
    assert "over the device's peak of" in err
    assert err.count("\n") == 1


def test_a_trace_of_another_device_or_size_says_so_and_looks_for_no_cause(
    steptime: Call, traces: list[str], tmp_path: Path
) -> None:
    about = json.loads(Path(traces[0]).read_text(encoding="utf-8"))
    about["deviceProperties"] = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}]
    about["distributedInfo"] = {"rank": 0, "world_size": 64}
    path = tmp_path / "other.json"
    path.write_text(json.dumps(about), encoding="utf-8")
    status, out, _ = steptime("trace", str(path), *QUESTION)
    first, second, *rest = " ".join(out.split()).split("their steps are not the same")
    assert status == 0
    assert first.startswith("the trace is of NVIDIA A100-SXM4-80GB, but the prediction is for ")
    assert "the trace is of 64 processes, but the prediction is for 2 devices" in second
    assert "could be" not in "".join(rest)
    _, out, _ = steptime("trace", str(path), *QUESTION, "--json")
    told = json.loads(out)
    assert len(told["notes"]) == 2
    assert all(row["cause"] is None for row in told["parts"])
    # The same run asked for as it was: nothing to say.
    same = (*QUESTION[:3], "a100", *QUESTION[4:6], "--dp", "32", "-s", "4096", "-B", "32")
    _, out, _ = steptime("trace", str(path), *same, "--json")
    assert json.loads(out)["notes"] == []


def test_a_log_of_another_batch_has_no_causes(steptime: Call, tmp_path: Path) -> None:
    line = "iteration {}/ 9 | elapsed time per iteration (ms): {} | global batch size: {} |\n"
    path = tmp_path / "run.log"
    path.write_text("".join(line.format(i, 60_000.0, 64) for i in range(1, 9)), encoding="utf-8")
    _, out, _ = steptime("trace", str(path), *QUESTION)
    assert "their steps are not the same" in " ".join(out.split())
    assert "could be" not in out
    assert "change first" not in out
    _, out, _ = steptime("trace", str(path), *QUESTION[:-1], "64")
    assert "not the same" not in out
    assert "change first" in out
