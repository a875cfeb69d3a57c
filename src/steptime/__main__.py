"""``python -m steptime``: the command line."""

from steptime.cli import main

if __name__ == "__main__":
    main()
