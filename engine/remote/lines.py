"""The lines to one server, one for each live session; knows whether it is worth calling at all."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from engine.messages import Chunk, ChunkKind
from engine.protocol.elsewhere import Elsewhere
from engine.protocol.requests import JobId
from engine.remote.line import Line, LineLost, NoLine, open_line
from engine.remote.shapes import Reply

log = logging.getLogger(__name__)

MAX_LOST: Final = 3


class Lines:
    """Belongs to the event loop of the calls."""

    def __init__(self) -> None:
        self._lines: dict[JobId, Line] = {}
        self._turns: dict[JobId, asyncio.Lock] = {}
        """Chunks of a session are heard one after another."""
        self._has_endpoint = True
        self._num_lost = 0
        """In a row."""

    async def hear(self, server: Elsewhere, key: str, chunk: Chunk) -> Reply | None:
        """Return what a live chunk's line has heard; None: it must be uploaded."""
        if chunk.kind is ChunkKind.FILE or not self._has_endpoint:
            return None
        job = chunk.key.job
        async with self._turns.setdefault(job, asyncio.Lock()):
            try:
                line = self._lines.get(job)
                if line is None or not line.is_good_for(chunk):
                    self.drop(job)
                    line = self._lines[job] = await open_line(server, key, chunk)
                reply = await line.hear(chunk)
                self._num_lost = 0
                return reply
            except NoLine as error:
                log.debug("this server has no realtime endpoint: %s", error)
                self._has_endpoint = False
            except LineLost as error:
                log.debug("a line was lost: %s", error)
                self._num_lost += 1
                self._has_endpoint = self._num_lost < MAX_LOST
            except asyncio.CancelledError:
                self.drop(job)
                raise
            self.drop(job)
            return None

    def drop(self, job: JobId) -> None:
        """Hang up on behalf of a session."""
        if (line := self._lines.pop(job, None)) is not None:
            line.close()

    def forget(self, job: JobId) -> None:
        """Know that a session is over."""
        self.drop(job)
        self._turns.pop(job, None)
