"""Whose job is whose, and that each story ends exactly once, with nothing after the ending."""

from __future__ import annotations

from engine.manager.clients import Clients
from engine.protocol.events import JobCancelled, JobDone, JobEvent, JobFailed
from engine.protocol.failures import Failure
from engine.protocol.requests import JobId


class Stories:
    """The open jobs. What is told of a job that is not open goes nowhere."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._client_of: dict[JobId, str] = {}

    def __len__(self) -> int:
        return len(self._client_of)

    def begin(self, job: JobId, client: str) -> None:
        """Open a job for `client`."""
        self._client_of[job] = client

    def is_open(self, job: JobId) -> bool:
        """Say whether a job has begun and not ended."""
        return job in self._client_of

    def jobs_of(self, client: str) -> list[JobId]:
        """Return a client's open jobs."""
        return [job for job, owner in self._client_of.items() if owner == client]

    @property
    def num_open(self) -> int:
        """How many jobs have not ended."""
        return len(self._client_of)

    def is_stalled(self, job: JobId) -> bool:
        """Say whether the job's client does not keep up with what it is told."""
        return self._clients.is_stalled(self._client_of.get(job, ""))

    def tell(self, *events: JobEvent) -> None:
        """Tell events to the clients of their jobs, in order; an ending closes its job."""
        for event in events:
            client = self._client_of.get(event.job)
            if client is None:
                continue
            self._clients.tell(client, event)
            if isinstance(event, (JobDone, JobFailed, JobCancelled)):
                del self._client_of[event.job]

    def fail(self, job: JobId, why: Failure) -> None:
        """End a job with a failure."""
        self.tell(JobFailed(job=job, failure=why))
