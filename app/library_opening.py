"""Opens the database of the library: new, old, damaged or of a newer version; says what was done with it."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from app.library_rescue import rescue
from app.library_schema import NewerDatabaseError, bring_up_to_date
from app.set_aside import set_aside

log = logging.getLogger(__name__)

_KEEP_REMOVED_S: Final = 7 * 24 * 3600.0
"""How long a removed row can come back."""

Connect = Callable[[Path], sqlite3.Connection]


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the database at a path; the user should be told of one that was set aside."""

    last_segment_id: int
    set_aside: Path | None = None
    """Where a database that cannot be used was moved."""
    is_from_newer: bool = False
    """What was set aside is whole, but made by a newer version."""
    num_rescued: int = 0
    """Recordings that were taken over from what was set aside."""


def open_database(path: Path, connect: Connect) -> Opened:
    """Create the database or bring it up to date; one that cannot be used is replaced, never deleted.

    Raises OSError, sqlite3.OperationalError.
    """
    try:
        return Opened(last_segment_id=_prepare(path, connect))
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        log.info("the library cannot be used and is set aside: %s", error)
        is_from_newer = isinstance(error, NewerDatabaseError)
    aside = set_aside(path, beside=("-wal", "-shm"))
    num_rescued = 0
    if not is_from_newer:
        with closing(connect(path)) as connection:
            num_rescued = rescue(aside, connection)
    return Opened(
        last_segment_id=_prepare(path, connect),
        set_aside=aside,
        is_from_newer=is_from_newer,
        num_rescued=num_rescued,
    )


def suspect(path: Path) -> None:
    """Have the database checked whole when it is opened next: it was found damaged while it was used."""
    _suspicion(path).touch()


def _prepare(path: Path, connect: Connect) -> int:
    """Check and migrate; return the id of the last segment. Raises sqlite3.DatabaseError."""
    with closing(connect(path)) as connection:
        bring_up_to_date(connection, path.stat().st_size, is_suspect=_suspicion(path).exists())
        connection.execute("DELETE FROM recordings WHERE removed_at < ?", (time.time() - _KEEP_REMOVED_S,))
        last: int = connection.execute("SELECT COALESCE(MAX(id), 0) FROM segments").fetchone()[0]
    _suspicion(path).unlink(missing_ok=True)
    return last


def _suspicion(path: Path) -> Path:
    return path.with_name(path.name + ".check")
