"""Takes out of a damaged database what can still be read of it, row by row, into a new one."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import msgspec

from app.capture.notices import Mark
from app.library_rows import RowState
from app.library_schema import migrate
from engine.protocol.failures import Failure
from engine.protocol.transcript import Options, Segment

log = logging.getLogger(__name__)

_MAX_PROBED: Final = 200_000
"""Rows asked for one by one between the last readable from the front and the last from the back."""
_MAX_BYTES: Final = 1 << 34
_TABLES: Final = ("recordings", "segments", "unfinished", "marks")


def rescue(damaged: Path, into: sqlite3.Connection) -> int:
    """Fill the empty database `into` from `damaged`, which is only read; return how many recordings.

    `into` has the tables of `damaged`'s version then. Nothing is raised for what cannot be read.
    """
    with tempfile.TemporaryDirectory(dir=damaged.parent) as folder:
        copy = Path(folder) / damaged.name
        # Opening writes to a database with a write-ahead log; the damaged one stays as it is.
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(damaged.with_name(damaged.name + suffix), copy.with_name(copy.name + suffix))
        _lengthen(copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as source:
            source.row_factory = sqlite3.Row
            try:
                return _copy_all(source, into, damaged.parent)
            except sqlite3.DatabaseError as error:
                log.warning("nothing can be read of the damaged library: %s", error)
                return 0


def _lengthen(path: Path) -> None:
    """Give a file that was cut off the length it had (bytes 16 and 28 of its head, in pages).

    SQLite refuses it whole otherwise: https://www.sqlite.org/fileformat2.html, "The Database Header".
    """
    with path.open("r+b") as file:
        head = file.read(32)
        page_bytes = int.from_bytes(head[16:18], "big")
        num_bytes = int.from_bytes(head[28:32], "big") * (page_bytes if page_bytes > 1 else 65_536)
        if path.stat().st_size < num_bytes <= _MAX_BYTES:
            file.truncate(num_bytes)


def _copy_all(source: sqlite3.Connection, into: sqlite3.Connection, folder: Path) -> int:
    version: int = source.execute("PRAGMA user_version").fetchone()[0]
    if not version:
        return 0
    migrate(into, to=version)
    into.execute("PRAGMA foreign_keys = OFF")
    into.execute("BEGIN")
    for table in _TABLES:
        columns = [column["name"] for column in into.execute(f"PRAGMA table_info({table})")]
        marks = ", ".join("?" * len(columns))
        insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        for row in _readable(source, table) if columns else ():
            with suppress(sqlite3.IntegrityError, IndexError):
                if _makes_sense(table, row):
                    into.execute(insert, [row[column] for column in columns])
    _name_orphans(into, folder)
    into.execute("COMMIT")
    into.execute("PRAGMA foreign_keys = ON")
    num_rescued: int = into.execute("SELECT COUNT(*) FROM recordings").fetchone()[0]
    return num_rescued


def _name_orphans(into: sqlite3.Connection, folder: Path) -> None:
    """Give text whose recording cannot be read any more a row by which it is found."""
    missing = "recording_id NOT IN (SELECT id FROM recordings)"
    for table in ("unfinished", "marks"):
        with suppress(sqlite3.OperationalError):  # an older version has no such table
            into.execute(f"DELETE FROM {table} WHERE {missing}")
    orphans = into.execute(f"SELECT DISTINCT recording_id FROM segments WHERE {missing}").fetchall()
    for (recording_id,) in orphans:
        name = f"recovered-{recording_id}"
        path = str(folder / name)
        options = msgspec.json.encode(Options()).decode()
        into.execute(
            """INSERT INTO recordings (id, path, same_file, name, state, position, options, added_at)
            VALUES (?, ?, ?, ?, 'done', ?, ?, ?)""",
            (recording_id, path, path, name, recording_id, options, time.time()),
        )


def _readable(source: sqlite3.Connection, table: str) -> Iterator[sqlite3.Row]:
    """Yield the rows in front of the damage, then those behind it, then single ones in between."""
    select = f"SELECT rowid AS place, * FROM {table}"
    first = _read_on(source, f"{select} ORDER BY rowid", lambda _: False)
    last_place = first[-1]["place"] if first else 0
    behind = _read_on(source, f"{select} ORDER BY rowid DESC", lambda row: row["place"] <= last_place)
    yield from first
    end = behind[-1]["place"] if behind else last_place + 1
    for place in range(last_place + 1, min(end, last_place + _MAX_PROBED)):
        yield from _read_on(source, f"{select} WHERE rowid = {place}", lambda _: False)
    yield from reversed(behind)


def _read_on(
    source: sqlite3.Connection, query: str, is_enough: Callable[[sqlite3.Row], bool]
) -> list[sqlite3.Row]:
    rows: list[sqlite3.Row] = []
    with suppress(sqlite3.DatabaseError):
        for row in source.execute(query):
            if is_enough(row):
                break
            rows.append(row)
    return rows


def _makes_sense(table: str, row: sqlite3.Row) -> bool:
    """Whether a row can be used: a damaged page may be read without a complaint."""
    try:
        match table:
            case "recordings":
                RowState(row["state"])
                msgspec.json.decode(row["options"], type=Options)
                if row["failure"]:
                    msgspec.json.decode(row["failure"], type=Failure)
            case "segments":
                msgspec.json.decode(row["recognised"], type=Segment, strict=False)
            case "unfinished":
                msgspec.json.decode(row["segment"], type=Segment)
            case _:
                msgspec.json.decode(row["mark"], type=Mark)
    except (ValueError, TypeError, msgspec.MsgspecError):
        return False
    return True
