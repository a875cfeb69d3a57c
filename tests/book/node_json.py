"""Ask Node what a script prints."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from steptime.book.node import node_path


def node_json(script: str) -> Any:
    """Return what an ES module prints as JSON.

    Args:
        script: The module; it may import nothing.
    """
    ran = subprocess.run(
        [node_path(), "--input-type=module", "-"],
        input=script,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return json.loads(ran.stdout)
