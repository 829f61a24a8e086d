"""Moves and resizes a window without a frame by its surface and its edges."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QWidget

_EDGE_PX: Final = 7
_NO_EDGE: Final = Qt.Edge(0)
_CURSORS: Final = {
    _NO_EDGE: Qt.CursorShape.SizeAllCursor,
    Qt.Edge.LeftEdge: Qt.CursorShape.SizeHorCursor,
    Qt.Edge.RightEdge: Qt.CursorShape.SizeHorCursor,
    Qt.Edge.TopEdge: Qt.CursorShape.SizeVerCursor,
    Qt.Edge.BottomEdge: Qt.CursorShape.SizeVerCursor,
    Qt.Edge.TopEdge | Qt.Edge.LeftEdge: Qt.CursorShape.SizeFDiagCursor,
    Qt.Edge.BottomEdge | Qt.Edge.RightEdge: Qt.CursorShape.SizeFDiagCursor,
    Qt.Edge.TopEdge | Qt.Edge.RightEdge: Qt.CursorShape.SizeBDiagCursor,
    Qt.Edge.BottomEdge | Qt.Edge.LeftEdge: Qt.CursorShape.SizeBDiagCursor,
}


class Grip:
    """Turns the mouse events of `window` into its geometry; `min_width` is kept."""

    def __init__(self, window: QWidget, min_width: int) -> None:
        self._window = window
        self._min_width = min_width
        self._from: QPoint | None = None
        self._rect = QRect()
        self._edges = _NO_EDGE
        self._has_moved = False

    @property
    def edges(self) -> Qt.Edge:
        """Which edges are held; none while the whole window is moved."""
        return self._edges

    def press(self, event: QMouseEvent) -> None:
        """Take hold of the window."""
        self._edges = self.edges_at(event.position().toPoint())
        handle = self._window.windowHandle()
        if handle is not None and QGuiApplication.platformName().startswith("wayland"):
            # There only the compositor can do it, and it says nothing of the end.
            if self._edges == _NO_EDGE:
                handle.startSystemMove()
            else:
                handle.startSystemResize(self._edges)
            return
        self._from = event.globalPosition().toPoint()
        self._rect = self._window.geometry()
        self._has_moved = False

    def move(self, event: QMouseEvent) -> None:
        """Follow the mouse, or show by its shape what it would do."""
        if self._from is None:
            self._window.setCursor(_CURSORS[self.edges_at(event.position().toPoint())])
            return
        by = event.globalPosition().toPoint() - self._from
        self._has_moved = self._has_moved or bool(by.manhattanLength())
        self._window.setGeometry(resized(self._rect, by, self._edges, self._min_width))

    def release(self) -> bool:
        """Let go; returns whether the window was moved or resized."""
        self._from = None
        return self._has_moved

    def edges_at(self, point: QPoint) -> Qt.Edge:
        """Return which edges are near a point of the window."""
        edges = _NO_EDGE
        if point.x() < _EDGE_PX:
            edges |= Qt.Edge.LeftEdge
        elif point.x() >= self._window.width() - _EDGE_PX:
            edges |= Qt.Edge.RightEdge
        if point.y() < _EDGE_PX:
            edges |= Qt.Edge.TopEdge
        elif point.y() >= self._window.height() - _EDGE_PX:
            edges |= Qt.Edge.BottomEdge
        return edges


def resized(rect: QRect, by: QPoint, edges: Qt.Edge, min_width: int) -> QRect:
    """Return `rect` with the held edges moved by `by`; all of it when none is held."""
    if edges == _NO_EDGE:
        return rect.translated(by)
    made = QRect(rect)
    if edges & Qt.Edge.LeftEdge:
        made.setLeft(min(rect.left() + by.x(), rect.right() + 1 - min_width))
    if edges & Qt.Edge.RightEdge:
        made.setRight(max(rect.right() + by.x(), rect.left() - 1 + min_width))
    if edges & Qt.Edge.TopEdge:
        made.setTop(min(rect.top() + by.y(), rect.bottom()))
    if edges & Qt.Edge.BottomEdge:
        made.setBottom(max(rect.bottom() + by.y(), rect.top()))
    return made
