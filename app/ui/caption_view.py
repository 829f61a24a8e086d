"""The captions themselves on their pane: the newest lines, which fade in silence."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QAccessible, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.settings import CaptionStyle
from app.ui.caption_lines import CaptionLines, Line
from app.ui.caption_painter import CaptionPainter
from app.ui.caption_scroll import CaptionScroll

FADE_AFTER_MS: Final = 6000
_FADE_MS: Final = 700
_FADED: Final = 0.3
"""What is left of the pane when the text is gone: enough to find the window again."""
_LEFT: Final = 18
_RIGHT: Final = 42
"""Also the room for the window's buttons."""
_ABOVE: Final = 8


class CaptionView(QWidget):
    """Up to six lines of captions. Only lines that have changed are drawn again.

    Signals: `live_changed(bool)` when a person goes back to what was said, and when that ends.
    """

    live_changed = Signal(bool)

    def __init__(self, style: CaptionStyle, *, is_opaque: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("captions")
        self.setAccessibleName(self.tr("Live captions"))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._style = style
        self._is_opaque = is_opaque
        self._painter = CaptionPainter(style)
        self._lines = CaptionLines(self._painter.room(self._text_width))
        self._scroll = CaptionScroll(style.num_lines)
        self._shown: tuple[Line, ...] = ()
        self._placeholder = ""
        self._strength = 1.0
        self._is_held = False
        # What is told together is shown together: between a confirmed text and the tail that follows it
        # there is a moment when the tail is missing, and lines would jump.
        self._changing = QTimer(self)
        self._changing.setSingleShot(True)
        self._changing.setInterval(0)
        self._changing.timeout.connect(self._show_lines)
        self._silence = QTimer(self)
        self._silence.setSingleShot(True)
        self._silence.setInterval(FADE_AFTER_MS)
        self._silence.timeout.connect(self.pass_silence)
        self._fading = QVariantAnimation(self)
        self._fading.setDuration(_FADE_MS)
        self._fading.setStartValue(1.0)
        self._fading.setEndValue(0.0)
        self._fading.valueChanged.connect(self._set_strength)

    @property
    def style_in_use(self) -> CaptionStyle:
        """How it looks."""
        return self._style

    @property
    def shown_lines(self) -> tuple[Line, ...]:
        """What is on screen now, top to bottom."""
        if self._changing.isActive():
            self._show_lines()
        return self._shown

    @property
    def is_live(self) -> bool:
        """Whether the newest line is on screen; False while a person reads back."""
        return self._scroll.is_live

    @property
    def strength(self) -> float:
        """1 when the text is wholly there, 0 when it has faded away."""
        return self._strength

    def begin(self) -> None:
        """Start empty: a new recording."""
        self._lines = CaptionLines(self._painter.room(self._text_width))
        self._newest()
        self._show_lines()
        self._wake()

    def set_placeholder(self, text: str) -> None:
        """Say this while there is nothing else to show."""
        self._placeholder = text
        self._changing.start()

    def add(self, delta: str) -> None:
        """Append confirmed text; what may still change is told anew behind it."""
        self._end_paragraph_after_silence(delta)
        self._lines.set_tail("")
        self._lines.add(delta)
        self._on_text(delta)

    def set_tail(self, text: str) -> None:
        """Replace what may still change."""
        self._end_paragraph_after_silence(text)
        self._lines.set_tail(text)
        self._on_text(text)

    def set_style(self, style: CaptionStyle) -> None:
        """Look so from now on."""
        self._style = style
        self._painter = CaptionPainter(style, self.devicePixelRatioF())
        self._lay_out_again()
        self._wake()

    def hold(self, is_held: bool) -> None:
        """Stay visible while somebody points at it."""
        self._is_held = is_held
        self._wake()

    def pass_silence(self) -> None:
        """Nothing was said for a while: fade, unless somebody is reading back."""
        if self.is_live and self.shown_lines:
            self._fading.start()

    def scroll_by(self, num_lines: int) -> None:
        """Go towards the newest line; negative goes back."""
        was_live = self.is_live
        self._scroll.scroll(num_lines, self._lines.num_dropped, self._lines.end)
        self._show_lines()
        if self.is_live != was_live:
            self.live_changed.emit(self.is_live)
        self._wake()

    def show_newest(self) -> None:
        """End reading back."""
        self._newest()
        self._show_lines()
        self._wake()

    def height_for(self, num_lines: int) -> int:
        """Return how tall the widget is with so many lines."""
        return num_lines * self._painter.line_height + 2 * _ABOVE

    def lines_in(self, height: int) -> int:
        """Return how many whole lines come closest to a height."""
        return round((height - 2 * _ABOVE) / self._painter.line_height)

    def sizeHint(self) -> QSize:
        return QSize(480, self.height_for(self._style.num_lines))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        pane = max(self._strength, _FADED)
        self._painter.paint_pane(painter, QRectF(self.rect()), strength=pane, is_opaque=self._is_opaque)
        painter.setOpacity(self._strength)
        for index, line in enumerate(self._shown):
            slot = self._slot(index)
            if slot.intersects(event.rect()):
                painter.drawPixmap(slot.topLeft(), self._painter.line(line, slot.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out_again()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._wake()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._silence.stop()
        self._fading.stop()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._painter = CaptionPainter(self._style, self.devicePixelRatioF())
            self.update()
        return super().event(event)

    @property
    def _text_width(self) -> int:
        return max(1, self.width() - _LEFT - _RIGHT)

    def _slot(self, index: int) -> QRect:
        """Return where a line is drawn; wider than its text by what may hang out."""
        height = self._painter.line_height
        return QRect(_LEFT, _ABOVE + index * height, self._text_width, height)

    def _newest(self) -> None:
        was_live = self.is_live
        self._scroll.show_newest(self._style.num_lines)
        if not was_live:
            self.live_changed.emit(True)

    def _lay_out_again(self) -> None:
        self._lines.lay_out_again(self._painter.room(self._text_width))
        self._newest()
        self._show_lines()
        self.updateGeometry()
        self.update()

    def _end_paragraph_after_silence(self, text: str) -> None:
        """What stood there when it faded has nothing to do with what is said now."""
        if text.strip() and self._strength == 0.0:
            self._lines.end_paragraph()

    def _on_text(self, text: str) -> None:
        self._changing.start()
        if text.strip():
            self._wake()

    def _show_lines(self) -> None:
        """Draw those lines again that are not what they were."""
        self._changing.stop()
        oldest = self._lines.num_dropped
        first = self._scroll.first(oldest, self._lines.end) - oldest
        shown = tuple(self._lines.lines[first : first + self._style.num_lines])
        if not shown and self._placeholder:
            shown = (Line("", self._placeholder),)
        for index in range(max(len(shown), len(self._shown))):
            if shown[index : index + 1] != self._shown[index : index + 1]:
                self.update(self._slot(index))
        if shown != self._shown:
            self._shown = shown
            if QAccessible.isActive():
                self.setAccessibleDescription(" ".join(line.confirmed + line.tail for line in shown))

    def _wake(self) -> None:
        """Be wholly visible, and fade when nothing is said for a while."""
        self._fading.stop()
        self._set_strength(1.0)
        if self.isVisible() and self._style.fades and not self._is_held:
            self._silence.start()
        else:
            self._silence.stop()

    def _set_strength(self, strength: float) -> None:
        if strength != self._strength:
            self._strength = strength
            self.update()
