"""The way of files into the queue: looks into folders, says what was left out, asks about repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, QUrl, Signal

from app.desk import Added, Desk
from app.intake import Refusal, take_in
from app.texts import failure_line, failure_text
from app.ui.background import Background
from app.ui.notices import Choice, NoticeBar, NoticeKind
from engine.protocol.transcript import Options

_SLICE: Final = 20
"""Files added in one turn of the window's loop: each is a commit to the disk."""
_MAX_NAMED: Final = 3


class DropIn(QObject):
    """Adds files to the desk.

    Signals: `added(ids)` with the rows that were made, in order.
    """

    added = Signal(object)

    def __init__(
        self, desk: Desk, notices: NoticeBar, background: Background, options: Callable[[], Options]
    ) -> None:
        super().__init__(notices)
        self._desk = desk
        self._notices = notices
        self._background = background
        self._options = options

    def take_urls(self, urls: Iterable[QUrl]) -> None:
        """Take what was dropped; addresses of the network are refused."""
        all_urls = list(urls)
        paths = [url.toLocalFile() for url in all_urls if url.isLocalFile()]
        if len(paths) < len(all_urls):
            self._notices.tell(
                self.tr("Addresses of the network are not opened. Save the file first, then drop it here."),
                kind=NoticeKind.WARNING,
                key="network",
            )
        if paths:
            self.take(paths)

    def take(self, paths: Sequence[str]) -> None:
        """Add files and the media in folders; folders are looked into off the window's thread."""
        if any(Path(path).is_dir() for path in paths):
            self._background.run(
                lambda: take_in(paths), lambda found: self._add(list(found.files), list(found.refused))
            )
        else:
            self._add(list(paths), [])

    def _add(self, paths: list[str], refused: list[Refusal], *, allow_repeats: bool = False) -> None:
        options = self._options()
        total = Added(refused=tuple(refused))

        def add_slice() -> None:
            nonlocal total
            some, paths[:] = paths[:_SLICE], paths[_SLICE:]
            total = _joined(total, self._desk.add(some, options, allow_repeats=allow_repeats))
            if paths:
                QTimer.singleShot(0, self, add_slice)
            else:
                self._tell(total)

        add_slice()

    def _tell(self, outcome: Added) -> None:
        if outcome.refused:
            self._notices.tell(self._refusal_text(outcome.refused), kind=NoticeKind.WARNING, key="refused")
        if outcome.repeated:
            self._ask_again(outcome.repeated)
        if outcome.recording_ids:
            self.added.emit(list(outcome.recording_ids))

    def _refusal_text(self, refused: Sequence[Refusal]) -> str:
        if len(refused) == 1:
            return failure_line(refused[0].failure)
        if len(refused) <= _MAX_NAMED:
            return "\n".join(failure_text(one.failure)[0] for one in refused)
        names = ", ".join(f"“{Path(one.path).name}”" for one in refused[:_MAX_NAMED])
        more = len(refused) - _MAX_NAMED
        if more > 0:
            names = self.tr("%1 and %n more", "", more).replace("%1", names)
        return self.tr("Left out, because they cannot be transcribed: %1.").replace("%1", names)

    def _ask_again(self, repeated: Sequence[str]) -> None:
        name = Path(repeated[0]).name
        if len(repeated) == 1:
            text = self.tr("“%1” is in the list already.").replace("%1", name)
        else:
            text = self.tr("%n of these files are in the list already.", "", len(repeated))
        again = list(repeated)
        self._notices.tell(
            text,
            Choice(self.tr("Add again"), lambda: self._add(again, [], allow_repeats=True)),
            key="repeated",
        )


def _joined(one: Added, other: Added) -> Added:
    return Added(
        recording_ids=one.recording_ids + other.recording_ids,
        refused=one.refused + other.refused,
        repeated=one.repeated + other.repeated,
    )
