"""The caption window: over everything else, without a frame, moved by hand and remembered per screen."""

from __future__ import annotations

from typing import Final

import msgspec
from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QGuiApplication,
    QHideEvent,
    QIcon,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
    QScreen,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.settings import CaptionPlace, CaptionStyle
from app.ui.caption_grip import Grip
from app.ui.caption_place import MIN_WIDTH, rect_on, screen_to_use, with_place, within
from app.ui.caption_view import CaptionView
from app.ui.compositor import has_compositor, is_x11
from app.ui.icons import pixmap

MOST_LINES: Final = 6
SIZES_PT: Final = (12, 96)
_BUTTON_PX: Final = 26
_STEP_PX: Final = 16
_RAISE_EVERY_MS: Final = 1000
_FLAG: Final = Qt.WindowType
_KEY: Final = Qt.Key
_CONTROL: Final = Qt.KeyboardModifier.ControlModifier
_SHIFT: Final = Qt.KeyboardModifier.ShiftModifier
_ARROWS: Final = {
    _KEY.Key_Left: (-1, 0),
    _KEY.Key_Right: (1, 0),
    _KEY.Key_Up: (0, -1),
    _KEY.Key_Down: (0, 1),
}


class CaptionWindow(QWidget):
    """A window that holds a `CaptionView` and nothing else but two buttons that come with the mouse.

    Signals: `closed` when a person closed it; `settings_requested`; `style_changed(CaptionStyle)` when
    it was changed here; `places_changed(dict)` with its places on all screens.
    """

    closed = Signal()
    settings_requested = Signal()
    style_changed = Signal(object)
    places_changed = Signal(object)

    def __init__(self, style: CaptionStyle, places: dict[str, CaptionPlace]) -> None:
        super().__init__(None)
        self._style = style
        self._places = places
        is_opaque = not has_compositor()
        self.view = CaptionView(style, is_opaque=is_opaque, parent=self)
        self._grip = Grip(self, MIN_WIDTH)
        self._is_hovered = False
        self.setObjectName("caption_window")
        self.setWindowTitle(self.tr("Live captions"))
        self.setAccessibleName(self.tr("Live captions"))
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground, not is_opaque)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        # A tool window of a macOS app that is not in front would be hidden: exactly when it is needed.
        self.setAttribute(Qt.WidgetAttribute.WA_MacAlwaysShowToolWindow)
        self.setWindowFlags(_flags(style))
        self.setMouseTracking(True)
        self.setMinimumWidth(MIN_WIDTH)
        self._build_buttons()
        self._raising = QTimer(self)
        self._raising.setInterval(_RAISE_EVERY_MS)
        self._raising.timeout.connect(self.raise_)
        self.view.live_changed.connect(lambda _: self._show_buttons())

    def show_captions(self) -> None:
        """Appear where it was last, without taking the focus from what is being worked with."""
        names = [screen.name() for screen in QGuiApplication.screens()]
        self._put_on(_screen(screen_to_use(self._places, names)))
        self.show()
        self.raise_()

    def set_style(self, style: CaptionStyle) -> None:
        """Look and behave so from now on."""
        before, self._style = self._style, style
        self.view.set_style(style)
        if style.is_click_through != before.is_click_through:
            was_visible = self.isVisible()
            self.setWindowFlags(_flags(style))
            if was_visible:
                self.show()
        self._fit_height()
        self._show_buttons()

    def sizeHint(self) -> QSize:
        return self.view.sizeHint()

    def context_menu(self) -> QMenu:
        """Return what can be done with the window."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Caption settings…"), self.settings_requested.emit)
        through = menu.addAction(self.tr("Let clicks through"))
        through.setCheckable(True)
        through.setChecked(self._style.is_click_through)
        through.toggled.connect(lambda is_on: self._restyle(is_click_through=is_on))
        menu.addSeparator()
        menu.addAction(self.tr("Close"), self.close)
        return menu

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view.setGeometry(self.rect())
        self._place_buttons()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.windowFlags() & _FLAG.X11BypassWindowManagerHint:
            # No window manager keeps it on top: somebody else may have come to the front meanwhile.
            self._raising.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._raising.stop()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._set_hovered(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_hovered(False)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            self._show_buttons()

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta().y()
        if delta:
            self.view.scroll_by(-max(1, abs(delta) // 120) if delta > 0 else max(1, abs(delta) // 120))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            # Whoever clicks on it wants its keys: Esc must reach it.
            self.activateWindow()
            self._grip.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._grip.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._grip.release():
            self._on_placed()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.context_menu().popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        x, y = _ARROWS.get(_KEY(key), (0, 0))
        if key == _KEY.Key_Escape:
            self.close()
        elif key == _KEY.Key_End:
            self.view.show_newest()
        elif key in (_KEY.Key_PageUp, _KEY.Key_PageDown):
            self.view.scroll_by(self._style.num_lines * (1 if key == _KEY.Key_PageDown else -1))
        elif event.matches(QKeySequence.StandardKey.ZoomIn) or (
            key == _KEY.Key_Equal and modifiers == _CONTROL
        ):
            self._grow(2)
        elif event.matches(QKeySequence.StandardKey.ZoomOut):
            self._grow(-2)
        elif y and not modifiers:
            self.view.scroll_by(y)
        elif (x or y) and modifiers == _CONTROL:
            self.move(self.x() + x * _STEP_PX, self.y() + y * _STEP_PX)
            self._on_placed()
        elif (x or y) and modifiers == _CONTROL | _SHIFT:
            self._resize_by(x, y)
        else:
            super().keyPressEvent(event)

    def _resize_by(self, x: int, num_lines: int) -> None:
        self.resize(max(MIN_WIDTH, self.width() + x * _STEP_PX), self.height())
        self._restyle(num_lines=min(max(self._style.num_lines + num_lines, 1), MOST_LINES))
        self._on_placed()

    def _grow(self, by_pt: int) -> None:
        self._restyle(size_pt=min(max(self._style.size_pt + by_pt, SIZES_PT[0]), SIZES_PT[1]))

    def _restyle(self, **fields: object) -> None:
        style = msgspec.structs.replace(self._style, **fields)
        if style != self._style:
            self.set_style(style)
            self.style_changed.emit(style)

    def _on_placed(self) -> None:
        """Take over what was done by hand: whole lines, on the screen it is now, and remembered."""
        num_lines = min(max(self.view.lines_in(self.height()), 1), MOST_LINES)
        self._restyle(num_lines=num_lines)
        self._fit_height()
        screen = QGuiApplication.screenAt(self.geometry().center()) or self.screen()
        area = screen.availableGeometry()
        self._places = with_place(self._places, screen.name(), area, self.geometry())
        self.places_changed.emit(self._places)

    def _fit_height(self) -> None:
        """Be as tall as the lines are; the edge that was not held stays, else the lower one."""
        height = self.view.height_for(self._style.num_lines)
        rect = self.geometry()
        if rect.height() == height:
            return
        if self._grip.edges & Qt.Edge.BottomEdge:
            rect.setHeight(height)
        else:
            rect.setTop(rect.bottom() + 1 - height)
        self.setGeometry(within(self.screen().availableGeometry(), rect))

    def _put_on(self, screen: QScreen) -> None:
        height = self.view.height_for(self._style.num_lines)
        self.setGeometry(rect_on(screen.availableGeometry(), self._places.get(screen.name()), height))

    def _set_hovered(self, is_hovered: bool) -> None:
        self._is_hovered = is_hovered
        self.view.hold(is_hovered)
        self._show_buttons()

    def _build_buttons(self) -> None:
        self._close = self._button("caption_close", self.tr("Close the captions (Esc)"))
        self._close.clicked.connect(self.close)
        self._settings = self._button("caption_settings", self.tr("Caption settings…"))
        self._settings.clicked.connect(self.settings_requested)
        self._newest = self._button("caption_newest", self.tr("Jump to newest (End)"))
        self._newest.clicked.connect(self.view.show_newest)
        self._show_buttons()

    def _button(self, name: str, text: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setToolTip(text)
        button.setAutoRaise(True)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        button.setFixedSize(_BUTTON_PX, _BUTTON_PX)
        return button

    def _show_buttons(self) -> None:
        """Show them to who points at the window or has the keys in it."""
        is_wanted = self._is_hovered or self.isActiveWindow()
        self._close.setVisible(is_wanted)
        self._settings.setVisible(is_wanted)
        self._newest.setVisible(not self.view.is_live)
        ink, scale = QColor(self._style.text_colour), self.devicePixelRatioF()
        for button, icon in ((self._close, "close"), (self._settings, "settings"), (self._newest, "down")):
            button.setIcon(QIcon(pixmap(icon, ink, 16, scale)))
        self._place_buttons()

    def _place_buttons(self) -> None:
        left = self.width() - _BUTTON_PX - 7
        self._close.move(left, 7)
        self._settings.move(left, 7 + _BUTTON_PX)
        self._newest.move(left, self.height() - _BUTTON_PX - 7)


def _flags(style: CaptionStyle) -> Qt.WindowType:
    flags = _FLAG.Tool | _FLAG.FramelessWindowHint | _FLAG.WindowStaysOnTopHint
    if is_x11():
        # Window managers keep it below full-screen windows, and swallow clicks that should go through.
        flags |= _FLAG.X11BypassWindowManagerHint
    if style.is_click_through:
        flags |= _FLAG.WindowTransparentForInput
    return flags


def _screen(name: str) -> QScreen:
    screens = QGuiApplication.screens()
    return next((screen for screen in screens if screen.name() == name), screens[0])
