"""The versions of one recording: which is shown, which others there are, and how to get one more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from app.library import Recording
from app.ui.row_actions import keeps_transcript


class VersionBar(QWidget):
    """At the right of a transcript's name; the choice is there only where there is one.

    Signals: `chosen(recording_id)` of the version that is wanted; `again_requested` for one more.
    """

    chosen = Signal(int)
    again_requested = Signal()

    def __init__(self, model_name: Callable[[str], str]) -> None:
        """`model_name` gives the name of a model by its key."""
        super().__init__()
        self._model_name = model_name
        self.box = QComboBox()
        self.box.setObjectName("versions")
        self.box.setAccessibleName(self.tr("Version of the transcript"))
        self.box.setToolTip(self.tr("Version of the transcript"))
        self.again = QToolButton()
        self.again.setObjectName("transcribe_again")
        self.again.setText(self.tr("Transcribe again…"))
        self.again.setAccessibleName(self.tr("Transcribe again with another model"))
        self.again.setToolTip(self.tr("Transcribe again with another model; this transcript stays"))
        self.again.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.again.setAutoRaise(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.box)
        row.addWidget(self.again)
        self.box.activated.connect(lambda place: self.chosen.emit(self.box.itemData(place)))
        self.again.clicked.connect(self.again_requested)

    def show_versions(self, versions: Sequence[Recording], shown: int) -> None:
        """Offer these, oldest first; `shown` is the id of the one on the page."""
        with QSignalBlocker(self.box):
            self.box.clear()
            for number, version in enumerate(versions, 1):
                self.box.addItem(self._label(number, version), version.id)
            self.box.setCurrentIndex(self.box.findData(shown))
        self.box.setVisible(len(versions) > 1)
        current = next((version for version in versions if version.id == shown), None)
        self.again.setVisible(current is not None and keeps_transcript(current))

    def menu_place(self) -> QPoint:
        """Return where the choice of models belongs on the screen: under the button."""
        return self.again.mapToGlobal(self.again.rect().bottomLeft())

    def _label(self, number: int, version: Recording) -> str:
        model = self._model_name(version.model or version.options.model)
        return self.tr("Version %1 · %2").replace("%1", str(number)).replace("%2", model)
