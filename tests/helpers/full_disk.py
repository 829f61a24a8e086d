"""A disk that can be full, for tests of the library."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from app.library import connect


class FullDisk:
    """A `connect` for `Library`: while `is_full`, SQLite refuses to grow the file, as it does for ENOSPC.

    The limit is set when a transaction begins, on the thread that writes.
    """

    def __init__(self) -> None:
        self.is_full = False

    def __call__(self, path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_trace_callback(lambda statement: self._limit(connection, statement))
        return connection

    def _limit(self, connection: sqlite3.Connection, statement: str) -> None:
        if statement.startswith("BEGIN"):
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages if self.is_full else 1_000_000}")
