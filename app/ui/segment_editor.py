"""Edits one segment where it stands: same font, same lines; Enter keeps, Escape leaves it as it was."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractItemModel, QEvent, QMimeData, QObject, QPoint, Qt, Signal
from PySide6.QtGui import (
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTextEdit,
    QWidget,
)

from app.ui.row_style import RowStyle
from app.ui.transcript_model import AnyIndex

_KEY: Final = Qt.Key
_MODIFIER: Final = Qt.KeyboardModifier
_HINT: Final = QAbstractItemDelegate.EndEditHint
_ENTER: Final = (_KEY.Key_Return, _KEY.Key_Enter)
_LINE_DISTANCE: Final = QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value


class SegmentEditor(QTextEdit):
    """A bare text field as tall as its text.

    Signals: `height_changed()` when the text needs more or less room;
    `play_pause_requested()` on Ctrl+Space.
    """

    height_changed = Signal()
    play_pause_requested = Signal()

    def __init__(self, style: RowStyle, parent: QWidget) -> None:
        super().__init__(parent)
        self._style = style
        self.setObjectName("segment_editor")
        self.setAccessibleName(self.tr("Text of the segment"))
        self.setAcceptRichText(False)
        self.setFont(style.text_font)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(0)
        # Setting it up counts as a change of the text to Qt, none to us.
        self.document().setModified(False)
        self.textChanged.connect(self.height_changed)

    @property
    def text_height(self) -> int:
        """How tall the text is, pixels."""
        return round(self.document().size().height()) - self._style.line_gap

    def show_text(self, text: str) -> None:
        """Hold `text`, all of it selected by no one and the cursor at its end."""
        self.setPlainText(text)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(self._style.line_gap, _LINE_DISTANCE)
        cursor.mergeBlockFormat(spaced)
        self.document().clearUndoRedoStacks()
        self.moveCursor(QTextCursor.MoveOperation.End)

    def put_cursor(self, point: QPoint) -> None:
        """Put the cursor at the letter nearest to `point`, where the person has clicked."""
        self.setTextCursor(self.cursorForPosition(point))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.height_changed.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        # What is being composed takes room, too, and is not told as a change of the text.
        self.height_changed.emit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        self.insertPlainText(source.text())


class SegmentDelegate(QStyledItemDelegate):
    """Opens, fills and closes the editor.

    Signals: `editor_opened(SegmentEditor, int row)`.
    """

    editor_opened = Signal(object, int)

    def __init__(self, style: RowStyle, parent: QWidget) -> None:
        super().__init__(parent)
        self.row_style = style

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: AnyIndex) -> QWidget:
        editor = SegmentEditor(self.row_style, parent)
        self.editor_opened.emit(editor, index.row())
        return editor

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        # Called again on every change of the row; what the person has typed stays.
        if isinstance(editor, SegmentEditor) and not editor.document().isModified():
            editor.show_text(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.document().setModified(False)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: AnyIndex) -> None:
        if isinstance(editor, SegmentEditor):
            model.setData(model.index(index.row(), 0), editor.toPlainText(), Qt.ItemDataRole.EditRole)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and isinstance(watched, SegmentEditor):
            if event.type() == QEvent.Type.ShortcutOverride and _is_ours(event):
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and self._take_key(watched, event):
                return True
        return super().eventFilter(watched, event)

    def _take_key(self, editor: SegmentEditor, event: QKeyEvent) -> bool:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        match event.key(), modifiers:
            case _KEY.Key_Space, _MODIFIER.ControlModifier:
                editor.play_pause_requested.emit()
            case ((_KEY.Key_Return | _KEY.Key_Enter), _MODIFIER.NoModifier):
                self._close(editor, _HINT.NoHint)
            case (_KEY.Key_Up, _MODIFIER.AltModifier) | (_KEY.Key_Backtab, _):
                self._close(editor, _HINT.EditPreviousItem)
            case (_KEY.Key_Down, _MODIFIER.AltModifier) | (_KEY.Key_Tab, _MODIFIER.NoModifier):
                self._close(editor, _HINT.EditNextItem)
            case _:
                return False
        return True

    def _close(self, editor: SegmentEditor, hint: QAbstractItemDelegate.EndEditHint) -> None:
        self.commitData.emit(editor)
        self.closeEditor.emit(editor, hint)


def _is_ours(event: QKeyEvent) -> bool:
    control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
    if event.key() == _KEY.Key_Space:
        return control
    return event.key() in _ENTER or (alt and event.key() in (_KEY.Key_Up, _KEY.Key_Down))
