"""What the next file is transcribed with: model, language, task and quality, chosen in the tool bar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QCompleter, QHBoxLayout, QLabel, QWidget

from app.settings import Settings
from app.ui.model_shelf import ModelShelf
from app.ui.wording import language_label, language_names, model_note
from engine.protocol.transcript import Mode, ModelInfo, Task

MORE_MODELS: Final = "\0more"
"""Data of the entry that opens the Models dialog; no key or path begins with NUL."""
_GAP_PX: Final = 6


class LanguageBox(QComboBox):
    """Detect, then every language by its own name; type to search by native or English name or code.

    Signals: `language_chosen(code or None)`.
    """

    language_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMinimumContentsLength(13)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMaxVisibleItems(18)
        completer = QCompleter(self.model(), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.setCompleter(completer)
        self._codes: tuple[str, ...] = ()
        self.activated.connect(lambda _: self._tell())
        line = self.lineEdit()
        if line is not None:
            line.setPlaceholderText(self.tr("Type to search"))
            line.editingFinished.connect(self._settle)
        self.set_languages(())

    def set_languages(self, codes: Iterable[str]) -> None:
        """Offer these languages; the chosen one stays if it is among them."""
        ordered = tuple(sorted(codes, key=lambda code: language_names(code)[0]))
        if self.count() and ordered == self._codes:
            return
        self._codes = ordered
        chosen = self.language
        with QSignalBlocker(self):
            self.clear()
            self.addItem(self.tr("Detect language"), None)
            for code in ordered:
                self.addItem(language_label(code), code)
            self.set_language(chosen)

    @property
    def language(self) -> str | None:
        """The chosen language's code; None = detect."""
        data = self.currentData()
        return data if isinstance(data, str) else None

    def set_language(self, code: str | None) -> None:
        """Show a language; one that is not offered is added, so that nothing is changed silently."""
        place = 0 if code is None else self.findData(code)
        if place < 0 and code is not None:
            self.addItem(language_label(code), code)
            place = self.count() - 1
        self.setCurrentIndex(place)
        self._show_start()

    def _tell(self) -> None:
        self._show_start()
        self.language_chosen.emit(self.language)

    def _settle(self) -> None:
        """Typed text that is one language chooses it; anything else gives way to the chosen one."""
        typed = self.currentText().strip().casefold()
        if typed == self.itemText(self.currentIndex()).casefold():
            return
        place = self._find(typed)
        if place is not None:
            self.setCurrentIndex(place)
            self._tell()
        else:
            self.setEditText(self.itemText(self.currentIndex()))

    def _find(self, typed: str) -> int | None:
        if not typed:
            return None
        exact = [place for place in range(1, self.count()) if typed in self._names(place)]
        partial = [place for place in range(self.count()) if typed in self.itemText(place).casefold()]
        for found in (exact, partial):
            if len(found) == 1:
                return found[0]
        return None

    def _names(self, place: int) -> set[str]:
        code = self.itemData(place)
        return {code, *(name.casefold() for name in language_names(code))} if isinstance(code, str) else set()

    def _show_start(self) -> None:
        if line := self.lineEdit():
            line.setCursorPosition(0)


