"""What the library knows of a recording of our own beside its transcript: unfinished text, marked places."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Protocol

import msgspec

from app.capture.notices import Mark
from app.writer import Writer
from engine.protocol.transcript import Segment


class _Read(Protocol):
    def __call__(self, query: str, *values: object) -> list[sqlite3.Row]: ...


class LiveNotes:
    """Two tables of the library. Writing returns at once, and comes before any later change."""

    def __init__(self, writer: Writer, read: _Read) -> None:
        self._writer = writer
        self._read = read

    def keep_unfinished(self, recording_id: int, segment: Segment | None) -> None:
        """Keep confirmed text whose segment has not ended, instead of what was kept before."""
        statement = "DELETE FROM unfinished WHERE recording_id = ?"
        values: tuple[object, ...] = (recording_id,)
        if segment is not None:
            statement = "INSERT OR REPLACE INTO unfinished (recording_id, segment) VALUES (?, ?)"
            values = (recording_id, _to_json(segment))
        self._writer.post(lambda connection: connection.execute(statement, values))

    def unfinished(self, recording_id: int) -> Segment | None:
        """The confirmed text that is in no segment yet."""
        rows = self._read("SELECT segment FROM unfinished WHERE recording_id = ?", recording_id)
        return msgspec.json.decode(rows[0]["segment"], type=Segment) if rows else None

    def add_marks(self, recording_id: int, marks: Iterable[Mark]) -> None:
        """Mark places of a recording."""
        pairs = [(recording_id, _to_json(mark)) for mark in marks]
        statement = "INSERT INTO marks (recording_id, mark) VALUES (?, ?)"
        self._writer.post(lambda connection: connection.executemany(statement, pairs))

    def marks(self, recording_id: int) -> list[Mark]:
        """The gaps, losses and pauses of a recording in time order."""
        rows = self._read("SELECT mark FROM marks WHERE recording_id = ?", recording_id)
        found = [msgspec.json.decode(row["mark"], type=Mark) for row in rows]
        return sorted(found, key=lambda mark: mark.start)


def _to_json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()
