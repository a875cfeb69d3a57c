from collections.abc import Callable

import pytest

from steptime.cli.main import run

Answer = tuple[int, str, str]


@pytest.fixture
def steptime(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Return a call that runs one command and gives exit status, output and errors."""

    def call(*words: str) -> Answer:
        capsys.readouterr()
        status = run(words)
        out, err = capsys.readouterr()
        return status, out, err

    return call
