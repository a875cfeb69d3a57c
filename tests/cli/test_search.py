"""`steptime search`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.inputs.errors import ConfigError
from steptime.inputs.face import NEAR_CHANCE
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import model
from steptime.planning.emit import emitted
from steptime.readers import completed, read_configuration

BASE = ["search", "-m", "llama3-8b", "-a", "h100", "--gpus", "16", "-B", "64", "-s", "8192"]


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*BASE, *arguments]) == 0
    return capsys.readouterr().out


def test_table_shows_the_best_ties_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "--top", "3")
    assert "Llama 3 8B on 16 x h100" in out
    assert "cannot be told from the best" in out
    assert "layouts timed, " in out
    assert "\ntimed in " in out
    assert "fit with 90 % and more; " in out
    assert "memory: over the limit, or fits with less than the chance asked" in out
    every = output(capsys, "--top", "3", "--fits-with", "0")
    assert "fit in memory; " in every
    assert "memory: over the limit of the device" in every


def test_json_and_csv_agree(capsys: pytest.CaptureFixture[str]) -> None:
    cost = ["--tokens", "15e12", "--price-per-gpu-hour", "2.5"]
    told = json.loads(output(capsys, "--json", "--top", "4", *cost))
    rows = list(csv.DictReader(io.StringIO(output(capsys, "--csv", "--top", "4", *cost))))
    assert len(rows) == len(told["layouts"]) == 4
    for row, layout in zip(rows, told["layouts"], strict=True):
        assert float(row["step_time_s"]) == layout["step_time_s"]
        assert row["recompute"] == layout["recompute"]
    best = told["layouts"][0]
    roomy = told["roomiest_tie"]
    assert roomy["headroom_bytes"] >= best["headroom_bytes"]
    assert roomy["step_time_s"] <= best["step_time_s"] * (1 + told["tie_fraction"])
    assert sum(told["best_breakdown_s"].values()) == pytest.approx(best["step_time_s"])
    assert sum(told["best_memory_bytes"].values()) == pytest.approx(best["memory_bytes"])
    assert best["cost"] == pytest.approx(best["gpu_hours"] * 2.5)
    steps = 15e12 / (64 * 8192)
    assert best["days"] == pytest.approx(steps * best["step_time_s"] / 86400)
    # 700 W a board, all of the time.
    assert best["energy_mwh"] == pytest.approx(best["gpu_hours"] * 700 / 1e6)


@pytest.mark.parametrize(
    ("tokens", "unit"), [("1", "µs"), ("100k", "ms"), ("10M", "s"), ("10B", "h"), ("1T", "days")]
)
def test_a_run_is_told_in_a_unit_that_shows_it(
    capsys: pytest.CaptureFixture[str], tokens: str, unit: str
) -> None:
    out = output(capsys, "--tokens", tokens, "--top", "1")
    head, cells = [
        line
        for line in out.partition("the whole run")[2].splitlines()
        if "1 " in line or "MWh" in line
    ][:2]
    assert head.split("┃")[2].strip() == unit
    assert float(cells.split("│")[2].replace(",", "")) >= 0.1


def test_only_what_fits_with_the_chance_asked_is_ranked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    every = json.loads(output(capsys, "--json", "--fits-with", "0"))
    sure = json.loads(output(capsys, "--json"))
    assert (every["fits_with"], sure["fits_with"]) == (0.0, 0.9)
    assert min(one["fit_probability"] for one in every["layouts"]) < 0.9
    assert min(one["fit_probability"] for one in sure["layouts"]) >= 0.9
    assert 0 < sure["num_fitting"] < every["num_fitting"]
    assert run([*BASE, "--fits-with", "1"]) == 2
    assert "fits_with must be in [0, 1), such as 0.9" in capsys.readouterr().err


def test_where_none_is_as_sure_as_asked_the_fastest_of_the_most_likely_stands_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tight = ["search", "-m", "llama3-70b", "-a", "h100", "--gpus", "24", "-B", "64", "-s", "8192"]
    assert run([*tight, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (only,) = told["layouts"]
    assert told["num_fitting"] == 0
    assert 0.5 < only["fit_probability"] < 0.9
    assert told["caution"].startswith("no layout fits with 90 %, none is sure: of the most likely")
    assert run([*tight, "--fits-with", "0", "--front", "--top", "1000", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert every["caution"] is None
    surest = max(one["fit_probability"] for one in every["layouts"])
    near = [one for one in every["layouts"] if one["fit_probability"] >= surest - NEAR_CHANCE]
    assert only == near[0]
    assert told["trade_off"][0] == only
    assert told["trade_off"][-1] == every["layouts"][0]
    assert run(tight) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "and stands alone; --fits-with 0 ranks all whose counted bytes fit" in shown
    first, last = told["trade_off"][0], told["trade_off"][-1]
    assert last["step_time_s"] < first["step_time_s"]
    assert last["fit_probability"] < first["fit_probability"]
    assert f"fits with {100 * last['fit_probability']:.0f} %" in shown


def test_racks_that_a_layout_fills_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["-a", "gb200", "--gpus", "512", "-B", "1024", "-s", "4096", "--json"]
    assert run(["search", "-m", "kimi-k2", *arguments, "--zero", "3", "--recompute", "none"]) == 0
    best = json.loads(capsys.readouterr().out)["layouts"][0]
    # Seven racks of 72 are too few for 512; eight have 576, so 64 of them stay without work.
    assert (best["num_domains"], best["left_over_gpus"]) == (8, 576 - 512)


def test_front_goes_from_fast_to_lean(capsys: pytest.CaptureFixture[str]) -> None:
    layouts = json.loads(output(capsys, "--front", "--json", "--top", "100"))["layouts"]
    times = [layout["step_time_s"] for layout in layouts]
    sizes = [layout["memory_bytes"] for layout in layouts]
    assert times == sorted(times)
    assert sizes == sorted(sizes, reverse=True)
    assert len(layouts) > 3


@pytest.mark.parametrize(("kind", "suffix"), [("megatron", ".args"), ("torchtitan", ".toml")])
def test_what_is_emitted_reads_back_as_the_same_layout(
    kind: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # torchtitan shards the optimizer only together with gradients.
    stage = ("--zero", "3") if kind == "torchtitan" else ()
    told = json.loads(output(capsys, "--json", "--top", "40", *stage))["layouts"]
    # torchtitan cuts the sequence wherever it cuts tensors.
    runs = [
        str(place)
        for place, one in enumerate(told, 1)
        if kind == "megatron" or one["tp"] == 1 or one["sequence_parallel"]
    ]
    for choice in (runs[0], runs[4], runs[-1]):
        wanted = told[int(choice) - 1]
        path = tmp_path / f"emitted{suffix}"
        path.write_text(output(capsys, "--emit", kind, "--choice", choice, *stage))
        reading = read_configuration(path)
        # torchtitan's file gives layers per virtual stage, so it takes the model to count them.
        reading.model = model("llama3-8b")
        layout, batch = completed(reading, {"num_gpus": 16})
        for name in ("tp", "cp", "pp", "vpp", "dp", "recompute"):
            assert getattr(layout, name) == wanted[name], (choice, name)
        assert batch == Batch(
            global_batch_size=64, seq_length=8192, micro_batch_size=wanted["micro_batch_size"]
        )
        if kind == "megatron":
            assert layout.zero_stage == wanted["zero_stage"]
            assert layout.sequence_parallel == wanted["sequence_parallel"]


def test_torchtitan_shards_what_the_layout_shards() -> None:
    batch = Batch(global_batch_size=64, seq_length=8192)
    # Beside tensor ranks it had no plain replicas when its files were such.
    layouts = {
        stage: Layout(tp=2 if stage > 1 else 1, dp=8, zero_stage=stage, sequence_parallel=stage > 1)
        for stage in (0, 1, 2, 3)
    }
    degrees = {0: (8, 1), 2: (1, 8), 3: (1, 8)}
    for stage, (replicate, shard) in degrees.items():
        text = emitted("torchtitan", model("llama3-8b"), layouts[stage], batch)
        assert f"data_parallel_replicate_degree = {replicate}\n" in text
        assert f"data_parallel_shard_degree = {shard}\n" in text
    with pytest.raises(ConfigError, match=r"torchtitan has no ZeRO-1.*choose a layout with --zero"):
        emitted("torchtitan", model("llama3-8b"), layouts[1], batch)


def test_a_dense_model_has_no_expert_groups(capsys: pytest.CaptureFixture[str]) -> None:
    layouts = json.loads(output(capsys, "--json", "--top", "40"))["layouts"]
    assert {layout["tp"] for layout in layouts} > {1}
    assert {(layout["ep"], layout["etp"]) for layout in layouts} == {(1, 1)}


def test_emitted_mixture_reads_back_as_the_same_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["-a", "h100", "--gpus", "512", "-B", "2048", "-s", "4096", "--emit", "megatron"]
    assert run(["search", "-m", "deepseek-v3", *arguments]) == 0
    path = tmp_path / "emitted.args"
    path.write_text(capsys.readouterr().out)
    shape = read_configuration(path).model
    assert shape is not None
    assert shape.experts is not None
    assert shape.latent_attention is not None
    assert (shape.experts.num_experts, shape.experts.num_dense_layers) == (256, 3)
    assert shape.latent_attention.q_lora_rank == 1536


def test_a_configuration_file_is_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads((Path(__file__).parents[1] / "readers" / "hub_configs.json").read_text())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(rows[0]["config"]))
    arguments = ["-a", "h100", "--gpus", "8", "-B", "32", "-s", "4096", "--json"]
    assert run(["search", "-m", str(path), *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["num_fitting"] > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gpus", "0"], "num_gpus must be >= 1, got 0"),
        (["--json", "--csv"], "exclude each other"),
        (["--price-per-gpu-hour", "2"], "needs --tokens"),
        (["--emit", "jax"], "unknown format 'jax'"),
        (["--recompute", "some"], "unknown recompute 'some'"),
        (["--top", "0"], "top must be >= 1"),
        (["--tokens", "-1"], "tokens must be a number > 0"),
        (["--order", "llama3", "--predictor", "roofline"], "use --predictor baseline"),
        (["--order", "llama3"], "not 'llama3'; use --predictor baseline for another order"),
        (["--choice", "99999999", "--emit", "megatron"], "choice must be <="),
        (["-m", "llama3-405b"], "GPUs works: the leanest layout needs"),
        (["-m", "llama3-405b"], "with 128 GPUs the best fits"),
        (["--micro-batch-size", "7"], "with --global-batch-size"),
    ],
)
def test_refusals(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_a_share_of_the_memory_is_refused_by_its_options_name(
    steptime: Callable[..., tuple[int, str, str]],
) -> None:
    asked = ("search", "-m", "llama3-8b", "-a", "h100", "-n", "8", "-s", "4096", "-B", "8")
    for share in ("2", "0", "-1"):
        status, out, err = steptime(*asked, "--memory-share", share)
        assert (status, out) == (2, "")
        assert "--memory-share must be a number > 0 and <= 1" in err


def test_what_the_emitted_file_is_of_is_told_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["-a", "h100", "--gpus", "16", "-B", "64", "-s", "8192"]
    assert run(["search", "-m", "llama3-8b", *arguments, "--emit", "deepspeed"]) == 0
    found = capsys.readouterr()
    assert found.out.startswith("#!/bin/bash\n")
    assert "note: layout " in found.err
    assert "the best that deepspeed can run" in found.err
    # Whoever names the software gets what it can run at once.
    named = [*arguments, "--stack", "deepspeed", "--emit", "deepspeed"]
    assert run(["search", "-m", "llama3-8b", *named]) == 0
    assert "note: layout " not in capsys.readouterr().err


def test_a_job_inside_one_domain_leaves_nothing_over(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["search", "-m", "llama3-8b", "-s", "8192", "-B", "64", "--gpus", "64", "-a"]
    assert run([*asked, "tpu-v5p"]) == 0
    out = capsys.readouterr().out
    assert "the first is inside one domain, of 8,960: 64 GPUs in use\n" in out
    assert "left over" not in out
    assert run([*asked, "h100"]) == 0
    assert "the first fills 8 domains of 8, 8 GPUs in use in each, 0 left over" in (
        capsys.readouterr().out
    )
