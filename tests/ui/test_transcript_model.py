"""What the rows of a transcript hold."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.ui.edits import CorrectText
from app.ui.transcript_model import TranscriptModel, TranscriptRole
from engine.protocol.transcript import TimeSource
from tests.helpers.segments import stored, stored_all

_SPOKEN = Qt.ItemDataRole.AccessibleTextRole


def _model(texts: list[str]) -> TranscriptModel:
    model = TranscriptModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    assert tester.model() is model
    model.set_segments(stored_all(texts))
    return model


def test_rows_show_text_without_the_space_before_it(qapp: object) -> None:
    assert _model([" Hello."]).index(0).data() == "Hello."


def test_the_tail_is_the_last_row_and_segments_go_before_it(qapp: object) -> None:
    model = _model(["a"])
    model.set_tail(" being heard")
    assert model.rowCount() == 2
    assert model.add(stored(1, "b")) == 1
    assert [model.text(row) for row in range(3)] == ["a", "b", "being heard"]
    model.set_tail("being heard differently")
    assert model.index(2).data() == "being heard differently"
    model.set_tail("")
    assert model.rowCount() == 2


def test_a_late_segment_goes_where_its_time_is(qapp: object) -> None:
    model = _model(["a", "b"])
    assert model.add(stored(7, "between", start=1.0)) == 1
    assert list(model.starts) == [0.0, 1.0, 2.0]


def test_the_tail_cannot_be_edited(qapp: object) -> None:
    model = _model(["a"])
    model.set_tail("soon")
    assert model.index(0).flags() & Qt.ItemFlag.ItemIsEditable
    assert not model.index(1).flags() & Qt.ItemFlag.ItemIsEditable
    assert not model.setData(model.index(1), "no")


def test_a_screen_reader_hears_the_time_the_doubt_and_the_text(qapp: object) -> None:
    model = TranscriptModel()
    model.set_segments([stored(0, " Sure."), stored(31, " Maybe.", is_suspect=True)])
    model.set_tail("Soon")
    assert model.index(0).data(_SPOKEN) == "0:00, Sure."
    assert model.index(1).data(_SPOKEN) == "1:02, uncertain: Maybe."
    assert model.index(2).data(_SPOKEN) == "Being recognised: Soon"
    guessed = msgspec.structs.replace(stored(1, " So."), time_source=TimeSource.INTERPOLATED)
    model.set_segments([guessed])
    assert model.index(0).data(_SPOKEN) == "about 0:02, So."


def test_a_correction_keeps_the_space_that_joins_segments_and_ends_the_doubt(
    qapp: object, qtbot: QtBot
) -> None:
    model = TranscriptModel()
    model.set_segments([stored(0, " Helo.", is_suspect=True)])
    with qtbot.wait_signal(model.corrected) as told:
        model.correct(100, "Hello.")
    assert told.args == [100, " Hello."]
    assert not model.index(0).data(TranscriptRole.IS_SUSPECT)


def test_undoing_a_correction_brings_the_doubt_back(qapp: object) -> None:
    model = TranscriptModel()
    model.set_segments([stored(0, " Helo.", is_suspect=True)])
    step = CorrectText(model, 0, "Hello.")
    step.redo()
    step.undo()
    assert model.segments[0].text == " Helo."
    assert model.index(0).data(TranscriptRole.IS_SUSPECT)


def test_a_segment_is_not_emptied_by_mistake(qapp: object) -> None:
    model = _model(["a"])
    assert not model.setData(model.index(0), "   ")
    assert not model.setData(model.index(0), "a")


def test_a_segment_that_is_gone_is_not_corrected(qapp: object) -> None:
    assert _model(["a"]).correct(999, "b") is None
