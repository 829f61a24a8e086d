"""Search over every transcript: a field above the list, and the places where the words were said."""

from __future__ import annotations

from html import escape
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAbstractTextDocumentLayout, QKeyEvent, QPainter, QPalette, QTextDocument
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.library import Library, SearchHit
from app.ui.background import Background
from app.ui.clock import clock_text
from app.ui.library_delegate import AnyIndex

_WAIT_MS: Final = 180
_HIT_ROLE: Final = Qt.ItemDataRole.UserRole + 1
_PAD: Final = 8
# Letters of full-width scripts are higher than the font's line: never cut them.
_LINE: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip | Qt.TextFlag.TextSingleLine)
_ROLE = QPalette.ColorRole


class SearchField(QLineEdit):
    """Where the words are typed; Down goes into the results, Escape empties it.

    Signals: `down_pressed`.
    """

    down_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("library_search")
        self.setAccessibleName(self.tr("Search all transcripts"))
        self.setPlaceholderText(self.tr("Search all transcripts"))
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave downwards, or empty the field."""
        match event.key():
            case Qt.Key.Key_Down | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.down_pressed.emit()
            case Qt.Key.Key_Escape:
                self.clear()
            case _:
                super().keyPressEvent(event)


class SearchResults(QListWidget):
    """The places found, each with its recording, its time and the words around it.

    Signals: `hit_chosen(SearchHit)` on a click or Enter; `found(number)` when a search has ended.
    """

    hit_chosen = Signal(object)
    found = Signal(int)

    def __init__(self, library: Library, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._background = background
        self._query = ""
        self.setObjectName("search_results")
        self.setAccessibleName(self.tr("Search results"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_HitDelegate(self))
        self.itemActivated.connect(self._on_item)
        self.itemClicked.connect(self._on_item)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self._search)

    def search(self, query: str) -> None:
        """Look for `query` once typing pauses; the answer to an older query is dropped."""
        self._query = query.strip()
        if self._query:
            self._timer.start()
        else:
            self._timer.stop()
            self.clear()

    def _search(self) -> None:
        query = self._query
        self._background.run(lambda: self._library.search(query), lambda hits: self._show(query, hits))

    def _show(self, query: str, hits: list[SearchHit]) -> None:
        if query != self._query:
            return
        self.clear()
        for hit in hits:
            item = QListWidgetItem(f"{hit.name}, {clock_text(hit.start)}: {hit.snippet}")
            item.setData(_HIT_ROLE, hit)
            item.setToolTip(hit.snippet)
            self.addItem(item)
        if not hits:
            nothing = QListWidgetItem(self.tr("Nothing found"))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.addItem(nothing)
        else:
            self.setCurrentRow(0)
        self.found.emit(len(hits))

    def _on_item(self, item: QListWidgetItem) -> None:
        if isinstance(hit := item.data(_HIT_ROLE), SearchHit):
            self.hit_chosen.emit(hit)


class _HitDelegate(QStyledItemDelegate):
    """Name and time on one line, the words around the place on two more."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:  # noqa: ARG002
        return QSize(160, option.fontMetrics.height() + _snippet_height(option) + 2 * _PAD + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        hit = index.data(_HIT_ROLE)
        if not isinstance(hit, SearchHit):
            super().paint(painter, option, index)
            return
        style = option.widget.style() if option.widget else QApplication.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        room = option.rect.adjusted(_PAD + 2, _PAD, -_PAD - 2, -_PAD)
        strong = option.palette.color(_ROLE.HighlightedText if is_selected else _ROLE.Text)
        muted = option.palette.color(_ROLE.HighlightedText if is_selected else _ROLE.PlaceholderText)
        time = clock_text(hit.start)
        painter.save()
        painter.setPen(muted)
        line_height = option.fontMetrics.height()
        top = room.adjusted(0, 0, 0, line_height - room.height())
        painter.drawText(top, _LINE | int(Qt.AlignmentFlag.AlignRight), time)
        name_width = room.width() - option.fontMetrics.horizontalAdvance(time) - _PAD
        name = option.fontMetrics.elidedText(hit.name, Qt.TextElideMode.ElideMiddle, name_width)
        painter.drawText(top, _LINE, name)
        painter.translate(room.left(), room.top() + line_height + 4)
        document = QTextDocument()
        document.setDefaultFont(option.font)
        document.setDocumentMargin(0)
        document.setTextWidth(room.width())
        document.setHtml(marked(hit))
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(_ROLE.Text, strong)
        painter.setClipRect(0, 0, room.width(), _snippet_height(option))
        document.documentLayout().draw(painter, context)
        painter.restore()


def _snippet_height(option: QStyleOptionViewItem) -> int:
    """Return the room for two lines; those of full-width scripts are higher than the font says."""
    return round(2.8 * option.fontMetrics.height())


def marked(hit: SearchHit) -> str:
    """Return the snippet as rich text, the matches bold."""
    parts: list[str] = []
    at = 0
    for begin, end in hit.matches:
        parts += [escape(hit.snippet[at:begin]), "<b>", escape(hit.snippet[begin:end]), "</b>"]
        at = end
    return "".join([*parts, escape(hit.snippet[at:])])
