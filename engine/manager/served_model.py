"""A model that jobs ask for, and what of them is on its way to the process that decodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.ipc import Outbox
from engine.manager.inflight import InFlight
from engine.messages import BYTES_PER_SECOND, Abort, Finish, Stats
from engine.protocol.elsewhere import is_elsewhere
from engine.protocol.requests import JobId
from engine.protocol.stats import ModelLoad
from engine.workers import Worker


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """A checkpoint that jobs ask for; its folder is its key, or its address on a server elsewhere."""

    name: str
    """As the user chose it."""
    family: str
    folder: str
    companion_folder: str | None = None
    """Where a network that helps it lies, or would."""

    @property
    def is_elsewhere(self) -> bool:
        return is_elsewhere(self.folder)


@dataclass
class ServedModel:
    """The fleet's record of a model; without a worker it is not loaded."""

    source: ModelSource
    in_flight: InFlight = field(default_factory=InFlight)
    jobs: set[JobId] = field(default_factory=set)
    live_jobs: set[JobId] = field(default_factory=set)
    """Those of `jobs` that somebody listens to."""
    markers: dict[tuple[JobId, type], Finish | Abort] = field(default_factory=dict)
    """Sent and not come back yet."""
    worker: Worker | None = None
    outbox: Outbox | None = None
    num_slots: int = 0
    detokenizer_address: str = ""
    is_ready: bool = False
    num_idle_deaths: int = 0
    """Deaths in a row that no chunk can be blamed for: while loading, or with nothing to do."""
    idle_since_s: float = 0.0
    stats: Stats | None = None
    """What its process said last of its work."""

    @property
    def is_loaded_here(self) -> bool:
        """Whether it takes room on this machine."""
        return self.worker is not None and not self.source.is_elsewhere

    def mark(self, marker: Finish | Abort) -> None:
        """Send a marker behind what was sent, now or once the process is up."""
        self.markers[marker.job, type(marker)] = marker
        if self.is_ready and self.outbox is not None:
            self.outbox.put(marker)

    def send_markers(self) -> None:
        """Send again those that have not come back."""
        if self.outbox is not None:
            for marker in self.markers.values():
                self.outbox.put(marker)

    def forget_worker(self) -> None:
        """Have no process any more; what was in flight stays known."""
        if self.outbox is not None:
            self.outbox.close(0.0)
        self.worker, self.outbox, self.is_ready = None, None, False

    def load(self) -> ModelLoad:
        """Return how much it has to do, and how fast it goes."""
        backlog_s = self.in_flight.num_all_bytes / BYTES_PER_SECOND
        if self.stats is None:
            return ModelLoad(model=self.source.name, num_slots=self.num_slots, backlog_s=backlog_s)
        return ModelLoad(
            model=self.source.name,
            num_waiting=self.stats.num_waiting,
            num_running=self.stats.num_running,
            num_slots=self.stats.num_slots,
            backlog_s=backlog_s,
            tokens_per_s=self.stats.tokens_per_s,
            real_time_factor=self.stats.real_time_factor,
            work=self.stats.work,
        )
