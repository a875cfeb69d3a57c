"""What a file's own facts mean for the layout that is offered instead of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.planning.explained import explain

TOML = """
[model]
name = "llama3"
flavor = "405B"
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 8
enable_async_tensor_parallel = {async_tp}
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatch_size = 1
[activation_checkpoint]
mode = "full"
[compile]
enable = true
"""


@pytest.mark.parametrize("async_tp", ["true", "false"])
def test_overlap_that_the_other_layout_loses_is_told_beside_it(
    async_tp: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(TOML.format(async_tp=async_tp))
    found = explain(path, accelerator="h100", num_gpus=4096)
    assert found.best is not None
    # Over more ranks than a domain has, chunks land nowhere.
    assert found.best.layout.tp > 8
    lost = [one.what for one in found.lost_there]
    assert lost == (["overlap_tp"] if async_tp == "true" else [])
    assert run(["explain", str(path), "-a", "h100", "--gpus", "4096"]) == 0
    assert ("of that layout: overlap_tp" in capsys.readouterr().out) == (async_tp == "true")
