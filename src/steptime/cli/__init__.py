"""The command line, a file per command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave the process with its exit status."""
    # Imported here so that `import steptime.cli` needs no optional group.
    import sys

    try:
        from steptime.cli.main import run
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.split(".")[0] in ("typer", "rich", "click"):
            print(
                f"steptime: the command line needs {missing.name}: install steptime[cli]",
                file=sys.stderr,
            )
            sys.exit(2)
        raise
    sys.exit(run(sys.argv[1:]))
