"""Which optional group of packages holds what a part of the package needs."""

from __future__ import annotations

EXTRAS = {
    "dask": "search",
    "distributed": "search",
    "jax": "parallel",
    "matplotlib": "plot",
    "numpy": "search",
    "pandas": "data",
    "papermill": "book",
    "pyarrow": "search",
    "pydantic": "cli",
    "rich": "cli",
    "scipy": "fit",
    "typer": "cli",
    "yaml": "cli",
}
"""The smallest group for each module; all of them are in ``all``."""


def way_out(module: str | None, what: str) -> str:
    """Return the line that says what to install.

    Args:
        module: That is missing.
        what: Needs it.
    """
    name = (module or "a package").split(".")[0]
    return f"{what} needs {name}: pip install 'steptime[{EXTRAS.get(name, 'all')}]'"
