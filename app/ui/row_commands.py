"""What the person does to rows: retry, cancel, move, show, relocate; with undo: remove, transcribe again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.desk import Desk
from app.texts import failure_line
from app.ui.library_list import LibraryList
from app.ui.notices import Choice, NoticeBar, NoticeKind
from app.ui.reveal import reveal
from app.ui.row_actions import Possible, move_target, possible
from engine.protocol.failures import Failure, FailureError, FailureKind
from engine.protocol.failures import failure as failure_of

_UNDO_FOR_S: Final = 20.0
_UNDO: Final = "undo"


class RowCommands(QObject):
    """Acts on the selected rows of a list; failures become notices, never exceptions."""

    def __init__(
        self, desk: Desk, library: LibraryList, notices: NoticeBar, show: Callable[[Path], bool] = reveal
    ) -> None:
        super().__init__(notices)
        self._desk = desk
        self._list = library
        self._notices = notices
        self._show = show
        self._undo: Callable[[], None] | None = None

    def possible(self) -> Possible:
        """Return which commands make sense now."""
        return possible(self._list.selected_rows(), self._order())

    def selected_ids(self) -> list[int]:
        """Return the selected rows' ids, in list order."""
        return [row.recording.id for row in self._list.selected_rows()]

    def retry(self) -> None:
        """Try the selected rows again as they were."""
        self.retry_rows(self.selected_ids())

    def retry_rows(self, ids: Iterable[int]) -> None:
        """Try these rows again as they were."""
        for one in ids:
            self.guarded(partial(self._desk.retry, one))

    def retry_with(self, ids: Iterable[int], **changes: object) -> None:
        """Try these rows again with other options (another model, another audio track)."""
        for one in ids:
            if row := self._desk.row(one):
                options = msgspec.structs.replace(row.recording.options, **changes)
                self.guarded(partial(self._desk.retry, one, options))

    def cancel(self) -> None:
        """End the work on the selected rows."""
        ids = self.selected_ids()
        self.guarded(lambda: self._desk.cancel(ids))

    def move(self, *, up: bool) -> None:
        """Move the selected rows by one place."""
        ids = self.selected_ids()
        target = move_target(self._order(), ids, up=up)
        if target is not None:
            self.move_to(ids, target)

    def move_to(self, ids: Sequence[int], index: int) -> None:
        """Put these rows in front of the row at `index`."""
        self.guarded(lambda: self._desk.move(ids, index))

    def remove(self) -> None:
        """Take the selected rows out of the list, with a way back."""
        rows = self._list.selected_rows()
        if not rows:
            return
        ids = [row.recording.id for row in rows]
        if not self.guarded(lambda: self._desk.remove(ids)):
            return
        text = (
            self.tr("“%1” was removed from the list. The file itself stays.").replace(
                "%1", rows[0].recording.name
            )
            if len(rows) == 1
            else self.tr(
                "%n recordings were removed from the list. The files themselves stay.", "", len(rows)
            )
        )
        self._offer_undo(text, lambda: self._restore(ids))

    def transcribe_again(self, recording_id: int, model: str) -> None:
        """Have another version made with `model`, and show it; the one there is stays."""
        row = self._desk.row(recording_id)
        if row is None:
            return
        options = msgspec.structs.replace(row.recording.options, model=model)
        made: list[int] = []
        if not self.guarded(lambda: made.append(self._desk.add_version(recording_id, options))):
            return
        self._list.choose(made[0])
        text = self.tr("“%1” is transcribed again. The transcript there is stays.")
        self._offer_undo(
            text.replace("%1", row.recording.name), lambda: self._take_back(made[0], recording_id)
        )

    @property
    def can_undo(self) -> bool:
        """Whether what was done to rows last can be undone."""
        return self._undo is not None

    def undo(self) -> None:
        """Undo what was done to rows last."""
        undo, self._undo = self._undo, None
        self._notices.withdraw(_UNDO)
        if undo is not None:
            undo()

    def reveal(self) -> None:
        """Show the selected row's file in the file manager."""
        for row in self._list.selected_rows()[:1]:
            path = Path(row.recording.path)
            if not path.parent.is_dir() or not self._show(path):
                text = self.tr("The folder “%1” cannot be shown.").replace("%1", str(path.parent))
                self._notices.tell(text, kind=NoticeKind.WARNING, key="reveal")

    def relocate(self) -> None:
        """Ask where the selected row's file is now."""
        for row in self._list.selected_rows()[:1]:
            self.relocate_row(row.recording.id, self._list)

    def relocate_row(self, recording_id: int, parent: QWidget) -> None:
        """Ask where a row's file is now."""
        row = self._desk.row(recording_id)
        if row is None:
            return
        path, _ = QFileDialog.getOpenFileName(
            parent,
            self.tr("Where is “%1” now?").replace("%1", row.recording.name),
            str(Path(row.recording.path).parent),
        )
        if path:
            self.guarded(lambda: self._desk.relocate(recording_id, path))

    def tell_missing(self, path: str) -> None:
        """Say that a file is not where it was."""
        self.tell(failure_of(FailureKind.NOT_FOUND, Path(path).name))

    def tell(self, failure: Failure) -> None:
        """Show a failure as a notice."""
        self._notices.tell(failure_line(failure), kind=NoticeKind.WARNING, key=f"failure {failure.kind}")

    def guarded(self, act: Callable[[], object]) -> bool:
        """Do `act`; a failure becomes a notice and False."""
        try:
            act()
        except FailureError as error:
            self.tell(error.failure)
            return False
        return True

    def _offer_undo(self, text: str, undo: Callable[[], None]) -> None:
        self._undo = undo
        self._notices.tell(text, Choice(self.tr("Undo"), self.undo), key=_UNDO, lasts_s=_UNDO_FOR_S)

    def _restore(self, ids: list[int]) -> None:
        if self.guarded(lambda: self._desk.restore(ids)):
            self._list.choose(ids[0])

    def _take_back(self, version: int, original: int) -> None:
        if self.guarded(lambda: self._desk.remove([version])):
            self._list.choose(original)

    def _order(self) -> list[int]:
        return [row.recording.id for row in self._desk.rows()]
