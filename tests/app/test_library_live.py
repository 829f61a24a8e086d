"""What the library keeps of recordings beside their text, and that older libraries learn to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.capture.notices import Mark, MarkKind
from app.library import Library, RowKind, RowState, connect
from app.library_schema import bring_up_to_date
from engine.protocol.transcript import Options, TimeSource
from tests.helpers.engine_stories import segment


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.db")
    yield library
    library.close()


def test_only_the_latest_unfinished_text_is_kept(library: Library) -> None:
    row = library.add("/r.wav", Options(), kind=RowKind.LIVE, state=RowState.RECORDING)
    assert library.live.unfinished(row.id) is None
    library.live.keep_unfinished(row.id, segment(" One", 0.0, 0.5))
    library.live.keep_unfinished(row.id, segment(" One two", 0.0, 0.9))
    assert library.live.unfinished(row.id) == segment(" One two", 0.0, 0.9)
    library.live.keep_unfinished(row.id, None)
    assert library.live.unfinished(row.id) is None


def test_marks_come_back_in_time_order(library: Library) -> None:
    row = library.add("/r.wav", Options(), kind=RowKind.LIVE, state=RowState.RECORDING)
    gap = Mark(kind=MarkKind.GAP, start=1.0, end=2.5)
    pause = Mark(kind=MarkKind.PAUSE, start=0.5, end=0.5)
    library.live.add_marks(row.id, [gap])
    library.live.add_marks(row.id, [pause])
    assert library.live.marks(row.id) == [pause, gap]


def test_kind_and_state_survive_a_restart(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.db")
    library.add("/r.wav", Options(), kind=RowKind.LIVE, state=RowState.RECORDING)
    library.add("/f.wav", Options())
    library.close()
    again = Library(tmp_path / "library.db")
    rows = [(row.kind, row.state) for row in again.recordings()]
    again.close()
    assert rows == [(RowKind.LIVE, RowState.RECORDING), (RowKind.FILE, RowState.QUEUED)]


def test_a_library_from_before_recordings_is_upgraded_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    library = Library(path)
    row = library.add("/f.wav", Options())
    library.add_segment(row.id, segment(" kept", 0.0, 1.0))
    library.close()
    with closing(connect(path)) as connection:
        for statement in (
            "ALTER TABLE recordings DROP COLUMN kind",
            "DROP TABLE unfinished",
            "DROP TABLE marks",
            "PRAGMA user_version = 1",
        ):
            connection.execute(statement)
        bring_up_to_date(connection, path.stat().st_size)
    again = Library(path)
    assert again.opened.set_aside is None
    (there,) = again.recordings()
    assert there.kind is RowKind.FILE
    assert [s.text for s in again.segments(there.id)] == [" kept"]
    again.close()


def test_times_by_attention_are_no_longer_called_aligned(tmp_path: Path) -> None:
    """Until there was an aligner, that word stood for what the model's attention says."""
    path = tmp_path / "library.db"
    library = Library(path)
    row = library.add("/f.wav", Options())
    text = ' "time_source":"aligned"'
    library.add_segment(row.id, segment(text, 0.0, 1.0))
    library.close()
    with closing(connect(path)) as connection:
        connection.execute(
            """UPDATE segments SET recognised =
            replace(recognised, '"time_source":"model"', '"time_source":"aligned"')"""
        )
        connection.execute("PRAGMA user_version = 2")
    again = Library(path)
    (stored,) = again.segments(row.id)
    assert (stored.text, stored.time_source) == (text, TimeSource.MODEL)
    assert again.recognised_text(stored.id) == text
    again.close()
