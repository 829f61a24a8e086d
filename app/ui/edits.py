"""Owns the corrections of a transcript as steps that can be undone and done again."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QUndoCommand

from app.ui.transcript_model import TranscriptModel


class CorrectText(QUndoCommand):
    """One segment's text replaced by another; the segment is known by its id, rows may move."""

    def __init__(self, model: TranscriptModel, row: int, text: str) -> None:
        super().__init__(QCoreApplication.translate("CorrectText", "correction"))
        self._model = model
        self.segment_id = model.segments[row].id
        self._before = model.text(row)
        self._was_edited = model.segments[row].is_edited
        self._after = text

    def redo(self) -> None:
        self._model.correct(self.segment_id, self._after)

    def undo(self) -> None:
        self._model.correct(self.segment_id, self._before, is_edited=self._was_edited)
