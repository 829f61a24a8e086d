"""Asks which audio track of a film to listen to, and transcribes the file again with it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.ports import Questions
from app.ui.notices import Choice, NoticeBar
from app.ui.wording import language_names
from engine.protocol.events import Event, JobFailed, MediaProbed
from engine.protocol.failures import Failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import AudioTrack

_MAX_TRACKS = 6


class TrackChoice(QObject):
    """Looks into a file and offers its tracks in a notice.

    Signals: `chosen(recording_id, track index)`; `failed(failure)` when the file cannot be read.
    """

    chosen = Signal(int, int)
    failed = Signal(object)

    def __init__(self, engine: Questions, notices: NoticeBar) -> None:
        super().__init__(notices)
        self._engine = engine
        self._notices = notices
        self._asked: dict[JobId, tuple[int, str]] = {}

    def ask(self, recording_id: int, path: str, name: str) -> None:
        """Offer the tracks of the file at `path`."""
        self._asked[self._engine.probe(path)] = (recording_id, name)

    def on_events(self, events: Iterable[Event]) -> None:
        """Take in the engine's answers; everything else is none of our business."""
        for event in events:
            match event:
                case MediaProbed(job=job) if asked := self._asked.pop(job, None):
                    self._offer(*asked, event.media.tracks)
                case JobFailed(job=job, failure=failure) if self._asked.pop(job, None):
                    self._on_failure(failure)
                case _:
                    pass

    def _on_failure(self, failure: Failure) -> None:
        self.failed.emit(failure)

    def _offer(self, recording_id: int, name: str, tracks: tuple[AudioTrack, ...]) -> None:
        if len(tracks) < 2:
            self._notices.tell(
                self.tr("“%1” has only one audio track.").replace("%1", name), key="tracks", lasts_s=8
            )
            return
        choices = [
            Choice(self._label(track), partial(self.chosen.emit, recording_id, track.index))
            for track in tracks[:_MAX_TRACKS]
        ]
        text = self.tr("Which audio track of “%1” is to be transcribed?").replace("%1", name)
        self._notices.tell(text, *choices, key="tracks")

    def _label(self, track: AudioTrack) -> str:
        said = track.title or (language_names(track.language)[1] if track.language else "")
        number = self.tr("Track %1").replace("%1", str(track.index + 1))
        return f"{number}: {said}" if said else f"{number} ({track.codec})"
