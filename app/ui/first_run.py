"""Offers the download of the first model: how big it is, how much room there is, how far it has come."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.texts import failure_line, size
from app.ui.model_shelf import Errand, ModelShelf, Work
from app.ui.wording import model_note, remaining
from engine.protocol.events import JobEnding, JobFailed
from engine.protocol.failures import Failure
from engine.protocol.transcript import ModelInfo, ModelPhase

_PER_CENT = 100


class FirstRun(QWidget):
    """What the window shows while no model is on this computer.

    Signals: `other_models_requested`; `folder_requested`.
    """

    other_models_requested = Signal()
    folder_requested = Signal()

    def __init__(self, shelf: ModelShelf, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("first_run")
        self._shelf = shelf
        self._key = key
        self._failure: Failure | None = None
        self._title = QLabel(self.tr("One download, then everything works without a network"))
        font = self._title.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        self._title.setFont(font)
        self._facts = QLabel()
        self._facts.setObjectName("first_run_facts")
        self._state = QLabel()
        self._state.setObjectName("first_run_state")
        self._waiting = QLabel()
        self._waiting.setObjectName("first_run_waiting")
        for label in (self._title, self._facts, self._state, self._waiting):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._facts.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._bar = QProgressBar()
        self._bar.setObjectName("first_run_progress")
        self._bar.setAccessibleName(self.tr("Download progress"))
        self._bar.setMaximumWidth(420)
        self.download = self._button("first_run_download", self.tr("Download"))
        self.download.setDefault(True)
        self.cancel = self._button("first_run_cancel", self.tr("Cancel"))
        self.others = self._button("first_run_others", self.tr("Other models…"))
        self.use_folder = self._button("first_run_folder", self.tr("Use a folder…"))
        self.download.clicked.connect(self._on_download)
        self.cancel.clicked.connect(lambda: self._shelf.stop(self._key))
        self.others.clicked.connect(self.other_models_requested)
        self.use_folder.clicked.connect(self.folder_requested)
        self._lay_out()
        shelf.listed.connect(self._show)
        shelf.worked.connect(self._show)
        shelf.ended.connect(self._on_ended)
        self._show()

    def set_num_waiting(self, count: int) -> None:
        """Say how many files wait for the model."""
        text = self.tr("%n file(s) will start as soon as the model is here.", "", count) if count else ""
        self._waiting.setText(text)
        self._waiting.setVisible(bool(count))

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(10)
        buttons.addStretch()
        for button in (self.download, self.cancel, self.others, self.use_folder):
            buttons.addWidget(button)
        buttons.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(36, 16, 36, 16)
        column.setSpacing(10)
        column.addStretch()
        column.addWidget(self._title)
        column.addWidget(self._facts)
        column.addSpacing(8)
        bar_row = QHBoxLayout()
        bar_row.addStretch()
        bar_row.addWidget(self._bar, 1)
        bar_row.addStretch()
        column.addLayout(bar_row)
        column.addWidget(self._state)
        column.addLayout(buttons)
        column.addWidget(self._waiting)
        column.addStretch()

    def _show(self) -> None:
        model = self._shelf.get(self._key)
        work = self._shelf.work_on(self._key)
        is_loading = work is not None and work.errand is Errand.DOWNLOAD
        self._bar.setVisible(is_loading)
        self.cancel.setVisible(is_loading)
        self.download.setVisible(not is_loading)
        self.download.setEnabled(model is not None)
        if model is not None:
            self._facts.setText(self._facts_of(model))
            resumes = model.phase is ModelPhase.PARTIAL
            self.download.setText(self.tr("Continue the download") if resumes else self.tr("Download"))
        if work is not None and is_loading:
            self._show_work(work)
        else:
            self._state.setText(failure_line(self._failure) if self._failure else "")
        self._state.setVisible(bool(self._state.text()))

    def _facts_of(self, model: ModelInfo) -> str:
        return (
            self.tr("%1 – %2 to download, %3 free on this disk. %4")
            .replace("%1", model.name)
            .replace("%2", size(model.size_bytes))
            .replace("%3", size(self._shelf.free_bytes))
            .replace("%4", model_note(model))
        )

    def _show_work(self, work: Work) -> None:
        if work.total:
            self._bar.setRange(0, _PER_CENT)
            self._bar.setValue(int(_PER_CENT * work.done / work.total))
            parts = [
                self.tr("%1 of %2").replace("%1", size(int(work.done))).replace("%2", size(int(work.total)))
            ]
            if work.remaining_s is not None:
                parts.append(remaining(work.remaining_s))
            self._state.setText(" · ".join(parts))
        else:
            self._bar.setRange(0, 0)
            self._state.setText(self.tr("Connecting…"))

    def _on_download(self) -> None:
        self._failure = None
        self._shelf.begin(Errand.DOWNLOAD, self._key)

    def _on_ended(self, key: str, _errand: Errand, ending: JobEnding) -> None:
        if key == self._key:
            self._failure = ending.failure if isinstance(ending, JobFailed) else None
        self._show()

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setMinimumHeight(34)
        return button
