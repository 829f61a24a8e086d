"""Fetches models, checks every byte, and only then puts them where they are found."""

from __future__ import annotations

from engine.manager.models import ModelStore
from engine.protocol.requests import JobId


class ModelJobs:
    """Downloads, verifications and removals, a thread each, for the manager's loop.

    Each says any number of DownloadProgress and exactly one ModelJobEnded. No method waits.
    """

    def __init__(self, inbox_address: str, store: ModelStore) -> None: ...

    def download(self, job: JobId, model: str) -> None:
        """Fetch a catalogue model; one that is here already ends at once."""
        raise NotImplementedError

    def verify(self, job: JobId, model: str) -> None:
        """Check the files of an installed model."""
        raise NotImplementedError

    def remove(self, job: JobId, model: str) -> None:
        """Delete a downloaded model."""
        raise NotImplementedError

    def cancel(self, job: JobId) -> None:
        """Stop a job soon; what has arrived is kept. Its ending says so, unless it was over before."""
        raise NotImplementedError

    def close(self) -> None:
        """Cancel everything and wait shortly for the threads."""
        raise NotImplementedError
