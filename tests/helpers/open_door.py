"""A door on a free port, in a thread of this process, over an engine whose models are toys."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import uvicorn

from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.server.app import make_app
from engine.server.bridge import Bridge, ClientMaker
from engine.server.config import ServerConfig
from engine.server.door import Door
from engine.server.places import Places
from engine.server.run import listen_on, url_of


class OpenDoor:
    """Serves until `close`; `changes` are those of the engine's configuration."""

    def __init__(
        self,
        folder: Path,
        model: str,
        *,
        make_client: ClientMaker = EngineClient,
        max_jobs: int = 8,
        **changes: object,
    ) -> None:
        config = EngineConfig(
            models_folder=str(folder / "models"),
            cache_folder=str(folder / "cache"),
            log_folder=str(folder / "logs"),
            runtime_folder=str(folder / "run"),
            families=("tests.helpers.toy",),
        )
        self.engine_config = msgspec.structs.replace(config, **changes)
        self.uploads = folder / "uploads"
        self.uploads.mkdir()
        door = Door(
            config=ServerConfig(model=model, uploads_folder=str(self.uploads)),
            bridge=Bridge(self.engine_config, make_client),
            places=Places(max_jobs),
            uploads=self.uploads,
        )
        listener = listen_on("127.0.0.1", 0)
        self.url = url_of(listener)
        self.door = door
        self._server = uvicorn.Server(
            uvicorn.Config(make_app(door), log_config=None, access_log=False, ws_max_size=1 << 22)
        )
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(20.0)
        assert not self._thread.is_alive()
