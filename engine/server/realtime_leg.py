"""A live session of the engine for a realtime session: fed from the tape, begun again where it died."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from engine.protocol.events import (
    Backlog,
    Confirmed,
    Flushed,
    JobDone,
    JobEvent,
    SpeechEnded,
    SpeechStarted,
)
from engine.protocol.failures import Failure, FailureKind
from engine.protocol.transcript import Options, VadSettings
from engine.server.bridge import Bridge
from engine.server.realtime_audio import SAMPLE_RATE_HZ
from engine.server.tape import Tape

log = logging.getLogger(__name__)

BLOCK_SAMPLES: Final = SAMPLE_RATE_HZ // 2
LEAST_SAMPLES: Final = SAMPLE_RATE_HZ // 20
"""Less is not worth a message, unless a mark waits behind it."""
FRAME_SAMPLES: Final = 512
"""Of the engine's detector."""
MAX_DEATHS: Final = 3
_PASSING: Final = frozenset({FailureKind.ENGINE_DIED, FailureKind.WORKER_DIED})


class Leg:
    """A stretch of a session's sound that one job hears, from `first` on. Belongs to the event loop."""

    def __init__(
        self, bridge: Bridge, tape: Tape, first: int, options: Options, turns: VadSettings | None
    ) -> None:
        self._bridge = bridge
        self._tape = tape
        self._options = options
        self._turns = turns
        self.first = first
        self.limit: int | None = None
        """Nothing behind it is for this leg."""
        self._fed = first
        self._confirmed = first
        self.decoded = first
        self._marks: deque[int] = deque()
        """To be flushed at, and not reached yet."""
        self._unflushed: deque[int] = deque()
        """Asked for, and not told yet."""
        self._turned_until = first
        self._is_speaking = False
        """A turn was told to have begun, and not to have ended."""
        self._num_deaths = 0
        self.failure: Failure | None = None
        """Why it gave up; its items have no more to hope for."""
        self._job = bridge.listen(options, first, turns)

    @property
    def needed_from(self) -> int:
        """Sound before it will not be read again, whatever happens."""
        return min(self._confirmed, self._fed)

    @property
    def is_unfed(self) -> bool:
        """Whether nothing of it was heard yet, so that it may as well begin otherwise."""
        return self._fed == self.first

    def mark(self, sample: int) -> None:
        """Have everything before a sample confirmed, once it is fed."""
        self._marks.append(sample)
        self._unflushed.append(sample)

    def set_language(self, language: str | None) -> None:
        """Go on in a language."""
        self._bridge.client.set_options(self._job.id, language=language)

    def leave(self) -> None:
        """Hear no more."""
        self._job.leave()

    def feed(self) -> bool:
        """Give the engine what there is. False: it takes no more now. Raises OSError."""
        client = self._bridge.client
        while True:
            if self._marks and self._fed >= self._marks[0]:
                client.flush(self._job.id, self._marks.popleft())
                continue
            end = self._tape.end if self.limit is None else self.limit
            goal = self._marks[0] if self._marks else end
            num_samples = min(goal - self._fed, BLOCK_SAMPLES)
            if num_samples <= 0 or (num_samples < LEAST_SAMPLES and not self._marks):
                return True
            data = self._tape.read(self._fed, num_samples)
            if not client.feed(self._job.id, self._fed, data):
                return False
            self._fed += len(data) // 4

    async def events(self) -> AsyncIterator[JobEvent]:
        """Yield what is told, each thing once, through deaths of the engine; ends where it gives up."""
        while True:
            async for event in self._job:
                if self._note(event):
                    yield event
            why = self._job.failure
            if why is None:
                return
            self._num_deaths += 1
            if why.kind not in _PASSING or self._num_deaths >= MAX_DEATHS:
                self.failure = why
                return
            log.info("a realtime session begins again where its engine died")
            self._begin_again()

    def _begin_again(self) -> None:
        """Hear again what was not confirmed; nothing that was told is told again."""
        self._fed = self._confirmed
        self._marks = deque(max(mark, self._confirmed) for mark in self._unflushed)
        self._job = self._bridge.listen(self._options, self._confirmed, self._turns)

    def _note(self, event: JobEvent) -> bool:
        """Keep the books; False for what was told before."""
        match event:
            case Confirmed(end=end_s):
                self._num_deaths = 0
                if end_s is not None:
                    self._confirmed = max(self._confirmed, round(end_s * SAMPLE_RATE_HZ))
            case Backlog(decoded_samples=decoded):
                self.decoded = max(self.decoded, decoded)
            case Flushed(sample=sample):
                self._confirmed = max(self._confirmed, sample)
                while self._unflushed and self._unflushed[0] <= sample:
                    self._unflushed.popleft()
            case SpeechStarted(sample=sample):
                # Sound that is heard again is cut into frames that lie a little differently.
                if self._is_speaking or sample + FRAME_SAMPLES < self._turned_until:
                    return False
                self._is_speaking, self._turned_until = True, sample
            case SpeechEnded(sample=sample):
                if not self._is_speaking:
                    return False
                self._is_speaking, self._turned_until = False, sample
                # The engine flushes there by itself, unless it dies before.
                self._unflushed.append(sample)
            case JobDone():
                return False
            case _:
                pass
        return True
