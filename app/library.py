"""Recordings, the queue's rows and every transcript, in one SQLite database.

This file, `library_live` and those that open it (`library_opening`, `library_rescue`, `library_schema`)
are the only ones with SQL.
"""

from __future__ import annotations

import itertools
import logging
import os
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from app import search_text
from app.library_live import LiveNotes
from app.library_opening import open_database, suspect
from app.library_rows import Recording, RowKind, RowState, SearchHit, StoredSegment
from app.library_schema import connect
from app.writer import Writer, storage_failure
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.transcript import Options, Segment, TimeSource, Transcript, Word

__all__ = ["Library", "Recording", "RowKind", "RowState", "SearchHit", "StoredSegment", "connect"]

log = logging.getLogger(__name__)

_RECORDING: Final = """SELECT r.*, (SELECT s.end_s FROM segments s WHERE s.recording_id = r.id
    ORDER BY s.number DESC LIMIT 1) AS stored_until FROM recordings r"""
_STORE: Final = """UPDATE recordings SET path = :path, same_file = :same_file, name = :name, state = :state,
    options = :options, model = :model, language = :language, language_probability = :language_probability,
    duration = :duration, ended_at = :ended_at, failure = :failure, file_size = :file_size,
    file_mtime_ns = :file_mtime_ns, deaths = :deaths, starts_over = :starts_over WHERE id = :id"""


