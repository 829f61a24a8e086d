"""The app without its window: `python -m tests.helpers.live_program FOLDER MODEL [SOUND]`.

Takes up what the last run left in FOLDER's library; with SOUND it also records and captions that, until
it has been heard. Ends when no row is open any more. Made to be killed.
"""

from __future__ import annotations

import queue
import sys
from pathlib import Path

import msgspec
import soundfile

from app.desk import Desk
from app.library import Library
from app.live_changes import LivePhase
from app.live_session import LiveSession, LiveWish
from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.protocol.events import EngineLost, Event
from engine.protocol.transcript import Options
from tests.helpers.played_sound import PlayedSound


def main(folder: str, model: str, sound: str | None = None) -> None:
    root = Path(folder)
    config = msgspec.json.decode((root / "config.json").read_bytes(), type=EngineConfig)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    client = EngineClient(config, events.put)
    library = Library(root / "library.db")
    desk = Desk(library, client)
    client.start()
    desk.start()
    live = None
    if sound is not None:
        samples, rate_hz = soundfile.read(sound, dtype="float32")
        audio = PlayedSound(samples, rate_hz)
        # The toys' words are tones: what hears speech would hear none.
        options = Options(model=model, language="en", vad=False)
        live = LiveSession(LiveWish(path=root / "recording.wav", options=options), audio, client, desk.live)
        live.start()
    while desk.num_open or (live is not None and live.state.phase is not LivePhase.ENDED):
        told = _told(events)
        desk.on_events(told)
        if any(isinstance(event, EngineLost) for event in told):
            client.restart()
        if live is not None:
            live.on_events(told)
            live.tick()
            if audio.is_over:
                live.stop()
    client.close()
    desk.stop()
    library.close()


def _told(events: queue.SimpleQueue[Event]) -> list[Event]:
    told: list[Event] = []
    try:
        told.append(events.get(timeout=0.05))
        while True:
            told.append(events.get_nowait())
    except queue.Empty:
        return told


if __name__ == "__main__":
    main(*sys.argv[1:])
