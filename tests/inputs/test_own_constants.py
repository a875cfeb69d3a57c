from pathlib import Path

import pytest

from steptime.inputs.constants import SHARED, published_constants, read_constants
from steptime.inputs.errors import ConfigError

SHARES = ("hopper_efficiency", "hbm_efficiency", "link_efficiency", "network_efficiency")


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", ["0", "0.0", "-0.0", "1e-300"])
def test_what_divides_is_not_zero(tmp_path: Path, name: str, value: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f"[constants]\n{name} = {value}\n")
    with pytest.raises(ConfigError, match=f"^{name} must be a number > 1e-06 and <= 1.5, got "):
        read_constants(path)
    with pytest.raises(ConfigError, match=f"^{name} must be a number > 0 "):
        published_constants().changed({name: 0.0})


def test_what_adds_may_be_zero(tmp_path: Path) -> None:
    adding = [name for name in SHARED if not name.endswith("efficiency")]
    path = tmp_path / "own.toml"
    path.write_text("[constants]\n" + "".join(f"{name} = 0\n" for name in adding))
    values = read_constants(path).values()
    assert {name: values[name] for name in adding} == dict.fromkeys(adding, 0.0)