class Library:
    """The database: one writer thread, reads from any thread.

    Every writing method returns when its change is committed, except `add_segment`, which queues
    (a segment is written within milliseconds, and always before any later change). Reads see all
    changes made before them. Segments that cannot be written are kept in memory and tried again
    with every change; `trouble` says why. The other writing methods raise FailureError then.
    """

    def __init__(self, path: Path, *, connect: Callable[[Path], sqlite3.Connection] = connect) -> None:
        """Open or create; a damaged database is set aside. Raises FailureError (not_readable, disk_full)."""
        self._path = path
        self._connect_to = connect
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.opened: Final = open_database(path, connect)
        except OSError as error:
            raise FailureError(failure(FailureKind.NOT_READABLE, path.name, str(error))) from error
        except sqlite3.Error as error:
            raise FailureError(storage_failure(error, path.name)) from error
        self._segment_ids = itertools.count(self.opened.last_segment_id + 1)
        self._next_numbers: dict[int, int] = {}
        self._writer = Writer(self._connect, path.name)
        self.live = LiveNotes(self._writer, self._read)
        """What is known of our own recordings beside their text."""

    @property
    def trouble(self) -> Failure | None:
        """Why segments wait to be written; None when all are."""
        return self._writer.trouble

    def add(
        self,
        path: str,
        options: Options,
        *,
        kind: RowKind = RowKind.FILE,
        state: RowState = RowState.QUEUED,
    ) -> Recording:
        """Append a row, queued if nothing else is said."""
        values = {
            "path": path,
            "same_file": _same_file(path),
            "name": unicodedata.normalize("NFC", Path(path).name),
            "kind": kind.value,
            "state": state.value,
            "options": _to_json(options),
            "added_at": time.time(),
        }

        def insert(connection: sqlite3.Connection) -> Recording:
            cursor = connection.execute(
                """INSERT INTO recordings (path, same_file, name, kind, state, options, added_at, position)
                VALUES (:path, :same_file, :name, :kind, :state, :options, :added_at,
                    (SELECT COALESCE(MAX(position), 0) + 1 FROM recordings))""",
                values,
            )
            return _one(connection, cursor.lastrowid)

        return self._writer.call(insert)

    def recordings(self) -> list[Recording]:
        """All rows that are not removed, by position."""
        return [
            _recording(row) for row in self._read(f"{_RECORDING} WHERE removed_at IS NULL ORDER BY position")
        ]

    def recording(self, recording_id: int) -> Recording | None:
        """The row, also when removed; None once it is purged."""
        rows = self._read(f"{_RECORDING} WHERE r.id = ?", recording_id)
        return _recording(rows[0]) if rows else None

    def paths(self) -> list[str]:
        """The files of all rows, also of removed ones."""
        return [row["path"] for row in self._read("SELECT path FROM recordings")]

    def find_same(self, path: str) -> Recording | None:
        """The newest row (not removed) of the same file."""
        found = self._read(
            f"{_RECORDING} WHERE same_file = ? AND removed_at IS NULL ORDER BY r.id DESC LIMIT 1",
            _same_file(path),
        )
        return _recording(found[0]) if found else None

    def update(self, recording: Recording) -> None:
        """Store every field of a row except `position` and `stored_until`."""
        values = msgspec.structs.asdict(recording)
        values |= {
            "same_file": _same_file(recording.path),
            "state": recording.state.value,
            "options": _to_json(recording.options),
            "failure": _to_json(recording.failure) if recording.failure else None,
        }
        self._writer.call(lambda connection: connection.execute(_STORE, values).rowcount)

    def set_state(self, recording_id: int, state: RowState, failure: Failure | None = None) -> Recording:
        """Store a row's new state and return the row. Raises KeyError."""
        recording = self.recording(recording_id)
        if recording is None:
            raise KeyError(recording_id)
        changed = msgspec.structs.replace(recording, state=state, failure=failure)
        self.update(changed)
        return changed

    def reorder(self, recording_ids: Sequence[int]) -> None:
        """Give these rows the places they hold together, in this order."""

        def move(connection: sqlite3.Connection) -> None:
            places = sorted(_one(connection, i).position for i in recording_ids)
            pairs = zip(places, recording_ids, strict=True)
            connection.executemany("UPDATE recordings SET position = ? WHERE id = ?", pairs)

        self._writer.call(move)

    def remove(self, recording_ids: Iterable[int]) -> None:
        """Hide rows; their files are never touched. Purged for good a week later."""
        self._set_removed(recording_ids, time.time())

    def restore(self, recording_ids: Iterable[int]) -> None:
        """Undo `remove`."""
        self._set_removed(recording_ids, None)

    def add_segment(self, recording_id: int, segment: Segment) -> StoredSegment:
        """Append a segment to a row; returns at once."""
        if recording_id not in self._next_numbers:
            query = "SELECT COALESCE(MAX(number) + 1, 0) FROM segments WHERE recording_id = ?"
            self._next_numbers[recording_id] = self._read(query, recording_id)[0][0]
        number = self._next_numbers[recording_id]
        self._next_numbers[recording_id] += 1
        values = (next(self._segment_ids), recording_id, number, segment.start, segment.end, segment.text)
        stored = (*values, search_text.fold(segment.text), _to_json(segment))
        self._writer.post(
            lambda connection: connection.execute(
                """INSERT INTO segments (id, recording_id, number, start_s, end_s, text, folded, recognised)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                stored,
            )
        )
        return StoredSegment(
            id=values[0],
            recording_id=recording_id,
            index=number,
            start=segment.start,
            end=segment.end,
            text=segment.text,
            words=segment.words,
            is_suspect=segment.is_suspect,
            time_source=segment.time_source,
        )

    def clear_segments(self, recording_id: int) -> None:
        """Forget a row's transcript: it is made anew."""
        self._writer.call(
            lambda connection: connection.execute(
                "DELETE FROM segments WHERE recording_id = ?", (recording_id,)
            )
        )
        self._next_numbers.pop(recording_id, None)

    def segments(self, recording_id: int) -> list[StoredSegment]:
        """A row's segments in time order."""
        rows = self._read("SELECT * FROM segments WHERE recording_id = ? ORDER BY number", recording_id)
        return [_stored_segment(row) for row in rows]

    def edit_segment(self, segment_id: int, text: str) -> StoredSegment:
        """Correct a segment's text; the recognised text is kept. Raises KeyError for an unknown id."""

        def edit(connection: sqlite3.Connection) -> StoredSegment:
            is_edited = text != _recognised(_segment_row(connection, segment_id)).text
            connection.execute(
                "UPDATE segments SET text = ?, folded = ?, is_edited = ? WHERE id = ?",
                (text, search_text.fold(text), int(is_edited), segment_id),
            )
            return _stored_segment(_segment_row(connection, segment_id))

        return self._writer.call(edit)

    def recognised_text(self, segment_id: int) -> str:
        """What the model wrote, before any correction. Raises KeyError for an unknown id."""
        self._writer.settle()
        with closing(self._connect()) as connection:
            return _recognised(_segment_row(connection, segment_id)).text

    def transcript(self, recording_id: int) -> Transcript:
        """A row's transcript with its corrections, ready to be exported. Raises KeyError."""
        recording = self.recording(recording_id)
        if recording is None:
            raise KeyError(recording_id)
        rows = self._read("SELECT * FROM segments WHERE recording_id = ? ORDER BY number", recording_id)
        segments = tuple(msgspec.structs.replace(_recognised(row), text=row["text"]) for row in rows)
        return Transcript(
            segments=segments,
            language=recording.language,
            language_probability=recording.language_probability,
            duration=recording.duration,
            model=recording.model or recording.options.model,
            task=recording.options.task,
            source=recording.name,
        )

    def search(self, query: str, limit: int = 200) -> list[SearchHit]:
        """Segments that hold every word of `query`, anywhere in a word, newest recording first."""
        wanted = search_text.terms(query)
        if not wanted:
            return []
        conditions, values = _search_conditions(wanted)
        rows = self._read(
            f"""SELECT s.id, s.recording_id, s.start_s, s.text, r.name FROM segments s
            JOIN recordings r ON r.id = s.recording_id WHERE r.removed_at IS NULL AND {conditions}
            ORDER BY r.id DESC, s.number LIMIT ?""",
            *values,
            limit,
        )
        return [_hit(row, wanted) for row in rows]

    def flush(self) -> None:
        """Return when everything is committed; raises FailureError where it cannot be."""
        self._writer.settle()
        if (trouble := self._writer.trouble) is not None:
            raise FailureError(trouble)

    def close(self) -> None:
        """Commit what waits and end the writer; idempotent."""
        self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        return self._connect_to(self._path)

    def _read(self, query: str, *values: object) -> list[sqlite3.Row]:
        self._writer.settle()
        try:
            with closing(self._connect()) as connection:
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            if (trouble := storage_failure(error, self._path.name)).kind is FailureKind.LIBRARY_DAMAGED:
                suspect(self._path)
            raise FailureError(trouble) from error

    def _set_removed(self, recording_ids: Iterable[int], removed_at: float | None) -> None:
        pairs = [(removed_at, recording_id) for recording_id in recording_ids]
        statement = "UPDATE recordings SET removed_at = ? WHERE id = ?"
        self._writer.call(lambda connection: connection.executemany(statement, pairs))


def _same_file(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def _one(connection: sqlite3.Connection, recording_id: int | None) -> Recording:
    row = connection.execute(f"{_RECORDING} WHERE r.id = ?", (recording_id,)).fetchone()
    if row is None:
        raise KeyError(recording_id)
    return _recording(row)


def _segment_row(connection: sqlite3.Connection, segment_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM segments WHERE id = ?", (segment_id,)
    ).fetchone()
    if row is None:
        raise KeyError(segment_id)
    return row


def _search_conditions(wanted: list[str]) -> tuple[str, list[object]]:
    """The index finds terms of three characters or more; shorter ones are looked for in each segment."""
    conditions = ["instr(s.folded, ?) > 0" for term in wanted if len(term) < search_text.MIN_INDEXED]
    values: list[object] = [term for term in wanted if len(term) < search_text.MIN_INDEXED]
    indexed = ['"' + term.replace('"', '""') + '"' for term in wanted if len(term) >= search_text.MIN_INDEXED]
    if indexed:
        conditions.append("s.id IN (SELECT rowid FROM found WHERE found MATCH ?)")
        values.append(" ".join(indexed))
    return " AND ".join(conditions), values


def _hit(row: sqlite3.Row, wanted: list[str]) -> SearchHit:
    snippet, matches = search_text.excerpt(row["text"], wanted)
    return SearchHit(
        recording_id=row["recording_id"],
        segment_id=row["id"],
        name=row["name"],
        start=row["start_s"],
        snippet=snippet,
        matches=matches,
    )


def _recording(row: sqlite3.Row) -> Recording:
    fields: dict[str, Any] = dict(row)
    fields["options"] = msgspec.json.decode(row["options"], type=Options)
    fields["failure"] = msgspec.json.decode(row["failure"], type=Failure) if row["failure"] else None
    fields["stored_until"] = row["stored_until"] or 0.0
    return msgspec.convert(fields, Recording, strict=False)


def _recognised(row: sqlite3.Row) -> Segment:
    return msgspec.json.decode(row["recognised"], type=Segment)


class _Shown(msgspec.Struct):
    """The part of a recognised segment that is shown; the rest need not be decoded."""

    words: tuple[Word, ...] = ()
    is_suspect: bool = False
    time_source: TimeSource = TimeSource.MODEL


_decode_shown: Final = msgspec.json.Decoder(_Shown).decode


def _stored_segment(row: sqlite3.Row) -> StoredSegment:
    shown = _decode_shown(row["recognised"])
    return StoredSegment(
        id=row["id"],
        recording_id=row["recording_id"],
        index=row["number"],
        start=row["start_s"],
        end=row["end_s"],
        text=row["text"],
        words=shown.words,
        is_edited=bool(row["is_edited"]),
        is_suspect=shown.is_suspect,
        time_source=shown.time_source,
    )


def _to_json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()
