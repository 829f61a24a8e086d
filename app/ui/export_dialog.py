"""Asks how transcripts are to be saved, saves them, and says what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, assert_never

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.background import Background
from app.ui.export_plan import (
    DEFAULT_TEMPLATE,
    Outcome,
    Planned,
    Trouble,
    existing,
    has_word_times,
    names_in,
    plain_text,
    plan,
    write_all,
)
from app.ui.reveal import reveal
from engine.export import ExportFormat
from engine.protocol.transcript import Transcript

_MAX_NAMED: Final = 3
_ROLE: Final = QDialogButtonBox.ButtonRole


class ExportDialog(QDialog):
    """Saves one or many transcripts in one folder and one format.

    Signals: `exported(str format, str folder)` after files were written, for the settings.
    """

    exported = Signal(str, str)

    def __init__(
        self,
        transcripts: Sequence[Transcript],
        *,
        folder: Path,
        format: ExportFormat = ExportFormat.TXT,
        show_in_folder: Callable[[Path], bool] = reveal,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._transcripts = list(transcripts)
        self._show_in_folder = show_in_folder
        self._background = Background(self)
        self._last: Path | None = None
        self.format = QComboBox(self)
        self.folder = QLineEdit(str(folder), self)
        self.template = QLineEdit(DEFAULT_TEMPLATE, self)
        self.word_times = QCheckBox(self.tr("Include the time of every &word"), self)
        self.preview = QLabel(self)
        self.result_line = QLabel(self)
        self.show_button = QPushButton(self.tr("&Show in folder"), self)
        self.buttons = QDialogButtonBox(self)
        self.export_button = self.buttons.addButton(self.tr("&Export"), _ROLE.AcceptRole)
        self.copy_button = self.buttons.addButton(self.tr("&Copy as text"), _ROLE.ActionRole)
        self.close_button = self.buttons.addButton(QDialogButtonBox.StandardButton.Close)
        self._fill(format)
        self._build()
        self._connect()
        self._show_preview()

    def done(self, result: int) -> None:
        self._background.close()
        super().done(result)

    def _fill(self, format: ExportFormat) -> None:
        for one, label in self._formats().items():
            self.format.addItem(label, one)
        self.format.setCurrentIndex(self.format.findData(format))
        self.word_times.setChecked(has_word_times(self._transcripts))

    def _build(self) -> None:
        self.setObjectName("export_dialog")
        self.setWindowTitle(self.tr("Export"))
        self._name(self.format, "export_format", self.tr("Format"))
        self._name(self.folder, "export_folder", self.tr("Folder"))
        self._name(self.template, "export_template", self.tr("File name"))
        self._name(self.word_times, "export_word_times", self.tr("Include the time of every word"))
        self._name(self.export_button, "export_button", self.tr("Export"))
        self._name(self.copy_button, "export_copy", self.tr("Copy as text"))
        self._name(self.show_button, "export_show", self.tr("Show in folder"))
        self.result_line.setObjectName("export_result")
        self.template.setToolTip(self.tr("May hold {name}, {language}, {model} and {date}."))
        self.preview.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        for label in (self.preview, self.result_line):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        choose = QPushButton(self.tr("C&hoose…"), self)
        self._name(choose, "export_choose", self.tr("Choose the folder"))
        choose.clicked.connect(self._choose_folder)
        where = QHBoxLayout()
        where.addWidget(self.folder, 1)
        where.addWidget(choose)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(10)
        form.addRow(self.tr("Recordings:"), self._subject())
        form.addRow(self.tr("&Format:"), self.format)
        form.addRow(self.tr("F&older:"), where)
        form.labelForField(where).setBuddy(self.folder)  # type: ignore[attr-defined]
        form.addRow(self.tr("File &name:"), self.template)
        form.addRow("", self.preview)
        form.addRow("", self.word_times)
        outcome = QHBoxLayout()
        outcome.addWidget(self.result_line, 1)
        outcome.addWidget(self.show_button, 0, Qt.AlignmentFlag.AlignTop)
        self.show_button.hide()
        policy = self.show_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.show_button.setSizePolicy(policy)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 14)
        column.setSpacing(14)
        column.addLayout(form)
        column.addStretch(1)
        column.addLayout(outcome)
        column.addWidget(self.buttons)
        self.export_button.setDefault(True)
        self.resize(38 * self.fontMetrics().height(), 0)
        self._fit()

    def _fit(self) -> None:
        """Grow until every wrapped line has its room."""
        needed = self._column.totalHeightForWidth(self.width())
        self.resize(self.width(), max(self.height(), needed))

    def _connect(self) -> None:
        self.buttons.accepted.connect(self._on_export)
        self.buttons.rejected.connect(self.reject)
        self.copy_button.clicked.connect(self._on_copy)
        self.show_button.clicked.connect(self._on_show)
        self.format.currentIndexChanged.connect(self._show_preview)
        self.folder.textChanged.connect(self._show_preview)
        self.template.textChanged.connect(self._show_preview)

    @property
    def _format(self) -> ExportFormat:
        return ExportFormat(self.format.currentData())

    @property
    def _folder(self) -> Path:
        return Path(self.folder.text().strip()).expanduser()

    def _subject(self) -> QLabel:
        names = [transcript.source for transcript in self._transcripts]
        text = ", ".join(names[:_MAX_NAMED])
        if len(names) > _MAX_NAMED:
            text = self.tr("{names} and {count} more").format(names=text, count=len(names) - _MAX_NAMED)
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label

    def _planned(self, taken: Sequence[str] = ()) -> list[Planned]:
        return plan(self._transcripts, self._format, self._folder, self.template.text(), taken=taken)

    def _show_preview(self) -> None:
        planned = self._planned()
        names = ", ".join(one.path.name for one in planned[:_MAX_NAMED])
        self.preview.setText(names + ("…" if len(planned) > _MAX_NAMED else ""))
        has_words = self._format is ExportFormat.JSON and has_word_times(self._transcripts)
        self.word_times.setEnabled(has_words)
        self.export_button.setEnabled(bool(planned) and bool(self.folder.text().strip()))

    def _choose_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("Choose the folder"), str(self._folder))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.folder.setText)
        dialog.open()

    def _on_export(self) -> None:
        planned = self._planned()
        there = existing(planned)
        if there:
            self._ask_about(planned, there)
        else:
            self._write(planned)

    def _ask_about(self, planned: list[Planned], there: list[Path]) -> None:
        """Ask once for all files that are there already."""
        box = QMessageBox(self)
        box.setObjectName("export_overwrite")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        if len(there) == 1:
            box.setText(self.tr("“{name}” is there already.").format(name=there[0].name))
        else:
            box.setText(self.tr("{count} of the files are there already.").format(count=len(there)))
            box.setDetailedText("\n".join(path.name for path in there))
        box.setInformativeText(self.tr("Overwriting cannot be undone."))
        overwrite = box.addButton(self.tr("&Overwrite"), QMessageBox.ButtonRole.DestructiveRole)
        both = box.addButton(self.tr("&Keep both"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(both)

        def on_clicked(button: QAbstractButton) -> None:
            if button is overwrite:
                self._write(planned)
            elif button is both:
                self._write(self._planned(taken=sorted(names_in(self._folder))))

        box.buttonClicked.connect(on_clicked)
        box.open()

    def _write(self, planned: list[Planned]) -> None:
        format = self._format
        with_word_times = self.word_times.isChecked()
        self.export_button.setEnabled(False)
        self.result_line.setText(self.tr("Saving…"))
        self.show_button.hide()
        self._background.run(
            lambda: write_all(planned, format, with_word_times=with_word_times), self._on_written
        )

    def _on_written(self, outcome: Outcome) -> None:
        self.export_button.setEnabled(True)
        lines = [self._failure_line(*failed) for failed in outcome.failed]
        if outcome.written:
            lines.insert(0, self._success_line(outcome.written))
            self._last = outcome.written[0]
            self.exported.emit(self._format.value, str(self._folder))
        self.show_button.setVisible(bool(outcome.written))
        self._say("\n".join(lines))

    def _success_line(self, written: Sequence[Path]) -> str:
        if len(written) == 1:
            return self.tr("“{name}” is saved.").format(name=written[0].name)
        folder = written[0].parent.name or str(written[0].parent)
        return self.tr("{count} files are saved in “{folder}”.").format(count=len(written), folder=folder)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(plain_text(self._transcripts))
        self.show_button.hide()
        self._say(self.tr("The text is copied."))

    def _on_show(self) -> None:
        if self._last is not None and not self._show_in_folder(self._last):
            self._say(self.tr("The folder could not be opened: {path}").format(path=self._last.parent))

    def _say(self, text: str) -> None:
        self.result_line.setText(text)
        self.result_line.setAccessibleName(text)
        self._fit()

    def _name(self, widget: QWidget, object_name: str, name: str) -> None:
        widget.setObjectName(object_name)
        widget.setAccessibleName(name)

    def _formats(self) -> dict[ExportFormat, str]:
        return {
            ExportFormat.TXT: self.tr("Text (.txt)"),
            ExportFormat.SRT: self.tr("Subtitles: SubRip (.srt)"),
            ExportFormat.VTT: self.tr("Subtitles: WebVTT (.vtt)"),
            ExportFormat.JSON: self.tr("Everything, for programs: JSON (.json)"),
        }

    def _failure_line(self, name: str, trouble: Trouble, detail: str) -> str:
        match trouble:
            case Trouble.NOT_ALLOWED:
                text = self.tr("“{name}” may not be written there. Choose another folder.")
            case Trouble.FOLDER_MISSING:
                text = self.tr("“{name}” was not saved: the folder is not there. Choose another one.")
            case Trouble.DISK_FULL:
                text = self.tr("“{name}” was not saved: the disk is full.")
            case Trouble.OTHER:
                text = self.tr("“{name}” could not be saved ({detail}). Choose another folder or name.")
            case _:
                assert_never(trouble)
        return text.format(name=name, detail=detail)
