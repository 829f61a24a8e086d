"""Has the rest of interrupted recordings transcribed: the engine hears the file from where its text ends.

A file job would cut and time anew, and lose or double words at the boundary; a live session that
begins there hears nothing before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.ports import EnginePort
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options

if TYPE_CHECKING:
    from app.capture.feeder import Feeder


class LiveRests:
    """One feeder for each open job of this kind. Single-threaded."""

    def __init__(self, engine: EnginePort) -> None:
        self._engine = engine
        self._feeders: dict[JobId, Feeder] = {}

    def begin(self, path: str, options: Options, first_sample: int) -> JobId:
        """Ask for the text of a finished recording from `first_sample` (16 kHz) on. Raises FailureError."""
        # The window opens without numpy, and few ever need this.
        from app.capture.feeder import Feeder

        try:
            feeder = Feeder(Path(path), self._engine)
        except OSError as error:
            kind = FailureKind.NOT_FOUND if isinstance(error, FileNotFoundError) else FailureKind.NOT_READABLE
            raise FailureError(failure(kind, Path(path).name, str(error))) from error
        job = self._engine.listen(options, first_sample)
        feeder.attach(job, first_sample)
        feeder.finish()
        feeder.start()
        self._feeders[job] = feeder
        return job

    def end(self, job: JobId) -> None:
        """Feed an ended job no more; nothing happens for a job of another kind."""
        feeder = self._feeders.pop(job, None)
        if feeder is not None:
            feeder.stop()

    def close(self) -> None:
        """Feed nobody any more."""
        for job in list(self._feeders):
            self.end(job)
