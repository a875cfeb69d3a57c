"""MaxText's pipelines: micro-batches, batch and schedule of files that say little of them."""

from pathlib import Path

import pytest

from steptime.planning import explained
from steptime.readers import completed, read_configuration

_FILE = """\
model_name: "llama3.1-70b"
per_device_batch_size: 4
max_target_length: 8192
remat_policy: full
ici_fsdp_parallelism: 32
ici_tensor_parallelism: 4
ici_pipeline_parallelism: 2
dtype: bfloat16
"""
_DEFAULT = "gradient_accumulation_steps: 1\n"


@pytest.mark.parametrize("also", ["", _DEFAULT])
@pytest.mark.parametrize(
    ("stated", "count"),
    [
        ("", 2),
        ("num_pipeline_microbatches: -1\nnum_pipeline_repeats: -1\n", 2),
        ("num_pipeline_microbatches: 4\n", 4),
    ],
)
def test_batch_is_each_device_s_share_whether_or_not_its_default_is_written(
    tmp_path: Path, also: str, stated: str, count: int
) -> None:
    path = tmp_path / "run.yml"
    path.write_text(_FILE + stated + also)
    step = explained.explain(path, accelerator="h100").own.step
    # per_device_batch_size x devices; as many micro-batches as stages if none are stated.
    assert step.batch.global_batch_size == 4 * 256
    assert step.batch.micro_batch_size * 32 * count == 4 * 256


@pytest.mark.parametrize(
    ("also", "schedule"), [("", "gpipe"), ("num_pipeline_repeats: 2\n", "looped-bfs")]
)
def test_schedule_that_no_line_names_is_one_that_the_software_runs(
    tmp_path: Path, also: str, schedule: str
) -> None:
    path = tmp_path / "run.yml"
    path.write_text(_FILE + also)
    told = explained.explain(path, accelerator="h100")
    assert told.own.step.layout.schedule == schedule
    assert not [one for one in told.own.assumed if one.what == "not run"]


def test_numbers_of_a_pipeline_that_stay_open_are_nothing_without_one(tmp_path: Path) -> None:
    more = "num_layers_per_pipeline_stage: 1\nnum_pipeline_repeats: -1\n"
    path = tmp_path / "own.yml"
    path.write_text(
        "base_config: base.yml\nmodel_name: llama2-7b\nici_fsdp_parallelism: 8\n"
        f"per_device_batch_size: 2\nmax_target_length: 4096\n{more}num_pipeline_microbatches: -1\n"
    )
    layout, _ = completed(read_configuration(path), {"num_gpus": 8})
    assert (layout.pp, layout.vpp, layout.dp) == (1, 1, 8)


def test_parts_of_a_pipeline_cut_no_batch_without_one(tmp_path: Path) -> None:
    """Four tensor ranks share 4 sequences each: 16 at once."""
    path = tmp_path / "own.yml"
    text = _FILE.replace("ici_pipeline_parallelism: 2\n", "num_pipeline_microbatches: 4\n")
    path.write_text(text)
    assert read_configuration(path).value("micro_batch_size") == 16
