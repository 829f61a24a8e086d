"""The middle of the window: whose transcript this is, what is wrong with it, and the transcript itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.capture.notices import Mark
from app.changes import ChangeKind, DeskChange
from app.desk import Desk, Row
from app.library import Library, RowKind, RowState, StoredSegment
from app.texts import failure_text
from app.ui.background import Background
from app.ui.elided_label import ElidedLabel
from app.ui.mark_line import MarkLine
from app.ui.row_actions import keeps_transcript
from app.ui.transcript_view import TranscriptView
from app.ui.version_bar import VersionBar
from app.ui.wording import language_names, state_line
from engine.protocol.failures import FailureKind
from engine.protocol.transcript import Task

_CERTAIN: Final = 0.95
_OPEN: Final = (RowState.RECORDING, RowState.QUEUED, RowState.RUNNING)


class TranscriptPage(QWidget):
    """One recording.

    Signals: `retry_requested(id)`, `other_model_requested(id)`, `locate_requested(id)`.
    """

    retry_requested = Signal(int)
    other_model_requested = Signal(int)
    locate_requested = Signal(int)

    def __init__(
        self, desk: Desk, library: Library, background: Background, model_name: Callable[[str], str]
    ) -> None:
        """`model_name` gives the name of a model by its key."""
        super().__init__()
        self.setObjectName("transcript_page")
        self._model_name = model_name
        self._desk = desk
        self._library = library
        self._background = background
        self._id: int | None = None
        self._late: list[StoredSegment] | None = None
        """Segments that came while the stored ones were being read; None when nothing is being read."""
        self._live_text: tuple[int, str, str] | None = None
        """Of the recording that grows, whichever is shown: its id, confirmed text in no segment, tail."""
        self._show_when_read: int | None = None
        self._num_reads = 0
        self.view = TranscriptView()
        self.versions = VersionBar(model_name)
        self._name = ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self._name.setObjectName("recording_name")
        font = self._name.font()
        font.setBold(True)
        self._name.setFont(font)
        self._facts = ElidedLabel(Qt.TextElideMode.ElideRight)
        self._facts.setObjectName("recording_facts")
        self._facts.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._marks = MarkLine()
        self._build()

    @property
    def recording_id(self) -> int | None:
        """Whose transcript is shown."""
        return self._id

    @property
    def is_read(self) -> bool:
        """Whether everything stored of the recording is shown."""
        return self._late is None

    @property
    def is_recording(self) -> bool:
        """Whether what is shown is being recorded."""
        row = self._row()
        return row is not None and row.recording.state is RowState.RECORDING

    def show_recording(self, recording_id: int | None, segment_id: int | None = None) -> None:
        """Show a recording's transcript, and one of its segments in the middle of the screen."""
        if recording_id is not None and recording_id == self._id:
            if segment_id is not None and self._late is None:
                self.view.show_segment(segment_id)
            else:
                self._show_when_read = segment_id
            return
        self._id = recording_id
        self._show_when_read = segment_id
        self.view.set_segments([])
        self._show_row()
        self._show_versions()
        self._marks.show_marks([])
        if recording_id is not None:
            self._read(recording_id)
            self._read_marks(recording_id)

    def show_live_text(self, recording_id: int, confirmed: str, tail: str) -> None:
        """Show what follows the stored segments of a recording that grows, if it is this one."""
        self._live_text = (recording_id, confirmed, tail)
        if recording_id == self._id and self._late is None and self.is_recording:
            self.view.set_tail(tail, confirmed)

    def show_names(self) -> None:
        """Name models anew: more is known of them."""
        self._show_facts()
        self._show_versions()

    def apply(self, change: DeskChange) -> None:
        """Take over one change of the desk."""
        if change.kind in (ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.ROW):
            self._show_versions()
        if self._id is None or change.recording_id != self._id:
            return
        match change.kind:
            case ChangeKind.SEGMENT if change.segment is not None:
                self._append(change.segment)
            case ChangeKind.TAIL if self._late is None and not self.is_recording:
                self.view.set_tail(change.text)
            case ChangeKind.CLEARED:
                self._num_reads += 1
                self._late = None
                self.view.set_segments([], is_streaming=True)
            case ChangeKind.ROW:
                self._show_row()
                self._read_marks(self._id)
            case ChangeKind.PROGRESS:
                self._show_facts()
            case _:
                pass

    def _read(self, recording_id: int) -> None:
        self._num_reads += 1
        number = self._num_reads
        self._late = []

        def show(segments: list[StoredSegment]) -> None:
            if number == self._num_reads:
                self._on_read(segments)

        self._background.run(lambda: self._library.segments(recording_id), show)

    def _on_read(self, segments: list[StoredSegment]) -> None:
        late, self._late = self._late or [], None
        known = {segment.id for segment in segments}
        row = self._row()
        is_running = row is not None and row.recording.state in (RowState.RECORDING, RowState.RUNNING)
        self.view.set_segments(
            [*segments, *(segment for segment in late if segment.id not in known)], is_streaming=is_running
        )
        if row is not None and is_running:
            self.view.set_tail(row.tail)
        if self._live_text is not None:
            self.show_live_text(*self._live_text)
        if self._show_when_read is not None:
            self.view.show_segment(self._show_when_read)
            self._show_when_read = None

    def _read_marks(self, recording_id: int) -> None:
        """Show the marked places of a recording of ours, whichever version of its text this is."""
        rows = [row.recording for row in self._desk.versions(recording_id)]
        recorded = [row.id for row in rows if row.kind is RowKind.LIVE]
        if not recorded:
            return

        def show(marks: list[Mark]) -> None:
            if recording_id == self._id:
                self._marks.show_marks(marks)

        self._background.run(lambda: self._library.live.marks(recorded[0]), show)

    def _append(self, segment: StoredSegment) -> None:
        if self._late is None:
            self.view.append_segment(segment)
        else:
            self._late.append(segment)

    def _row(self) -> Row | None:
        return self._desk.row(self._id) if self._id is not None else None

    def _show_row(self) -> None:
        row = self._row()
        self._show_facts()
        if row is None:
            self._trouble.hide()
            return
        self._name.setText(row.recording.name)
        self._name.setToolTip(row.recording.path)
        self._show_trouble(row)
        self.view.set_empty_text(self._empty_text(row))
        if row.recording.state not in _OPEN and self._late is None:
            self.view.set_tail("")
            self.view.end_streaming()

    def _show_versions(self) -> None:
        if self._id is not None:
            self.versions.show_versions([row.recording for row in self._desk.versions(self._id)], self._id)

    def _show_facts(self) -> None:
        row = self._row()
        self._facts.setText(self._facts_of(row) if row else "")

    def _facts_of(self, row: Row) -> str:
        recording = row.recording
        parts = [state_line(row)] if recording.state in _OPEN or recording.state is RowState.DONE else []
        if recording.language and recording.state is not RowState.DONE:
            parts.append(language_names(recording.language)[1])
        if recording.options.language is None and recording.language_probability is not None:
            parts.append(self._certainty(recording.language_probability))
        if recording.options.task is Task.TRANSLATE:
            parts.append(self.tr("translated to English"))
        parts.append(self._model_name(recording.model or recording.options.model))
        return " · ".join(parts)

    def _certainty(self, probability: float) -> str:
        if probability >= _CERTAIN:
            return self.tr("detected")
        return self.tr("detected, %1 % sure").replace("%1", str(round(100 * probability)))

    def _empty_text(self, row: Row) -> str:
        match row.recording.state:
            case RowState.QUEUED:
                return self.tr("Waiting for its turn")
            case RowState.RECORDING | RowState.RUNNING:
                return self.tr("Listening…")
            case RowState.DONE:
                return self.tr("No speech was heard in this recording.")
            case RowState.FAILED | RowState.CANCELLED:
                return ""

    def _show_trouble(self, row: Row) -> None:
        """Say why a row has failed or was stopped, and offer what helps."""
        recording = row.recording
        has_trouble = recording.state in (RowState.FAILED, RowState.CANCELLED)
        self._trouble.setVisible(has_trouble)
        if not has_trouble:
            return
        sentence, remedy = state_line(row), ""
        if recording.state is RowState.FAILED and recording.failure is not None:
            sentence, remedy = failure_text(recording.failure)
        self._reason.setText(sentence)
        self._remedy.setText(remedy)
        self._remedy.setVisible(bool(remedy))
        self._trouble.setAccessibleName(f"{sentence} {remedy}".strip())
        is_missing = recording.failure is not None and recording.failure.kind is FailureKind.NOT_FOUND
        self._locate.setVisible(is_missing)
        self._other.setVisible(not keeps_transcript(recording))

    def _build(self) -> None:
        self._trouble = QFrame()
        self._trouble.setObjectName("trouble")
        self._reason = QLabel()
        self._reason.setObjectName("trouble_reason")
        self._remedy = QLabel()
        self._remedy.setObjectName("trouble_remedy")
        self._remedy.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        for label in (self._reason, self._remedy):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._retry = self._button("trouble_retry", self.tr("Retry"), self.retry_requested)
        self._other = self._button(
            "trouble_other_model", self.tr("Retry with another model…"), self.other_model_requested
        )
        self._locate = self._button("trouble_locate", self.tr("Locate the file…"), self.locate_requested)
        buttons = QHBoxLayout()
        for button in (self._retry, self._other, self._locate):
            buttons.addWidget(button)
        buttons.addStretch()
        inside = QVBoxLayout(self._trouble)
        inside.setContentsMargins(14, 12, 14, 12)
        inside.addWidget(self._reason)
        inside.addWidget(self._remedy)
        inside.addSpacing(4)
        inside.addLayout(buttons)
        title = QVBoxLayout()
        title.setSpacing(2)
        title.addWidget(self._name)
        title.addWidget(self._facts)
        title.addWidget(self._marks)
        header = QHBoxLayout()
        header.setContentsMargins(16, 10, 16, 8)
        header.setSpacing(10)
        header.addLayout(title, 1)
        header.addWidget(self.versions, 0, Qt.AlignmentFlag.AlignTop)
        around = QVBoxLayout()
        around.setContentsMargins(16, 0, 16, 10)
        around.addWidget(self._trouble)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(header)
        column.addLayout(around)
        column.addWidget(self.view, 1)

    def _button(self, name: str, text: str, told: object) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.clicked.connect(lambda: told.emit(self._id))  # type: ignore[attr-defined]
        return button
