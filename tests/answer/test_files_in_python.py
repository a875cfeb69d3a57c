"""What commands take as files, and where they take nothing, Python takes too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import steptime
from steptime.inputs.constants import read_constants

STEP: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "seq_length": 4096,
    "global_batch_size": 8,
}
OWN = "[constants]\nhbm_efficiency = 0.4\n"
SCRIPT = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
    "--num-attention-heads 16 --vocab-size 32000 --seq-length 2048 --micro-batch-size 1 "
    "--global-batch-size 64 --bf16\n"
)
ASKED = {
    "predict": lambda folder, **own: steptime.predict(**STEP, dp=8, **own).step_time_s,
    "search": lambda folder, **own: (
        steptime.search(**STEP, num_gpus=8, tp=1, cp=1, pp=1, **own).best[0].step_time_s
    ),
    "explain": lambda folder, **own: (
        steptime.explain(folder / "run.sh", accelerator="h100", **own).own.step_time_s
    ),
    "validate": lambda folder, **own: (
        steptime.validate(predictor="roofline", **own).summary.mean_ln_error
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_constants_are_named_by_their_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    (tmp_path / "run.sh").write_text(SCRIPT, encoding="utf-8")
    ask = ASKED[name]
    found = ask(tmp_path, constants=path)
    assert (
        found == ask(tmp_path, constants=str(path)) == ask(tmp_path, constants=read_constants(path))
    )
    assert found != ask(tmp_path)


def test_without_a_domain_a_job_stands_on_servers() -> None:
    sizes = {"tp": 8, "pp": 4, "dp": 16}
    assert steptime.place(**sizes) == steptime.place(**sizes, domain_size=8)
    assert steptime.place(**sizes, accelerator="gb200").domain_size == 72


def test_facts_are_values_by_name_for_runs_too() -> None:
    with pytest.raises(steptime.ConfigError, match="facts must be values by name"):
        steptime.validate(facts=["overlap_dp=0"])  # type: ignore[arg-type]


def test_help_tells_how_python_writes_facts() -> None:
    assert "{'overlap_dp': 0} in Python" in str(steptime.predict.__doc__)
