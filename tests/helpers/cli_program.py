"""The command line with a test's configuration: `-m tests.helpers.cli_program CONFIG.json ARGUMENTS…`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from app.cli.run import run
from app.crashes import guarded
from engine.config import EngineConfig


def main(config_path: str, *arguments: str) -> None:
    config = msgspec.json.decode(Path(config_path).read_bytes(), type=EngineConfig)
    sys.exit(guarded(lambda: run(arguments, config=config)))


if __name__ == "__main__":
    main(*sys.argv[1:])
