"""`jamak`: a window for no arguments or files, the command line for everything else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

COMMANDS: Final = frozenset({"transcribe", "live", "models", "doctor", "serve"})


def main() -> None:
    """Be what the arguments ask for, and end the process with its exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--role"]:
        # A frozen program is its own engine: children are started as this program again.
        from engine.__main__ import leave, run_role

        leave(run_role(arguments))
    from app.crashes import guarded

    sys.exit(guarded(lambda: run(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Choose between window and command line, and return the exit code."""
    if _is_for_window(arguments):
        from app.display import can_show_windows

        if can_show_windows():
            from app.wiring import run_window

            return run_window(list(arguments))
        from app.cli.run import run_without_display

        return run_without_display(arguments)
    from app.cli.run import run as run_command

    return run_command(arguments)


def _is_for_window(arguments: Sequence[str]) -> bool:
    """Only files: a lone word that is neither a file nor a path is a misspelt command."""
    if not arguments:
        return True
    first = arguments[0]
    if first in COMMANDS or first.startswith("-"):
        return False
    return len(arguments) > 1 or Path(first).exists() or Path(first).name != first or "." in first


if __name__ == "__main__":
    main()
