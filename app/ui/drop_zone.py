"""Where to drop a file while there is nothing else to show, and a button for those who do not drag."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.ui import icons

_PICTURE_PX = 56


class DropZone(QWidget):
    """A large framed area with one sentence and an Open button.

    The window accepts the drops; the zone only shows that it would. Signals: `open_requested`,
    `sample_requested`.
    """

    open_requested = Signal()
    sample_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("drop_zone")
        self.setAccessibleName(self.tr("Drop audio or video here"))
        self._is_hovered = False
        self._picture = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        sentence = QLabel(self.tr("Drop audio or video here"), alignment=Qt.AlignmentFlag.AlignCenter)
        font = sentence.font()
        font.setPointSizeF(font.pointSizeF() * 1.6)
        sentence.setFont(font)
        sentence.setWordWrap(True)
        self._promise = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self._promise.setObjectName("drop_zone_promise")
        self._promise.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._promise.setWordWrap(True)
        self.show_where_sound_goes("")
        self.open_button = self._button("drop_zone_open", self.tr("Open files…"))
        self.open_button.setDefault(True)
        self.open_button.clicked.connect(self.open_requested)
        self.sample_button = self._button("drop_zone_sample", self.tr("Try the sample"))
        self.sample_button.clicked.connect(self.sample_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(10)
        buttons.addStretch()
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.sample_button)
        buttons.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(36, 28, 36, 28)
        column.setSpacing(10)
        column.addStretch()
        column.addWidget(self._picture)
        column.addWidget(sentence)
        column.addWidget(self._promise)
        column.addSpacing(12)
        column.addLayout(buttons)
        column.addStretch()
        self._redraw()

    def show_where_sound_goes(self, host: str) -> None:
        """Promise that nothing leaves this computer, or say where it goes to be transcribed."""
        if host:
            text = self.tr("The words appear as they are recognised by %1, where the sound is sent.")
            self._promise.setText(text.replace("%1", host))
        else:
            text = self.tr("The words appear as they are recognised. Nothing leaves this computer.")
            self._promise.setText(text)

    def set_hovered(self, is_hovered: bool) -> None:
        """Show whether something is held over the window that would be taken."""
        self._is_hovered = is_hovered
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame: dashed, and in the accent colour while something is held over it."""
        super().paintEvent(event)
        role = QPalette.ColorRole.Accent if self._is_hovered else QPalette.ColorRole.Mid
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self.palette().color(role), 2, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([5, 4])
        painter.setPen(pen)
        if self._is_hovered:
            tint = self.palette().color(role)
            tint.setAlpha(24)
            painter.setBrush(tint)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(20, 20, -20, -20), 16, 16)
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._redraw()

    def _redraw(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.PlaceholderText)
        self._picture.setPixmap(icons.pixmap("drop", colour, _PICTURE_PX, self.devicePixelRatioF()))

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setMinimumHeight(34)
        button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        return button


class DropOverlay(QWidget):
    """Laid over a window that is not empty while files are held over it; never in the way of the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("drop_overlay")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def cover(self, is_hovered: bool) -> None:
        """Cover the whole window, or go away."""
        if is_hovered and (window := self.parentWidget()):
            self.setGeometry(window.rect())
            self.raise_()
        self.setVisible(is_hovered)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Veil the window and say what letting go would do."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = self.palette().color(QPalette.ColorRole.Base)
        veil.setAlpha(225)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Accent), 3))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(16, 16, -16, -16), 14, 14)
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 1.6)
        painter.setFont(font)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self.tr("Drop to transcribe"))
        painter.end()
