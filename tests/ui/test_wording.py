"""How things are written for people."""

from __future__ import annotations

import msgspec
import pytest

from app.desk import Row
from app.library import Recording, RowState
from app.ui.wording import language_label, language_names, plain, spoken, state_line
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options

QUEUED = Recording(
    id=1,
    path="/a/talk.wav",
    name="talk.wav",
    state=RowState.QUEUED,
    position=0,
    options=Options(),
    added_at=0.0,
)


def recording(state: RowState, **fields: object) -> Recording:
    return msgspec.structs.replace(QUEUED, state=state, **fields)


def test_a_language_is_offered_by_its_own_name_first() -> None:
    assert language_label("ko") == "한국어 – Korean"
    assert language_label("en") == "English"


@pytest.mark.parametrize("code", ["jw", "haw", "yue", "no", "ba", "su", "tl"])
def test_rare_languages_have_real_names(code: str) -> None:
    english, native = language_names(code)
    assert english != code
    assert native


def test_an_unknown_language_is_shown_as_it_is() -> None:
    assert language_names("zz") == ("zz", "zz")


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (Row(recording=QUEUED), "Waiting"),
        (Row(recording=recording(RowState.RUNNING)), "Starting…"),
        (Row(recording=recording(RowState.RUNNING), fraction=0.42), "42 %"),
        (
            Row(recording=recording(RowState.RUNNING), fraction=0.42, remaining_s=180),
            "42 % · about 3 min left",
        ),
        (Row(recording=recording(RowState.DONE, duration=754.0, language="ko")), "12:34 · 한국어"),
        (Row(recording=recording(RowState.CANCELLED)), "Cancelled"),
        (Row(recording=recording(RowState.CANCELLED, stored_until=65.0)), "Stopped at 1:05"),
    ],
)
def test_the_second_line_says_what_a_row_does(row: Row, line: str) -> None:
    assert state_line(row) == line


def test_a_reason_does_not_repeat_the_name_above_it() -> None:
    failed = recording(RowState.FAILED, failure=failure(FailureKind.NO_AUDIO, "talk.wav"))
    assert state_line(Row(recording=failed)) == "Has no sound in it."
    of_model = recording(RowState.FAILED, failure=failure(FailureKind.MODEL_IS_ALIGNER, "Aligner"))
    assert state_line(Row(recording=of_model)).startswith("“Aligner” finds")


def test_a_screen_reader_hears_name_and_state() -> None:
    assert spoken(Row(recording=QUEUED)) == "talk.wav, Waiting"


@pytest.mark.parametrize("text", ["&Open…", "Open", "O&pen"])
def test_a_plain_name_has_no_mnemonic(text: str) -> None:
    assert plain(text) == "Open"


def test_a_korean_mnemonic_goes_with_its_brackets() -> None:
    assert plain("열기(&O)…") == "열기"