class ChoiceBar(QWidget):
    """The choices side by side.

    Signals: `model_chosen(key)`, `language_chosen(code or None)`, `task_chosen(Task)`, `mode_chosen(Mode)`,
    `more_models_requested`.
    """

    model_chosen = Signal(str)
    language_chosen = Signal(object)
    task_chosen = Signal(object)
    mode_chosen = Signal(object)
    more_models_requested = Signal()

    def __init__(self, shelf: ModelShelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self.model = _combo("model", self.tr("Model"))
        self.language = LanguageBox()
        self.language.setObjectName("language")
        self.language.setAccessibleName(self.tr("Language spoken"))
        self.language.setToolTip(self.tr("Language spoken"))
        self.task = _combo("task", self.tr("Task"))
        self.task.addItem(self.tr("Transcribe"), Task.TRANSCRIBE.value)
        self.task.addItem(self.tr("Translate to English"), Task.TRANSLATE.value)
        self.mode = _combo("mode", self.tr("Quality"))
        self.mode.setMinimumWidth(0)
        self.mode.addItem(self.tr("Fast"), Mode.FAST.value)
        self.mode.addItem(self.tr("Best"), Mode.BEST.value)
        best = self.tr("Weighs several texts against one another: fewer errors, more time")
        self.mode.setItemData(1, best, Qt.ItemDataRole.ToolTipRole)
        self._labels: list[QLabel] = []
        self._boxes: list[QComboBox] = []
        row = QHBoxLayout(self)
        row.setContentsMargins(_GAP_PX, 0, _GAP_PX, 0)
        row.setSpacing(_GAP_PX)
        for text, box in (
            (self.tr("&Model"), self.model),
            (self.tr("Lan&guage"), self.language),
            # Not "&Task": a mnemonic undoes the kerning of "Ta", and Qt cuts what it has not measured.
            (self.tr("Tas&k"), self.task),
            (self.tr("Q&uality"), self.mode),
        ):
            label = QLabel(text)
            label.setBuddy(box)
            self._labels.append(label)
            self._boxes.append(box)
            row.addWidget(label)
            row.addWidget(box)
        row.addStretch()
        self.model.activated.connect(self._on_model)
        self.language.language_chosen.connect(self.language_chosen)
        self.task.activated.connect(lambda _: self.task_chosen.emit(Task(self.task.currentData())))
        self.mode.activated.connect(lambda _: self.mode_chosen.emit(Mode(self.mode.currentData())))

    def sizeHint(self) -> QSize:
        """Return the room for everything, also while labels are hidden: they come back where it is had."""
        return QSize(self._width_with(self._labels), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the room the boxes need; without room for them the labels give way."""
        width = sum(box.minimumSizeHint().width() + _GAP_PX for box in self._boxes) + 2 * _GAP_PX
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the labels where there is room for them."""
        super().resizeEvent(event)
        self._show_labels()

    def show_settings(self, settings: Settings) -> None:
        """Show the choices of `settings`, and offer what its model can do."""
        chosen = self._shelf.get(settings.model)
        self._fill_models(settings.model)
        self.language.set_languages(chosen.languages if chosen else self._all_languages())
        self.language.set_language(settings.language)
        self.task.setCurrentIndex(self.task.findData(settings.task.value))
        self.task.setEnabled(chosen is None or chosen.can_translate)
        self.mode.setCurrentIndex(self.mode.findData(settings.mode.value))
        self._show_labels()

    def _show_labels(self) -> None:
        """Show all labels, or only the one whose box says least by itself, or none."""
        for shown in (self._labels, self._labels[-1:], []):
            if self.width() >= self._width_with(shown):
                break
        for label in self._labels:
            label.setVisible(label in shown)

    def _width_with(self, labels: Sequence[QLabel]) -> int:
        shown = (*labels, *self._boxes)
        return sum(max(one.sizeHint().width(), one.minimumWidth()) + _GAP_PX for one in shown) + 2 * _GAP_PX

    def _fill_models(self, key: str) -> None:
        with QSignalBlocker(self.model):
            self.model.clear()
            for model in self._shelf.installed:
                self.model.addItem(model.name, model.key)
                place = self.model.count() - 1
                self.model.setItemData(place, model_note(model) or model.folder, Qt.ItemDataRole.ToolTipRole)
            if self.model.findData(key) < 0:
                self.model.insertItem(0, self._missing_name(key), key)
            self.model.insertSeparator(self.model.count())
            self.model.addItem(self.tr("More models…"), MORE_MODELS)
            self.model.setCurrentIndex(self.model.findData(key))

    def _missing_name(self, key: str) -> str:
        model: ModelInfo | None = self._shelf.get(key)
        name = model.name if model else key
        return self.tr("%1 (not downloaded)").replace("%1", name) if self._shelf.is_listed else name

    def _all_languages(self) -> tuple[str, ...]:
        return tuple(sorted({code for model in self._shelf.models for code in model.languages}))

    def _on_model(self, place: int) -> None:
        key = self.model.itemData(place)
        if key == MORE_MODELS:
            self.model.setCurrentIndex(0)
            self.more_models_requested.emit()
        else:
            self.model_chosen.emit(key)


def _combo(name: str, label: str) -> QComboBox:
    box = QComboBox()
    box.setObjectName(name)
    box.setAccessibleName(label)
    box.setToolTip(label)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setMinimumWidth(80)
    return box
