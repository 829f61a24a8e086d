"""What a live session is now, and what it tells those who show it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import msgspec

from app.capture.level import SILENT, Level
from app.capture.notices import Notice
from engine.protocol.failures import Failure
from engine.protocol.transcript import Segment


class LivePhase(StrEnum):
    """Forward only, but for pauses."""

    OPENING = "opening"
    RECORDING = "recording"
    PAUSED = "paused"
    FINISHING = "finishing"
    """Nothing is recorded any more; what was heard is being written down."""
    ENDED = "ended"


class CaptionPhase(StrEnum):
    """Whether text comes. The recording does not depend on it."""

    WAITING = "waiting"
    """The engine or the model is not there yet; what is said meanwhile is caught up with."""
    LISTENING = "listening"
    LOST = "lost"
    """It will not come by itself: `retry_captions`, or the queue when the recording has ended."""
    DONE = "done"
    """Everything recorded is written down."""


class LiveState(msgspec.Struct, frozen=True, kw_only=True):
    """A live session at one moment."""

    phase: LivePhase = LivePhase.OPENING
    captions: CaptionPhase = CaptionPhase.WAITING
    path: str = ""
    recording_id: int | None = None
    """In the library, once it records."""
    elapsed_s: float = 0.0
    """Of the recording; pauses take no time."""
    level: Level = SILENT
    backlog_s: float = 0.0
    """Recorded, and not heard by the engine yet."""
    devices: tuple[str, ...] = ()
    """Names of what is being recorded."""
    language: str | None = None
    lost_s: float = 0.0
    """Silence where a device lost samples, or the disk stood still for a minute."""
    failure: Failure | None = None
    """Why the recording ended unasked, or why captions are lost."""


class LiveChangeKind(StrEnum):
    """What a view may have to redraw."""

    PHASE = "phase"
    """`LiveSession.state` has another phase, caption phase, language or failure."""
    METER = "meter"
    """Ten times a second: level, elapsed time, backlog and devices in `LiveSession.state`."""
    CONFIRMED = "confirmed"
    """`text` follows what was confirmed before and never changes."""
    TAIL = "tail"
    """`text` follows the confirmed text for now; replaces the tail before it."""
    SEGMENT = "segment"
    """`segment` holds confirmed text (told already) with its times."""
    NOTICE = "notice"
    """`notice` says what happened to devices, disk or captions."""
    WARNING = "warning"
    """`failure` says what was refused, or which sound could not be heard; the captions go on."""


class LiveChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change, told to every observer on the session's thread."""

    kind: LiveChangeKind
    text: str = ""
    segment: Segment | None = None
    notice: Notice | None = None
    failure: Failure | None = None


LiveObserver = Callable[[LiveChange], None]
