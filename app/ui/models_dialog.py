"""The list of models: what each is good for, whether it is here, and fetching, checking and removing them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.texts import failure_line, size
from app.ui.model_shelf import Errand, ModelShelf, Work
from app.ui.wording import model_note, plain, remaining
from engine.protocol.events import JobDone, JobEnding, JobFailed
from engine.protocol.failures import Failure
from engine.protocol.transcript import ModelInfo, ModelPhase

_KEY_ROLE: Final = Qt.ItemDataRole.UserRole + 1
_PER_CENT: Final = 100


class ModelsDialog(QDialog):
    """One line for every model, its facts below, and what can be done with it.

    Signals: `folder_added(path)` and `folder_forgotten(path)` for folders of the user's;
    `model_preferred(key)` when one is to be used from now on.
    """

    folder_added = Signal(str)
    folder_forgotten = Signal(str)
    model_preferred = Signal(str)

    def __init__(self, shelf: ModelShelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._failures: dict[str, Failure] = {}
        self._verified: set[str] = set()
        self.setWindowTitle(self.tr("Models"))
        self.setObjectName("models_dialog")
        self.resize(640, 520)
        self.list = QTreeWidget()
        self.list.setObjectName("models_list")
        self.list.setAccessibleName(self.tr("Models"))
        self.list.setHeaderLabels([self.tr("Model"), self.tr("Size"), self.tr("State")])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setAlternatingRowColors(True)
        self.list.setAllColumnsShowFocus(True)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._facts = QLabel()
        self._facts.setObjectName("model_facts")
        self._facts.setWordWrap(True)
        self._facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._facts.setMinimumHeight(4 * self._facts.fontMetrics().height())
        self._facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._bar = QProgressBar()
        self._bar.setObjectName("model_progress")
        self._bar.setAccessibleName(self.tr("Progress"))
        self._place = QLabel()
        self._place.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._place.setWordWrap(True)
        self.use = self._button("model_use", self.tr("&Use this model"), self._on_use)
        self.download = self._button("model_download", self.tr("&Download"), self._on_download)
        self.cancel = self._button("model_cancel", self.tr("&Cancel"), self._on_cancel)
        self.verify = self._button("model_verify", self.tr("&Verify"), self._on_verify)
        self.remove = self._button("model_remove", self.tr("&Remove"), self._on_remove)
        self.add_folder = self._button("model_folder", self.tr("Use a &folder…"), self._on_folder)
        self._lay_out()
        self.list.currentItemChanged.connect(lambda *_: self._show_current())
        self.list.itemActivated.connect(lambda *_: self._on_activated())
        shelf.listed.connect(self._fill)
        shelf.worked.connect(self._refresh)
        shelf.ended.connect(self._on_ended)
        self._fill()
        shelf.refresh()

    def select(self, key: str) -> None:
        """Make a model the current line."""
        for item in self._items():
            if item.data(0, _KEY_ROLE) == key:
                self.list.setCurrentItem(item)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        for button in (self.use, self.download, self.cancel, self.verify, self.remove):
            buttons.addWidget(button)
        buttons.addStretch()
        buttons.addWidget(self.add_folder)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.list, 1)
        column.addWidget(self._facts)
        column.addWidget(self._bar)
        column.addLayout(buttons)
        column.addWidget(self._place)
        column.addWidget(close)

    def _current(self) -> ModelInfo | None:
        item = self.list.currentItem()
        return self._shelf.get(item.data(0, _KEY_ROLE)) if item else None

    def _items(self) -> list[QTreeWidgetItem]:
        items = [self.list.topLevelItem(place) for place in range(self.list.topLevelItemCount())]
        return [item for item in items if item is not None]

    def _fill(self) -> None:
        current = self.list.currentItem()
        key = current.data(0, _KEY_ROLE) if current else None
        self.list.clear()
        for model in self._shelf.models:
            item = QTreeWidgetItem(self.list)
            item.setData(0, _KEY_ROLE, model.key)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setSizeHint(0, QSize(0, self.fontMetrics().height() + 10))
        self._refresh()
        if key:
            self.select(key)
        elif items := self._items():
            self.list.setCurrentItem(items[0])
        if self._shelf.folder:
            text = self.tr("Downloads are kept in %1; %2 free.")
            self._place.setText(
                text.replace("%1", self._shelf.folder).replace("%2", size(self._shelf.free_bytes))
            )

    def _refresh(self) -> None:
        for item in self._items():
            if model := self._shelf.get(item.data(0, _KEY_ROLE)):
                work = self._shelf.work_on(model.key)
                item.setText(0, model.name)
                item.setText(1, size(model.size_bytes) if model.size_bytes else "")
                item.setText(2, self._work_text(work) if work else self._phase_text(model))
        self._show_current()

    def _phase_text(self, model: ModelInfo) -> str:
        if not model.is_runnable and not model.companion_of:
            return self.tr("cannot be run yet")
        match model.phase:
            case ModelPhase.INSTALLED:
                return self.tr("on this computer")
            case ModelPhase.PARTIAL:
                return self.tr("partly downloaded")
            case ModelPhase.MISSING:
                return self.tr("not downloaded")

    def _work_text(self, work: Work) -> str:
        match work.errand:
            case Errand.DOWNLOAD:
                return self.tr("downloading")
            case Errand.VERIFY:
                return self.tr("being checked")
            case Errand.REMOVE:
                return self.tr("being removed")

    def _show_current(self) -> None:
        model = self._current()
        work = self._shelf.work_on(model.key) if model else None
        self._show_bar(work)
        self._facts.setText(self._facts_of(model, work) if model else "")
        is_installed = model is not None and model.phase is ModelPhase.INSTALLED
        is_own = model is not None and model.key == model.folder
        is_runnable = model is not None and model.is_runnable
        self.use.setEnabled(is_installed and is_runnable)
        self.download.setEnabled(model is not None and not is_installed and not is_own and work is None)
        self.download.setText(
            self.tr("&Continue")
            if model is not None and model.phase is ModelPhase.PARTIAL
            else self.tr("&Download")
        )
        self.cancel.setVisible(work is not None)
        self.verify.setEnabled(is_installed and not is_own and work is None)
        self.remove.setEnabled(
            model is not None
            and work is None
            and model.is_removable
            and (is_own or model.phase is not ModelPhase.MISSING)
        )

    def _facts_of(self, model: ModelInfo, work: Work | None) -> str:
        lines = [model_note(model)] if model.note and not model.companion_of else []
        if model.companion_of:
            lines.append(self.tr("Optional: with it, Qwen3-ASR measures when each word was said."))
        if model.languages:
            num = len(model.languages)
            lines.append(
                self.tr("Understands English only.")
                if model.languages == ("en",)
                else self.tr("Understands %n language(s).", "", num)
            )
        lines += self._memory_facts(model)
        companion = self._shelf.companion(model) if not model.companion_of else None
        if companion is not None and companion.phase is not ModelPhase.INSTALLED:
            lines.append(self.tr("%1 would add measured times of words.").replace("%1", companion.name))
        if model.key == model.folder:
            lines.append(self.tr("A folder of yours: %1").replace("%1", model.key))
        if work is not None and work.total:
            text = (
                self.tr("%1 of %2").replace("%1", size(int(work.done))).replace("%2", size(int(work.total)))
            )
            lines.append(text if work.remaining_s is None else f"{text} · {remaining(work.remaining_s)}")
        elif model.key in self._failures:
            lines.append(failure_line(self._failures[model.key]))
        elif model.key in self._verified:
            lines.append(self.tr("Every file is as it should be."))
        return "\n".join(lines)

    def _memory_facts(self, model: ModelInfo) -> list[str]:
        """Say what it takes to run a model, and whether this machine has that."""
        machine = self._shelf.memory_bytes
        if model.memory_bytes is None or machine is None:
            return []
        if model.companion_of:
            return [self.tr("Needs %1 of memory more.").replace("%1", size(model.memory_bytes))]
        text = (
            self.tr("Needs up to %1 of memory, which is too much for this computer (%2).")
            if model.is_too_large(machine)
            else self.tr("Needs up to %1 of memory; this computer has %2.")
        )
        return [text.replace("%1", size(model.memory_bytes)).replace("%2", size(machine))]

    def _show_bar(self, work: Work | None) -> None:
        self._bar.setVisible(work is not None)
        if work is not None and work.total:
            self._bar.setRange(0, _PER_CENT)
            self._bar.setValue(int(_PER_CENT * work.done / work.total))
        else:
            self._bar.setRange(0, 0)

    def _begin(self, errand: Errand) -> None:
        if model := self._current():
            self._failures.pop(model.key, None)
            self._verified.discard(model.key)
            self._shelf.begin(errand, model.key)

    def _on_activated(self) -> None:
        (self.use if self.use.isEnabled() else self.download).click()

    def _on_use(self) -> None:
        if model := self._current():
            self.model_preferred.emit(model.key)
            self.accept()

    def _on_download(self) -> None:
        self._begin(Errand.DOWNLOAD)

    def _on_verify(self) -> None:
        self._begin(Errand.VERIFY)

    def _on_cancel(self) -> None:
        if model := self._current():
            self._shelf.stop(model.key)

    def _on_remove(self) -> None:
        model = self._current()
        if model is None:
            return
        if model.key == model.folder:
            self.folder_forgotten.emit(model.key)
        else:
            self._begin(Errand.REMOVE)

    def _on_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Choose a folder that holds a model"))
        if folder:
            self.folder_added.emit(folder)
            self.select(folder)

    def _on_ended(self, key: str, errand: Errand, ending: JobEnding) -> None:
        if isinstance(ending, JobFailed):
            self._failures[key] = ending.failure
        elif isinstance(ending, JobDone) and errand is Errand.VERIFY:
            self._verified.add(key)
        self._refresh()

    def _button(self, name: str, text: str, slot: object) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(plain(text))
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button
