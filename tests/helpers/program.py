"""A program of its own that uses the engine: `python -m tests.helpers.program CONFIG.json FILE…`.

It transcribes each file with the model `JAMAK_TEST_MODEL`, writes one line for each event to the file
`JAMAK_TEST_EVENTS`, and closes its client when the last job has ended. Made to be killed.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import msgspec

from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.protocol.events import EngineLost, Event, JobCancelled, JobDone, JobFailed
from engine.protocol.transcript import Options


def main(config_path: str, *files: str) -> None:
    config = msgspec.json.decode(Path(config_path).read_bytes(), type=EngineConfig)
    events_path = Path(os.environ["JAMAK_TEST_EVENTS"])
    num_open = len(files)
    is_over = threading.Event()

    def write(line: str) -> None:
        with events_path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def on_event(event: Event) -> None:
        nonlocal num_open
        write(msgspec.json.encode(event).decode())
        num_open -= isinstance(event, JobDone | JobFailed | JobCancelled)
        if num_open == 0 or isinstance(event, EngineLost):
            is_over.set()

    client = EngineClient(config, on_event, name="program")
    client.start()
    for file in files:
        # The toys' words are tones: what hears speech would hear none.
        client.transcribe(file, Options(model=os.environ.get("JAMAK_TEST_MODEL", "fake"), vad=False))
    is_over.wait()
    client.close()
    write("closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
