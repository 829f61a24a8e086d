"""Owns what the transcript shows: the segments in order and, behind them, the tail still being recognised."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.library import StoredSegment
from app.ui.clock import clock_text

AnyIndex = QModelIndex | QPersistentModelIndex

_ITEM: Final = Qt.ItemDataRole
_FLAG: Final = Qt.ItemFlag


class TranscriptRole(IntEnum):
    """What a row knows besides its text."""

    START = Qt.ItemDataRole.UserRole + 1
    IS_SUSPECT = Qt.ItemDataRole.UserRole + 2
    IS_TAIL = Qt.ItemDataRole.UserRole + 3
    TIME_SOURCE = Qt.ItemDataRole.UserRole + 4


class TranscriptModel(QAbstractListModel):
    """One row a segment, in time order; the tail is one more row that cannot be edited.

    Signals: `corrected(int segment_id, str text)` when an edit, an undo or a redo changed a text;
    `edit_wanted(int row, str text)` when an editor asks for a new text (the view makes it undoable).
    """

    corrected = Signal(int, str)
    edit_wanted = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._segments: list[StoredSegment] = []
        self._starts: list[float] = []
        self._units: list[int] = []
        self._tail = ""
        self._num_confirmed = 0

    @property
    def segments(self) -> Sequence[StoredSegment]:
        """The segments as they read now, in time order."""
        return self._segments

    @property
    def starts(self) -> Sequence[float]:
        """Where each segment begins, seconds, ascending."""
        return self._starts

    @property
    def units(self) -> list[int]:
        """How wide each row's text is, see `text_units`; the tail's included."""
        return [*self._units, text_units(self._tail)] if self._tail else self._units

    @property
    def tail(self) -> str:
        """The text behind the last segment that may still change."""
        return self._tail

    @property
    def num_confirmed(self) -> int:
        """How many characters of the tail will not change any more, though their segment has not ended."""
        return self._num_confirmed

    def set_segments(self, segments: Sequence[StoredSegment]) -> None:
        """Show these segments and no tail."""
        self.beginResetModel()
        self._segments = list(segments)
        self._starts = [segment.start for segment in self._segments]
        self._units = [text_units(segment.text) for segment in self._segments]
        self._tail = ""
        self.endResetModel()

    def add(self, segment: StoredSegment) -> int:
        """Put a segment where its start belongs, nearly always before the tail, and return its row."""
        row = bisect_right(self._starts, segment.start)
        self.beginInsertRows(QModelIndex(), row, row)
        self._segments.insert(row, segment)
        self._starts.insert(row, segment.start)
        self._units.insert(row, text_units(segment.text))
        self.endInsertRows()
        return row

    def set_tail(self, text: str, confirmed: str = "") -> None:
        """Replace the tail whole, `confirmed` and then `text`; without any its row is removed."""
        whole = confirmed + text
        num_blanks = len(whole) - len(whole.lstrip())
        text = whole.strip()
        num_confirmed = min(max(0, len(confirmed) - num_blanks), len(text))
        if (text, num_confirmed) == (self._tail, self._num_confirmed):
            return
        self._num_confirmed = num_confirmed
        row = len(self._segments)
        if text and self._tail:
            self._tail = text
            index = self.index(row)
            self.dataChanged.emit(index, index)
        elif text:
            self.beginInsertRows(QModelIndex(), row, row)
            self._tail = text
            self.endInsertRows()
        else:
            self.beginRemoveRows(QModelIndex(), row, row)
            self._tail = ""
            self.endRemoveRows()

    def text(self, row: int) -> str:
        """Return what `row` shows: the text without the space the model writes before it."""
        return self._tail if self.is_tail(row) else self._segments[row].text.strip()

    def texts(self) -> list[str]:
        """Return what the segments' rows show, the tail not among them."""
        return [segment.text.strip() for segment in self._segments]

    def is_tail(self, row: int) -> bool:
        """Say whether `row` is the tail's."""
        return row >= len(self._segments)

    def row_of(self, segment_id: int) -> int | None:
        """Return the row of a segment, None when it is not shown."""
        return next((row for row, s in enumerate(self._segments) if s.id == segment_id), None)

    def correct(self, segment_id: int, text: str, *, is_edited: bool = True) -> int | None:
        """Let a segment read `text`, tell it by `corrected` and return its row."""
        row = self.row_of(segment_id)
        if row is None:
            return None
        old = self._segments[row]
        # The texts of all segments joined are the transcript: the space before a word is part of it.
        blank = old.text[: len(old.text) - len(old.text.lstrip())]
        self._segments[row] = msgspec.structs.replace(old, text=blank + text, is_edited=is_edited)
        self._units[row] = text_units(text)
        index = self.index(row)
        self.dataChanged.emit(index, index)
        self.corrected.emit(segment_id, blank + text)
        return row

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's names and default
        return 0 if parent.isValid() else len(self._segments) + bool(self._tail)

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return _FLAG.NoItemFlags
        flags = _FLAG.ItemIsEnabled | _FLAG.ItemIsSelectable | _FLAG.ItemNeverHasChildren
        return flags if self.is_tail(index.row()) else flags | _FLAG.ItemIsEditable

    def data(self, index: AnyIndex, role: int = _ITEM.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = index.row()
        if role in (_ITEM.DisplayRole, _ITEM.EditRole):
            return self.text(row)
        if role == _ITEM.AccessibleTextRole:
            return self._spoken(row)
        if role == TranscriptRole.IS_TAIL:
            return self.is_tail(row)
        if self.is_tail(row):
            return None
        segment = self._segments[row]
        if role == TranscriptRole.START:
            return segment.start
        if role == TranscriptRole.IS_SUSPECT:
            return _is_doubtful(segment)
        if role == TranscriptRole.TIME_SOURCE:
            return segment.time_source
        return None

    def setData(self, index: AnyIndex, value: Any, role: int = _ITEM.EditRole) -> bool:
        if role != _ITEM.EditRole or not index.isValid() or self.is_tail(index.row()):
            return False
        text = str(value).strip()
        # Nothing left would be a row nobody can see or click; a segment is not deleted by mistake.
        if not text or text == self.text(index.row()):
            return False
        self.edit_wanted.emit(index.row(), text)
        return True

    def _spoken(self, row: int) -> str:
        if self.is_tail(row):
            return self.tr("Being recognised: {text}").format(text=self._tail)
        segment = self._segments[row]
        time, text = clock_text(segment.start), segment.text.strip()
        if not segment.time_source.is_measured:
            time = self.tr("about {time}").format(time=time)
        if _is_doubtful(segment):
            return self.tr("{time}, uncertain: {text}").format(time=time, text=text)
        return f"{time}, {text}"


def _is_doubtful(segment: StoredSegment) -> bool:
    # Once a person has put it right there is nothing left to warn of.
    return segment.is_suspect and not segment.is_edited


def text_units(text: str) -> int:
    """Return about how many Latin letters wide a text is.

    Bytes of UTF-8 tell it cheaply: three for a full-width character, which is two letters wide.
    """
    if text.isascii():
        return len(text)
    return len(text) + (len(text.encode()) - len(text)) // 2
