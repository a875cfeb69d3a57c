"""What a user imports from the package is what its room gives, whatever was imported before."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import importlib, steptime
# Once as it is put off, once with every room there.
for _ in range(2):
    for name, home in steptime._HOME.items():
        assert getattr(steptime, name) is getattr(importlib.import_module(home), name), name
assert sorted(steptime._HOME) == sorted(set(steptime.__all__) - {"__version__"})
"""


def test_a_public_name_is_never_the_room_of_that_name() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
