"""Says which places of a recording are not what was said there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette

from app.capture.notices import Mark, MarkKind
from app.ui.clock import clock_text
from app.ui.elided_label import ElidedLabel


class MarkLine(ElidedLabel):
    """One line below a transcript's name; hidden where there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(Qt.TextElideMode.ElideRight)
        self.setObjectName("recording_marks")
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.hide()

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Show these, in order of time; what does not fit is in the tool tip."""
        sentences = {
            MarkKind.GAP: self.tr("No sound came: %1"),
            MarkKind.LOST: self.tr("Sound was lost: %1"),
            MarkKind.PAUSE: self.tr("Paused: %1"),
        }
        parts = []
        for kind, sentence in sentences.items():
            places = [_place(mark) for mark in marks if mark.kind is kind]
            if places:
                parts.append(sentence.replace("%1", ", ".join(places)))
        self.setText(" · ".join(parts))
        self.setToolTip("\n".join(parts))
        self.setVisible(bool(parts))


def _place(mark: Mark) -> str:
    start, end = clock_text(mark.start), clock_text(mark.end)
    return start if start == end else f"{start}–{end}"
