"""Shows what a report of a problem holds, to be read before it is saved; nothing is sent from here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontDatabase, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.report import Entry, report_name, write_report
from app.texts import size
from app.ui.background import Background
from app.ui.reveal import reveal
from engine.protocol.events import Diagnosis, Event, JobFailed
from engine.protocol.requests import JobId

Facts = Sequence[tuple[str, str]]

_PATIENCE_MS: Final = 4000
"""With an engine that may be the very thing that is broken."""
_SIZE: Final = (760, 520)
_LIST_WIDTH: Final = 210


class ReportDialog(QDialog):
    """The report's files on the left, what stands in them on the right."""

    def __init__(
        self,
        make: Callable[[Facts], Sequence[Entry]],
        ask_engine: Callable[[], JobId],
        *,
        folder: Path,
        show_in_folder: Callable[[Path], bool] = reveal,
        parent: QWidget | None = None,
    ) -> None:
        """`make` is called on another thread, with what the engine says of itself."""
        super().__init__(parent)
        self._make = make
        self._folder = folder
        self._show_in_folder = show_in_folder
        self._background = Background(self)
        self._entries: Sequence[Entry] = ()
        self._saved: Path | None = None
        self._is_asked = True
        self.names = QListWidget()
        self.content = QPlainTextEdit()
        self.result_line = QLabel()
        self.show_button = QPushButton(self.tr("Show in &folder"))
        self.buttons = QDialogButtonBox()
        self.save_button = self.buttons.addButton(
            self.tr("&Save the report…"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.close_button = self.buttons.addButton(QDialogButtonBox.StandardButton.Close)
        self._build()
        self._connect()
        self._job = ask_engine()
        QTimer.singleShot(_PATIENCE_MS, self, lambda: self._collect(()))

    @property
    def entries(self) -> Sequence[Entry]:
        """What the report holds; empty until it is collected."""
        return self._entries

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in the engine's answer."""
        for event in events:
            match event:
                case Diagnosis(job=self._job, facts=facts):
                    self._collect(facts)
                case JobFailed(job=self._job):
                    self._collect(())
                case _:
                    pass

    def done(self, result: int) -> None:
        """Close, and forget what is being collected."""
        self._background.close()
        super().done(result)

    def save(self, path: str) -> None:
        """Write the report to `path`."""
        target = Path(path)
        try:
            write_report(self._entries, target)
        except OSError as error:
            self._say(
                self.tr("“{name}” could not be saved: {reason}").format(
                    name=target.name, reason=error.strerror or ""
                )
            )
            return
        self._saved = target
        self.show_button.show()
        self._say(self.tr("“{name}” is saved. Attach it to your message.").format(name=target.name))

    def _build(self) -> None:
        self.setObjectName("report_dialog")
        self.setWindowTitle(self.tr("Report a problem"))
        self.resize(*_SIZE)
        intro = QLabel(
            self.tr(
                "This is everything the report holds: no sound, no words, no names of recordings. "
                "Read it, save it, and send it where you ask for help. Jamak itself sends nothing."
            )
        )
        intro.setObjectName("report_intro")
        intro.setWordWrap(True)
        self._name(self.names, "report_files", self.tr("Files of the report"))
        self._name(self.content, "report_content", self.tr("Content"))
        self._name(self.save_button, "report_save", self.tr("Save the report"))
        self._name(self.show_button, "report_show", self.tr("Show in folder"))
        self.content.setReadOnly(True)
        self.content.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.content.setTabChangesFocus(True)
        self.content.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.result_line.setObjectName("report_result")
        self.result_line.setTextFormat(Qt.TextFormat.PlainText)
        self.result_line.setWordWrap(True)
        self.result_line.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.save_button.setEnabled(False)
        self.save_button.setDefault(True)
        self.show_button.hide()
        sides = QSplitter(Qt.Orientation.Horizontal)
        sides.setChildrenCollapsible(False)
        sides.addWidget(self.names)
        sides.addWidget(self.content)
        sides.setSizes([_LIST_WIDTH, _SIZE[0] - _LIST_WIDTH])
        outcome = QHBoxLayout()
        outcome.addWidget(self.result_line, 1)
        outcome.addWidget(self.show_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 14)
        column.setSpacing(12)
        column.addWidget(intro)
        column.addWidget(sides, 1)
        column.addLayout(outcome)
        column.addWidget(self.buttons)
        self._say(self.tr("Collecting…"))

    def _connect(self) -> None:
        self.names.currentRowChanged.connect(self._show_entry)
        self.buttons.rejected.connect(self.reject)
        self.buttons.accepted.connect(self._ask_where)
        self.show_button.clicked.connect(self._on_show)

    def _collect(self, facts: Facts) -> None:
        """Make the report once, with whichever comes first: an answer, or the end of our patience."""
        if self._is_asked:
            self._is_asked = False
            self._background.run(lambda: self._make(facts), self._on_made)

    def _on_made(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.names.clear()
        for entry in entries:
            self.names.addItem(f"{entry.name}  ({size(len(entry.text.encode()))})")
        self.names.setCurrentRow(0)
        self.names.setFocus()
        self.save_button.setEnabled(True)
        self._say("")

    def _show_entry(self, row: int) -> None:
        if 0 <= row < len(self._entries):
            self.content.setPlainText(self._entries[row].text)

    def _ask_where(self) -> None:
        dialog = QFileDialog(self, self.tr("Save the report"), str(self._folder), self.tr("ZIP (*.zip)"))
        dialog.setObjectName("report_where")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("zip")
        dialog.selectFile(report_name(datetime.now().astimezone()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.save)
        dialog.open()

    def _on_show(self) -> None:
        if self._saved is not None and not self._show_in_folder(self._saved):
            self._say(self.tr("The folder could not be opened: {path}").format(path=self._saved.parent))

    def _say(self, text: str) -> None:
        self.result_line.setText(text)
        self.result_line.setAccessibleName(text)

    def _name(self, widget: QWidget, object_name: str, name: str) -> None:
        widget.setObjectName(object_name)
        widget.setAccessibleName(name)
