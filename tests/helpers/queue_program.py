"""The app without its window: `python -m tests.helpers.queue_program CONFIG.json LIBRARY MODEL FILE…`.

Queues the files (none = what the library has), and runs until every row has ended. Made to be killed.
"""

from __future__ import annotations

import queue
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.desk import Desk
from app.library import Library
from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.protocol.events import EngineLost, Event
from engine.protocol.transcript import Options


class Queue:
    """A desk over a real engine; events are taken in by whoever calls `run_until`."""

    def __init__(self, config: EngineConfig, library_path: Path) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.library = Library(library_path)
        self.client = EngineClient(config, self._events.put, name="queue")
        self.desk = Desk(self.library, self.client)
        self.client.start()
        self.desk.start()

    def run_until(self, is_enough: Callable[[], bool]) -> None:
        """Take in what the engine tells until `is_enough`; a lost engine is started again."""
        while not is_enough():
            event = self._events.get(timeout=60)
            self.desk.on_events([event])
            if isinstance(event, EngineLost):
                self.client.restart()

    def close(self) -> None:
        self.desk.stop()
        self.client.close()
        self.library.close()


def main(config_path: str, library_path: str, model: str, *files: str) -> None:
    config = msgspec.json.decode(Path(config_path).read_bytes(), type=EngineConfig)
    queued = Queue(config, Path(library_path))
    # The toys' words are tones: what hears speech would hear none.
    queued.desk.add(files, Options(model=model, vad=False))
    queued.run_until(lambda: queued.desk.num_open == 0)
    queued.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
