"""`steptime place`."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from steptime.cli.main import run


def test_table_counts_both_kinds_of_domain(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["place", "--tp", "8", "--pp", "16", "--dp", "9", "--order", "llama3"]) == 0
    out = capsys.readouterr().out
    assert "1152 GPUs, ranks in order tp-cp-pp-dp" in out
    assert "domain of 72: 16 of them, 72 GPUs in use in each, 0 left over" in out
    assert "pipeline hops" in out


def test_json_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["place", "--tp", "8", "--pp", "16", "--dp", "9", "--order", "llama3", "--json"]
    assert run([*arguments, "--domain", "72", "--spares", "8"]) == 0
    (placement,) = json.loads(capsys.readouterr().out)
    assert placement["used_per_domain"] == 64
    assert placement["left_over_gpus"] == 18 * 72 - 1152
    assert placement["hops_inside"] + placement["hops_crossing"] == 15 * 8 * 9
    tensor = placement["groups"][0]
    assert (tensor["kind"], tensor["inside"], tensor["crossing"]) == ("tensor", 144, 0)


def test_svg_draws_every_gpu_once(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["place", "--tp", "8", "--pp", "2", "--dp", "5", "--svg"]
    assert run([*arguments, "--domain", "72", "--order", "llama3"]) == 0
    tree = ElementTree.fromstring(capsys.readouterr().out)
    ranks = [int(box.get("data-rank", "-1")) for box in tree.iter() if box.get("data-rank")]
    assert ranks == list(range(80))
    assert tree.get("role") == "img"
    assert "80 GPUs" in (tree.get("aria-label") or "")
    dashed = [box for box in tree.iter() if box.get("stroke-dasharray")]
    assert len(dashed) == 2 * 72 - 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--order", "up"], "unknown rank order 'up'"),
        (["--domain", "8", "--spares", "8"], "use at most 7"),
        (["--json", "--svg"], "exclude each other"),
        (["--tp", "8", "--ep", "3"], "ep=3 x etp=1 does not divide the 8 ranks"),
        (["--tp", "8", "--dp", "3", "--ep", "9"], "the largest below that does is 8"),
        (["--tp", "0"], "tp must be >= 1"),
        (["--accelerator", "h1000"], "did you mean"),
        (["--stack", "megatron"], "--stack changes no count of groups; add --model"),
        (["--network-gbit", "400"], "--network-gbit changes no count of groups; add --model"),
        (["--predictor", "baseline"], "--predictor changes no count of groups; add --model"),
        (["--zero", "1"], "--zero changes no count of groups; add --model"),
        (["-m", "llama3-8b"], "the time of a step needs --accelerator beside --model"),
        (["-m", "llama3-8b", "-a", "h100"], "the time of a step needs --seq-length"),
        (["-m", "llama3-8b", "--svg"], "no time of a step; leave out --model"),
    ],
)
def test_refusals(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["place", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_idle_gpus_are_not_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["place", "--tp", "7"]) == 0
    out = capsys.readouterr().out
    assert "domain of 72: 1 of them, 7 GPUs in use, 65 free for others" in out
    assert "domain of 8: 1 of them, 7 GPUs in use, 1 free for others" in out
    assert run(["place", "--tp", "16", "--dp", "9", "--domain", "72"]) == 0
    assert "3 of them, 64 GPUs in use in each, 16 in the last, 72" in capsys.readouterr().out
    assert run(["place", "--tp", "7", "--domain", "72", "--json"]) == 0
    (placement,) = json.loads(capsys.readouterr().out)
    assert placement["used_per_domain"] + placement["left_over_gpus"] == 72


# ---- the time of a step

STEP = ("-m", "llama3-70b", "-a", "gb200", "-s", "8192", "-B", "288")
SIZES = ("--tp", "8", "--pp", "2", "--dp", "9")


@pytest.mark.parametrize(
    "how",
    [
        (),
        ("--stack", "nemo", "--date", "2025-10"),
        ("--network-gbit", "200", "--fact", "overlap_dp=0"),
        ("--predictor", "baseline", "--zero", "0"),
    ],
)
@pytest.mark.parametrize(("spares", "used"), [(0, 72), (8, 64)])
def test_a_step_is_answered_as_predict_answers_in_each_domain(
    how: tuple[str, ...], spares: int, used: int, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*SIZES, *STEP, *how]
    domains = ["--domain", "72", "--domain", "8", "--json"]
    if spares:
        domains = ["--domain", "72", "--spares", str(spares), "--json"]
    assert run(["place", *asked, *domains]) == 0
    found = json.loads(capsys.readouterr().out)
    for placement, domain in zip(found, (used, 8), strict=False):
        assert run(["predict", *asked, "--nvlink-domain", str(domain), "--json"]) == 0
        assert placement["step"] == json.loads(capsys.readouterr().out)


def test_options_before_the_name_count_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--stack", "nemo", "place", *SIZES, *STEP, "--json"]) == 0
    (before,) = json.loads(capsys.readouterr().out)
    assert run(["place", *SIZES, *STEP, "--stack", "nemo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [before]
    assert before["step"]["software"].startswith(("nemo", "megatron"))


def test_the_table_says_the_step_of_each_domain(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["place", *SIZES, *STEP, "--domain", "72", "--domain", "8"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for size in ("72", "8"):
        assert f"domain of {size}: Llama 3 70B on 144 x gb200: " in out
    assert run(["place", *SIZES, "--json"]) == 0
    assert [one["step"] for one in json.loads(capsys.readouterr().out)] == [None, None]


@pytest.mark.parametrize("step", [[], ["-m", "llama3-8b", "-s", "8192", "-B", "64"]])
@pytest.mark.parametrize("accelerator", ["tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e"])
def test_a_tpu_s_placement_says_that_it_is_not_to_be_trusted(
    accelerator: str, step: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["place", "-a", accelerator, "--dp", "64", *step]
    assert run(asked) == 0
    assert "not to be trusted" in " ".join(capsys.readouterr().out.split())
    assert run([*asked, "--json"]) == 0
    (placement,) = json.loads(capsys.readouterr().out)
    assert "torus" in placement["caution"]


def test_a_placement_on_measured_devices_has_no_caution(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["place", "-a", "h100", "--dp", "64", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["caution"] is None
    assert run(["place", "-a", "h100", "--dp", "64"]) == 0
    assert "trusted" not in capsys.readouterr().out
