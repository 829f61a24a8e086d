"""What a person is told while a recording runs, and what stays marked in it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class NoticeKind(StrEnum):
    """What happened; `app.texts` has the sentence for each as `live_…`."""

    REPLACED = "replaced"
    """The device is gone or unwell; the recording goes on with another."""
    RETURNED = "returned"
    """The device that was asked for (or the new default) is used again."""
    NO_DEVICE = "no_device"
    """Nothing can be recorded now; silence is."""
    RESUMED = "resumed"
    """The same device works again."""
    LOSING = "losing"
    """The device delivers less than it should; it was opened anew."""
    OVERFLOW = "overflow"
    """The disk was too slow for too long: samples were lost."""
    FOLDER_REFUSED = "folder_refused"
    """Nothing can be written where the recording was to lie; it is kept elsewhere."""
    DISK_FULL = "disk_full"
    """Nothing can be written; what comes is kept in memory for a minute."""
    DISK_FREE = "disk_free"
    """Everything that waited is on the disk."""
    STOPPED = "stopped"
    """The disk stayed full: the recording has ended."""
    CAPTIONS_LOST = "captions_lost"
    """The engine cannot go on; the recording does."""
    CAPTIONS_BACK = "captions_back"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened. `device` is a name for people."""

    kind: NoticeKind
    device: str = ""
    folder: str = ""
    """Where the recording is kept instead."""
    detail: str = ""
    """For a bug report."""


class MarkKind(StrEnum):
    """What a place in a recording is marked as; stored."""

    GAP = "gap"
    """Nothing came from the device; it is silence here."""
    LOST = "lost"
    """Something came and could not be kept; it is silence here."""
    PAUSE = "pause"
    """The recording was paused; no time passes here."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a recording, `[start, end)` seconds; a pause has no length."""

    kind: MarkKind
    start: float
    end: float
