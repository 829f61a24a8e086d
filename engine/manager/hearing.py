"""What the speech detector has heard of a live session, frame by frame: utterances and pauses; pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.manager.vad import FRAME_SAMPLES, Frames


@dataclass(frozen=True, slots=True)
class Utterance:
    """A stretch of speech with short pauses in it; samples of the recording."""

    begin: int
    end: int
    """Where the last speech heard of it ends."""
    is_over: bool
    """A pause has followed."""


class Hearing:
    """Frames from `first` to now. Positions are samples of the recording; speech is counted in samples."""

    def __init__(self, first: int) -> None:
        self.first = first
        self._received = first
        self._speech = np.zeros(0, np.bool_)
        self._loudness = np.zeros(0, np.float32)

    @property
    def end(self) -> int:
        """The end of what was received; the last part of a frame is not judged yet."""
        return self._received

    def hear(self, frames: Frames, num_samples: int) -> None:
        """Take `num_samples` more, and the frames that they complete."""
        self._received += num_samples
        self._speech = np.concatenate([self._speech, frames.has_speech])
        self._loudness = np.concatenate([self._loudness, frames.loudness])

    def forget(self, before: int) -> None:
        """Let the whole frames before a position go."""
        count = min(len(self._speech), max(0, before - self.first) // FRAME_SAMPLES)
        self._speech, self._loudness = self._speech[count:], self._loudness[count:]
        self.first += count * FRAME_SAMPLES

    def num_speech(self, begin: int, end: int) -> int:
        """Return how much of [begin, end) is speech."""
        return int(self._speech[self._frame(begin) : self._frame(end)].sum()) * FRAME_SAMPLES

    def spans(self, begin: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return the stretches of speech within [begin, end), as far as it is judged."""
        low, high = self._frame(begin), self._frame(end)
        edges = np.flatnonzero(np.diff(self._speech[low:high], prepend=False, append=False)).reshape(-1, 2)
        return tuple(
            (max(begin, self._sample(low + int(first))), min(end, self._sample(low + int(last))))
            for first, last in edges
        )

    def utterance(self, after: int, *, pause: int, rest: int) -> Utterance | None:
        """Return the speech behind a position, up to the first silence of `rest` or to now.

        It is over when at least `pause` of silence follows.
        """
        offset = self._frame(after)
        spoken = np.flatnonzero(self._speech[offset:]) + offset
        if not len(spoken):
            return None
        gaps = np.diff(spoken) - 1
        long = np.flatnonzero(gaps * FRAME_SAMPLES >= rest)
        last = int(spoken[long[0]] if len(long) else spoken[-1])
        silence = (len(self._speech) - 1 - last) * FRAME_SAMPLES
        begin, end = max(after, self._sample(int(spoken[0]))), self._sample(last + 1)
        return Utterance(begin, end, is_over=bool(len(long)) or silence >= pause)

    def quietest(self, begin: int, end: int) -> int:
        """Return where to cut in [begin, end): in the middle of its longest pause, or its quietest frame."""
        low, high = self._frame(begin), self._frame(end)
        best, best_length, length = 0, 0, 0
        for index in range(low, high):
            length = 0 if self._speech[index] else length + 1
            if length > best_length:
                best, best_length = index - length // 2, length
        if not best_length and high > low:
            best = low + int(self._loudness[low:high].argmin())
        return self._sample(best) if high > low else end

    def _frame(self, sample: int) -> int:
        return min(len(self._speech), max(0, sample - self.first) // FRAME_SAMPLES)

    def _sample(self, frame: int) -> int:
        return self.first + frame * FRAME_SAMPLES
