"""Every lasting choice in one place; each takes effect at once, and closing keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QGroupBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.paths import recordings_folder
from app.settings import Theme, UiLanguage
from app.ui.caption_settings import CaptionSettingsDialog
from app.ui.choice_bar import LanguageBox
from app.ui.engine_box import EngineBox
from app.ui.folder_field import FolderField
from app.ui.form_dialog import FormDialog
from app.ui.model_shelf import ModelShelf
from app.ui.server_box import ServerBox
from app.ui.server_switch import ServerSwitch
from app.ui.settings_keeper import SettingsKeeper
from app.ui.style import TEXT_SIZES
from app.ui.wording import plain
from engine.protocol.transcript import Mode, Task

_WIDTH_PX: Final = 560
_REMARK_PX: Final = 90
_FRAME_PX: Final = 60
"""Of what surrounds a window on the screen."""


class SettingsDialog(FormDialog):
    """The form over a `SettingsKeeper`."""

    def __init__(
        self,
        keeper: SettingsKeeper,
        shelf: ModelShelf,
        server: ServerSwitch,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._keeper = keeper
        self._shelf = shelf
        self.setObjectName("settings_dialog")
        self.setWindowTitle(self.tr("Settings"))
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 6, 0)
        column.setSpacing(12)
        column.addWidget(self._recognition())
        column.addWidget(EngineBox(keeper, shelf))
        column.addWidget(ServerBox(keeper, server))
        column.addWidget(self._appearance())
        column.addWidget(self._behaviour())
        column.addStretch()
        _align(inner.findChildren(QFormLayout))
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        # There is no scrolling to the side: nothing may be cut there, whatever the language.
        needed = inner.minimumSizeHint().width() + area.verticalScrollBar().sizeHint().width()
        area.setMinimumWidth(max(needed, _WIDTH_PX))
        whole = QVBoxLayout(self)
        whole.setSpacing(12)
        whole.addWidget(area)
        whole.addWidget(close)
        # All of it where the screen has room, with what the longest remark may add.
        wanted = inner.sizeHint().height() + close.sizeHint().height() + _REMARK_PX
        self.resize(
            self.minimumSizeHint().width(),
            min(wanted, self.screen().availableGeometry().height() - _FRAME_PX),
        )

    def done(self, result: int) -> None:
        """Keep what was typed last; both ways of closing end here."""
        self._keep_typed()
        super().done(result)

    def _recognition(self) -> QGroupBox:
        now = self._keeper.now
        box, form = _group(self.tr("New files"))
        model = _choice("settings_model", self._models(), now.model)
        self._on_choice(model, lambda key: self._shelf.choosing(key, self._keeper.now))
        self._model = model
        self._shelf.listed.connect(self._show_models)
        self._keeper.changed.connect(self._show_models)
        language = LanguageBox()
        language.setObjectName("settings_language")
        language.language_chosen.connect(lambda code: self._keeper.change(language=code))
        task = _choice(
            "settings_task",
            [
                (self.tr("Transcribe"), Task.TRANSCRIBE.value),
                (self.tr("Translate to English"), Task.TRANSLATE.value),
            ],
            now.task.value,
        )
        self._on_choice(task, lambda value: {"task": Task(value)})
        mode = _choice(
            "settings_mode",
            [(self.tr("Fast"), Mode.FAST.value), (self.tr("Best, takes longer"), Mode.BEST.value)],
            now.mode.value,
        )
        self._on_choice(mode, lambda value: {"mode": Mode(value)})

        def offer() -> None:
            now, chosen = self._keeper.now, self._shelf.get(self._keeper.now.model)
            language.set_languages(chosen.languages if chosen else ())
            language.set_language(now.language)
            task.setCurrentIndex(task.findData(now.task.value))
            task.setEnabled(chosen is None or chosen.can_translate)

        offer()
        model.activated.connect(offer)
        self._prompt = QPlainTextEdit(now.initial_prompt)
        self._prompt.setObjectName("settings_prompt")
        self._prompt.setTabChangesFocus(True)
        self._prompt.setPlaceholderText(self.tr("Text that shows style and spelling"))
        self._prompt.setFixedHeight(3 * self._prompt.fontMetrics().lineSpacing() + 14)
        self._hotwords = QLineEdit(now.hotwords)
        self._hotwords.setObjectName("settings_hotwords")
        self._hotwords.setPlaceholderText(self.tr("Names and words that will come up, with spaces between"))
        _row(form, self.tr("&Model"), model)
        _row(form, self.tr("&Language"), language)
        _row(form, self.tr("Ta&sk"), task)
        _row(form, self.tr("&Quality"), mode)
        _row(form, self.tr("Wor&ds to expect"), self._hotwords)
        _row(form, self.tr("&Initial prompt"), self._prompt)
        form.addRow("", self._check("word_timestamps", self.tr("&Word-level timings")))
        return box

    def _models(self) -> list[tuple[str, str]]:
        return [(one.name, one.key) for one in self._shelf.installed]

    def _show_models(self) -> None:
        """Offer the models of this moment."""
        chosen = self._keeper.now.model
        offered = [(self._model.itemText(n), self._model.itemData(n)) for n in range(self._model.count())]
        if offered != self._models() or self._model.currentData() != chosen:
            _fill(self._model, self._models(), chosen)

    def _appearance(self) -> QGroupBox:
        now = self._keeper.now
        box, form = _group(self.tr("Appearance"))
        theme = _choice(
            "settings_theme",
            [
                (self.tr("As the system"), Theme.SYSTEM.value),
                (self.tr("Light"), Theme.LIGHT.value),
                (self.tr("Dark"), Theme.DARK.value),
            ],
            now.theme.value,
        )
        self._on_choice(theme, lambda value: {"theme": Theme(value)})
        language = _choice(
            "settings_ui_language",
            [
                (self.tr("As the system"), UiLanguage.SYSTEM.value),
                ("English", UiLanguage.ENGLISH.value),
                ("한국어", UiLanguage.KOREAN.value),
            ],
            now.ui_language.value,
        )
        self._on_choice(language, lambda value: {"ui_language": UiLanguage(value)})
        sizes = [(self.tr("%1 %").replace("%1", str(one)), str(one)) for one in TEXT_SIZES]
        zoom = _choice("settings_text_size", sizes, str(now.text_zoom_percent))
        self._on_choice(zoom, lambda value: {"text_zoom_percent": int(value)})
        _row(form, self.tr("T&heme"), theme)
        _row(form, self.tr("Language of the wi&ndow"), language)
        _row(form, self.tr("Te&xt size of transcripts"), zoom)
        captions = QPushButton(self.tr("C&ustomise…"))
        captions.setObjectName("settings_captions")
        captions.setAutoDefault(False)
        captions.clicked.connect(lambda: CaptionSettingsDialog(self._keeper, self).exec())
        _row(form, self.tr("Caption wind&ow"), captions)
        form.setAlignment(captions, Qt.AlignmentFlag.AlignLeft)
        return box

    def _behaviour(self) -> QGroupBox:
        box, form = _group(self.tr("Behaviour"))
        self._recordings = FolderField(
            "recordings",
            self._keeper.now.recordings_folder,
            usual=str(recordings_folder()),
            button=self.tr("Choose…"),
            text=self.tr("Choose the folder for recordings"),
        )
        self._recordings.setToolTip(
            self.tr("New recordings are kept here. Earlier ones stay where they are.")
        )
        self._exports = FolderField(
            "export",
            self._keeper.now.export_folder,
            usual=self.tr("Beside the recording"),
            button=self.tr("&Choose…"),
            text=self.tr("Choose the folder for exports"),
        )
        _row(form, self.tr("&Folder for recordings"), self._recordings, self._recordings.line)
        _row(form, self.tr("Folder for &exports"), self._exports, self._exports.line)
        form.addRow(
            "", self._check("keep_awake", self.tr("Keep the computer aw&ake while files are transcribed"))
        )
        form.addRow("", self._check("notify_when_done", self.tr("Notif&y me when long work has ended")))
        return box

    def _check(self, field: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setObjectName(f"settings_{field}")
        box.setAccessibleName(plain(text))
        box.setChecked(bool(getattr(self._keeper.now, field)))
        box.toggled.connect(lambda is_on: self._keeper.change(**{field: is_on}))
        return box

    def _on_choice(self, box: QComboBox, fields: Callable[[str], dict[str, object]]) -> None:
        box.activated.connect(lambda place: self._keeper.change(**fields(box.itemData(place))))

    def _keep_typed(self) -> None:
        self._keeper.change(
            hotwords=self._hotwords.text().strip(),
            initial_prompt=self._prompt.toPlainText().strip(),
            export_folder=self._exports.folder,
            recordings_folder=self._recordings.folder,
        )


def _group(title: str) -> tuple[QGroupBox, QFormLayout]:
    box = QGroupBox(title)
    form = QFormLayout(box)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return box, form


def _align(forms: Iterable[QFormLayout]) -> None:
    """Let the fields of all groups begin at one line, each label beside its field."""
    beside = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    labels: list[QLabel] = []
    for form in forms:
        form.setLabelAlignment(beside)
        for row in range(form.rowCount()):
            item = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
            if item is not None and isinstance(label := item.widget(), QLabel):
                labels.append(label)
    width = max(label.sizeHint().width() for label in labels)
    for label in labels:
        label.setMinimumWidth(width)
        label.setAlignment(beside)


def _choice(name: str, items: list[tuple[str, str]], chosen: str) -> QComboBox:
    box = QComboBox()
    box.setObjectName(name)
    _fill(box, items, chosen)
    return box


def _fill(box: QComboBox, items: list[tuple[str, str]], chosen: str) -> None:
    box.clear()
    for text, data in items:
        box.addItem(text, data)
    place = box.findData(chosen)
    if place < 0:
        box.insertItem(0, chosen, chosen)
        place = 0
    box.setCurrentIndex(place)


def _row(form: QFormLayout, text: str, field: QWidget, named: QWidget | None = None) -> None:
    """Add a labelled row; the label names the field for screen readers too."""
    target = named or field
    target.setAccessibleName(plain(text))
    form.addRow(text, field)
    label = form.labelForField(field)
    if isinstance(label, QLabel):
        label.setBuddy(target)
