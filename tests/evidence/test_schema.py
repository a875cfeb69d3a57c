from pathlib import Path

import pytest

from steptime.evidence.schema import published_rows, read_rows
from steptime.inputs.errors import ConfigError

GOOD = "id,model,gpu,gpus,tp\na,GPT,h100,8,8\n"


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "runs.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# published


def test_every_row_of_the_data_passes() -> None:
    rows = published_rows()
    assert len(rows) == 971
    assert len({row.id for row in rows}) == 971


def test_words_stand_where_the_data_has_keys_of_phrases() -> None:
    rows = {row.id: row for row in published_rows()}
    assert rows["nar21-t1-001"].network == "8 x HDR"
    assert rows["llama3-001"].overlap == "dp pp"


def test_corrections_reach_the_rows() -> None:
    assert {row.vocab for row in published_rows() if row.id.startswith("llama3")} == {128256}


# limit


def test_blank_cells_are_none_and_other_columns_are_left_alone(tmp_path: Path) -> None:
    rows = read_rows(write(tmp_path, "model,gpu,gpus,tp,mine\nGPT,h100,8,,x\n"))
    assert rows[0].tp is None
    assert rows[0].id == "line-2"


def test_no_rows_is_no_error(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "id,model,gpu,gpus\n")) == []


# refusal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("8,8", "8,x"), "runs.csv: line 2: column 'tp': 'x'"),
        (
            GOOD.replace("8,8", "8,-1"),
            "column 'tp': '-1' is not a whole number from 1",
        ),
        (GOOD.replace("8,8", "0,8"), "column 'gpus': '0'"),
        (GOOD.replace("8,8", "8.5,8"), "column 'gpus': '8.5'"),
        (GOOD + "a,GPT,h100,8,8\n", "line 3: column 'id': 'a' stands twice"),
        (GOOD + "b,GPT,h100,8,8,9\n", "line 3: more cells"),
        ("id,model\n1,2\n", "column 'gpu' is missing"),
        ("id,id,model\n1,2,3\n", "column 'id' stands twice"),
        ("", "empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("model,gpu,gpus,step_time_s\nGPT,h100,8,nan\n", "column 'step_time_s': 'nan'"),
        ("model,gpu,gpus\n" + "GPT,h100,8\n" * 20_001, "over 20,000 rows"),
        ("model,gpu,gpus,step_time_s\nGPT,h100,8,inf\n", "column 'step_time_s': 'inf'"),
        (
            "model,gpu,gpus,step_time_s\nGPT,h100,8,-3\n",
            "'-3' is not a number above 0; write that, or",
        ),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_rows(write(tmp_path, text))
    assert message in str(refused.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_rows(tmp_path / "none.csv")
