"""A notebook run cell by cell in this process: no kernel starts, no package loads again."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import CapturedIO, capture_output
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from traitlets.config import Config

from steptime.book.results.clean import cleaned
from steptime.book.results.execute import environment
from steptime.book.results.notebooks import ROOT, Notebook


@contextlib.contextmanager
def _shell(name: str) -> Iterator[InteractiveShell]:
    """Give a shell with no names in it, and put back what it changes."""
    config = Config()
    config.HistoryManager.enabled = False
    # A module of its own: as `__main__`, processes that a cell starts would look for its file.
    module = types.ModuleType(f"notebook_{name}")
    shell = InteractiveShell.instance(config=config, user_module=module)
    try:
        yield shell
    finally:
        shell.restore_sys_module_state()
        InteractiveShell.clear_instance()


def _outputs(captured: CapturedIO) -> list[Any]:
    """Return what a cell showed and printed, as a notebook keeps it."""
    shown = [
        nbformat.v4.new_output("display_data", data=one.data, metadata=one.metadata or {})
        for one in captured.outputs
    ]
    printed = captured.stdout
    return [*shown, *([nbformat.v4.new_output("stream", text=printed)] if printed else [])]


def ran(notebook: Notebook) -> dict[str, Any]:
    """Return a notebook with the outputs that its small parameters give.

    The runner's kernels, time-outs and files are the business of `make results` and of the tests
    of the runner; here a cell that raises fails the test by itself, with its own traceback.

    Args:
        notebook: Which one.
    """
    asked = {**notebook.parameters, **notebook.quick}
    node = parameterize_notebook(
        load_notebook_node(str(notebook.path)), asked, kernel_name="python3", language="python"
    )
    with environment(), contextlib.chdir(ROOT), _shell(notebook.name) as shell:
        for cell in node.cells:
            if cell.cell_type == "code":
                with capture_output() as captured:
                    # The shell puts its own hook in place for each cell: let it be this one.
                    shell.display_trap.hook, sys.displayhook = sys.displayhook, sys.__displayhook__
                    result = shell.run_cell(cell.source, store_history=True)
                result.raise_error()
                cell.outputs = _outputs(captured)
    content: dict[str, Any] = cleaned(node)
    return content
