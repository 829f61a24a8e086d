"""The items of a realtime session: stretches of sound between commits, and their text; pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from engine.protocol.transcript import Segment
from engine.server.heard import Deltas, logprobs_of
from engine.server.realtime_audio import SAMPLE_RATE_HZ
from engine.server.realtime_events import event, new_id

_TRANSCRIPTION: Final = "conversation.item.input_audio_transcription"


@dataclass
class Item:
    """One stretch of sound, samples of the session. Its deltas joined are its transcript."""

    first: int
    id: str = field(default_factory=lambda: new_id("item"))
    end: int | None = None
    """Known once it is committed."""
    text: str = ""
    segments: list[Segment] = field(default_factory=list)
    language: str = ""
    _deltas: Deltas = field(default_factory=Deltas)

    def add(self, text: str) -> Iterator[dict[str, Any]]:
        """Take confirmed text; yield what is told of it."""
        if delta := self._deltas.take(text):
            self.text += delta
            yield event(f"{_TRANSCRIPTION}.delta", item_id=self.id, content_index=0, delta=delta)

    def completed(self, *, with_logprobs: bool) -> dict[str, Any]:
        """Return the end of its story."""
        assert self.end is not None
        told = event(
            f"{_TRANSCRIPTION}.completed",
            item_id=self.id,
            content_index=0,
            transcript=self.text,
            usage={"type": "duration", "seconds": round((self.end - self.first) / SAMPLE_RATE_HZ, 3)},
        )
        if self.language:
            told["languages"] = [{"code": self.language}]
        if with_logprobs:
            told["logprobs"] = [one for segment in self.segments for one in logprobs_of(segment)]
        return told

    def failed(self, error: dict[str, Any]) -> dict[str, Any]:
        """Return the end of its story where there is no transcript."""
        return event(f"{_TRANSCRIPTION}.failed", item_id=self.id, content_index=0, error=error)


class Items:
    """Those that are not over: committed ones in order, then the one that is still being sent.

    Text belongs to the first of them, since all that was said before an item's end is confirmed
    before anything behind it is.
    """

    def __init__(self, first: int, previous_id: str | None) -> None:
        self._open: deque[Item] = deque()
        self._first = first
        """Where the next item begins."""
        self._language = ""
        self.last_id = previous_id
        """Of the last that was committed."""

    def note_language(self, language: str) -> None:
        """Know the language from the first open item on; it is told when it is found out, or changes."""
        self._language = language
        for item in self._open:
            item.language = language

    @property
    def committed(self) -> list[Item]:
        return [item for item in self._open if item.end is not None]

    @property
    def current(self) -> Item:
        """The one that is being sent; it begins where the last one ended."""
        if not self._open or self._open[-1].end is not None:
            self._open.append(Item(self._first, language=self._language))
        return self._open[-1]

    @property
    def has_current(self) -> bool:
        """Whether anything is known of the one that is being sent."""
        return bool(self._open) and self._open[-1].end is None

    @property
    def first(self) -> Item:
        """The one that confirmed text belongs to."""
        return self._open[0] if self._open else self.current

    def num_sent(self, end: int) -> int:
        """Return how many samples are not committed, of those before `end`."""
        return end - self._first

    def commit(self, end: int) -> Iterator[dict[str, Any]]:
        """End the current item; yield what is told of it."""
        item = self.current
        item.end = self._first = max(end, item.first)
        before, self.last_id = self.last_id, item.id
        yield event("input_audio_buffer.committed", item_id=item.id, previous_item_id=before)
        content = [{"type": "input_audio", "transcript": None}]
        told = {"id": item.id, "object": "realtime.item", "type": "message", "role": "user"}
        yield event(
            "conversation.item.created",
            previous_item_id=before,
            item={**told, "status": "completed", "content": content},
        )

    def take_finished(self, confirmed: int) -> Iterator[Item]:
        """Yield the items whose sound is all confirmed, and forget them."""
        while self._open and (end := self._open[0].end) is not None and end <= confirmed:
            yield self._open.popleft()

    def take_all(self) -> list[Item]:
        """Return the committed items and forget every one."""
        items = self.committed
        self._open.clear()
        return items
