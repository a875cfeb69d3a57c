"""The command line, a file per command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave the process with its exit status."""
    # Imported here so that `import steptime.cli` needs no optional group.
    import gc
    import sys

    # Loading makes much and drops little: to look for what can be dropped so often costs a
    # twentieth of a short command.
    gc.set_threshold(50_000)
    try:
        from steptime.cli.main import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        # Before `run` could answer it: importing takes a moment.
        status = 130
    except ModuleNotFoundError as missing:
        if not missing.name or missing.name.split(".")[0] not in ("typer", "rich", "click"):
            raise
        print(
            f"steptime: the command line needs {missing.name}: install steptime[cli]",
            file=sys.stderr,
        )
        status = 2
    sys.exit(status)
