"""Counts starts that never became a working window: settings that prevent one are not used for ever."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import msgspec

from app.durable_file import write_durably
from app.set_aside import free_name
from app.settings import LoadedSettings, Settings, load

log = logging.getLogger(__name__)

MAX_FAILED: Final = 2
"""Failed starts in a row after which the next one is made with default settings."""


class _Starts(msgspec.Struct):
    num_failed: int = 0


class StartRecord:
    """The count, in a file of its own beside the settings. A record that cannot be kept prevents no start."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self) -> int:
        """Note that a start begins; return how many before it failed in a row."""
        num_failed = self._read()
        self._write(num_failed + 1)
        return num_failed

    def succeed(self) -> None:
        """Note that this start came to a working window."""
        if self._read():
            self._write(0)

    def _read(self) -> int:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Starts).num_failed
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return 0

    def _write(self, num_failed: int) -> None:
        try:
            write_durably(self._path, msgspec.json.encode(_Starts(num_failed)))
        except OSError as error:
            log.warning("the start is not noted: %s", error.strerror)


class SafeStart(msgspec.Struct, frozen=True):
    """The settings to start with; `kept` is where the person's own are, if they are not these."""

    loaded: LoadedSettings
    kept: Path | None = None


def settings_for_start(path: Path, num_failed: int) -> SafeStart:
    """Load the settings at `path`; after too many failed starts put them aside and use the defaults."""
    if num_failed < MAX_FAILED or not path.exists():
        return SafeStart(load(path))
    kept = free_name(path, "kept")
    try:
        path.rename(kept)
    except OSError as error:
        log.warning("the settings cannot be put aside: %s", error.strerror)
        return SafeStart(LoadedSettings(Settings()))
    return SafeStart(LoadedSettings(Settings()), kept)
