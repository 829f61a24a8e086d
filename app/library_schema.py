"""The database's tables through all versions, and how a connection to it is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

_FULL_CHECK_BYTES: Final = 64 * 1024 * 1024
"""Databases up to this size are checked whole when opened (about 0.2 s); larger ones only their rows."""

# One entry per version of the schema, oldest first; an entry that was released never changes.
_MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE recordings (
            id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, same_file TEXT NOT NULL,
            name TEXT NOT NULL, state TEXT NOT NULL, position INTEGER NOT NULL, options TEXT NOT NULL,
            model TEXT, language TEXT, language_probability REAL, duration REAL,
            added_at REAL NOT NULL, ended_at REAL, failure TEXT, file_size INTEGER,
            file_mtime_ns INTEGER, deaths INTEGER NOT NULL DEFAULT 0,
            starts_over INTEGER NOT NULL DEFAULT 0, removed_at REAL)""",
        "CREATE INDEX recordings_same_file ON recordings (same_file)",
        """CREATE TABLE segments (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            recording_id INTEGER NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
            number INTEGER NOT NULL, start_s REAL NOT NULL, end_s REAL NOT NULL, text TEXT NOT NULL,
            folded TEXT NOT NULL, is_edited INTEGER NOT NULL DEFAULT 0, recognised TEXT NOT NULL,
            UNIQUE (recording_id, number))""",
        """CREATE VIRTUAL TABLE found USING fts5(
            folded, content='segments', content_rowid='id', tokenize='trigram case_sensitive 1')""",
        """CREATE TRIGGER segment_added AFTER INSERT ON segments BEGIN
            INSERT INTO found (rowid, folded) VALUES (new.id, new.folded); END""",
        """CREATE TRIGGER segment_removed AFTER DELETE ON segments BEGIN
            INSERT INTO found (found, rowid, folded) VALUES ('delete', old.id, old.folded); END""",
        """CREATE TRIGGER segment_edited AFTER UPDATE OF folded ON segments BEGIN
            INSERT INTO found (found, rowid, folded) VALUES ('delete', old.id, old.folded);
            INSERT INTO found (rowid, folded) VALUES (new.id, new.folded); END""",
    ),
    (
        "ALTER TABLE recordings ADD COLUMN kind TEXT NOT NULL DEFAULT 'file'",
        """CREATE TABLE unfinished (
            recording_id INTEGER PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
            segment TEXT NOT NULL)""",
        """CREATE TABLE marks (
            recording_id INTEGER NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
            mark TEXT NOT NULL)""",
        "CREATE INDEX marks_recording ON marks (recording_id)",
    ),
    (
        # Word times by attention were called "aligned" until there were aligned ones; a quote within a
        # text is written with a backslash before it, so no text is taken for the field.
        *(
            f"""UPDATE {table} SET {column} = replace({column},
                '"time_source":"aligned"', '"time_source":"model"')"""
            for table, column in (("segments", "recognised"), ("unfinished", "segment"))
        ),
    ),
)


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection as the library uses it: autocommit, rows by name, every commit on the disk."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=10.0)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


class NewerDatabaseError(sqlite3.DatabaseError):
    """The database was made by a newer Jamak. It is whole, and of no use to this one."""


def bring_up_to_date(connection: sqlite3.Connection, size_bytes: int, *, is_suspect: bool = False) -> None:
    """Check the database and run what migrations it lacks, in one transaction.

    One that `is_suspect` is checked whole whatever its size. Raises sqlite3.DatabaseError for a damaged
    database, and NewerDatabaseError for one of a newer version.
    """
    is_checked_whole = is_suspect or size_bytes <= _FULL_CHECK_BYTES
    check = connection.execute("PRAGMA quick_check" + ("" if is_checked_whole else "(recordings)"))
    if (answer := check.fetchone()[0]) != "ok":
        raise sqlite3.DatabaseError(answer)
    migrate(connection)


def migrate(connection: sqlite3.Connection, *, to: int = len(_MIGRATIONS)) -> None:
    """Run the migrations up to version `to`, in one transaction. Raises NewerDatabaseError."""
    connection.execute("BEGIN IMMEDIATE")
    # Asked inside the transaction: another process may be bringing it up to date at this moment.
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, min(to, len(_MIGRATIONS))):
        for statement in _MIGRATIONS[number]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")
    connection.execute("COMMIT")
    if version > len(_MIGRATIONS):
        raise NewerDatabaseError(f"schema {version}")
