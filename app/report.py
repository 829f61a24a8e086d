"""The report of a problem: one zip that a person can read before sending it anywhere. No Qt."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final

import msgspec

from app.capture.devices import Device
from app.library_rows import Recording
from app.redaction import Redactor
from app.settings import Settings
from engine.facts import machine_facts
from engine.traces import without_quoted

MAX_LOG_BYTES: Final = 100_000
"""Of each log, its end."""
_NUM_FAILURES: Final = 5
_OPEN_TEXT: Final = frozenset(
    {"model", "language", "export_format", "family", "text_colour", "outline_colour", "background"}
)
"""Settings whose text is a choice from a list. All other text (folders, prompts, keys) is only counted."""


class Entry(msgspec.Struct, frozen=True):
    """One file of the report."""

    name: str
    text: str


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a report is made of."""

    settings: Settings
    recordings: Sequence[Recording] = ()
    paths: Sequence[str] = ()
    """Of all recordings, also of those that were removed: what no log may name."""
    devices: Sequence[Device] = ()
    engine_facts: Sequence[tuple[str, str]] = ()
    """What the engine said of itself; none where it does not answer."""
    log_folder: Path
    home: Path
    library_bytes: int = 0


def make_report(known: Known) -> tuple[Entry, ...]:
    """Return the files of a report, in reading order: no audio, no words, no names of recordings."""
    redact = Redactor((*known.paths, *(recording.path for recording in known.recordings)), known.home)
    return (
        Entry("versions.txt", redact(_lines(_facts(known.engine_facts)))),
        Entry("devices.txt", _lines(_device(device) for device in known.devices) or "none\n"),
        Entry("settings.json", _json(_without_text(known.settings))),
        Entry("library.txt", _lines(_library(known))),
        Entry("failures.txt", redact(_failures(known.recordings)) or "none\n"),
        *_logs(known.log_folder, redact),
    )


def write_report(entries: Iterable[Entry], path: Path) -> None:
    """Write the zip, whole or not at all. Raises OSError."""
    temporary = path.with_name(path.name + ".new")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as file:
            for entry in entries:
                file.writestr(entry.name, entry.text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def report_name(now: datetime) -> str:
    """Return how a report made at `now` is called."""
    return f"jamak-report-{now:%Y-%m-%d-%H%M}.zip"


def _facts(engine_facts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Own facts first; where the engine says something else of the same thing, both stand."""
    facts = dict(machine_facts())
    for name, value in engine_facts:
        facts[name if facts.get(name, value) == value else f"{name} (engine)"] = value
    return facts if engine_facts else facts | {"engine": "does not answer"}


def _device(device: Device) -> tuple[str, str]:
    default = ", default" if device.is_default else ""
    return device.kind.value, f"{device.name}, {device.rate_hz} Hz, {device.num_channels} channels{default}"


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode() + "\n"


def _without_text(value: Any, name: str = "") -> Any:
    match value:
        case msgspec.Struct():
            return {key: _without_text(item, key) for key, item in msgspec.structs.asdict(value).items()}
        case dict():
            # The keys of a table (screens, servers) are the person's too.
            return {f"#{number}": _without_text(item) for number, item in enumerate(value.values())}
        case list() | tuple():
            return [_without_text(item, name) for item in value]
        case Enum():
            return value.value
        case str() if value and (name not in _OPEN_TEXT or "/" in value or "\\" in value):
            return f"({len(value)} characters)"
        case _:
            return value


def _library(known: Known) -> Iterable[tuple[str, str]]:
    yield "size", f"{known.library_bytes} bytes"
    yield "recordings", str(len(known.recordings))
    for (kind, state), num in sorted(Counter((r.kind, r.state) for r in known.recordings).items()):
        yield f"{kind} {state}", str(num)
    yield "hours", f"{sum(recording.duration or 0.0 for recording in known.recordings) / 3600:.1f}"


def _failures(recordings: Iterable[Recording]) -> str:
    """Return the newest failures, without what they happened to."""
    failed = sorted(
        (recording for recording in recordings if recording.failure is not None),
        key=lambda recording: recording.ended_at or recording.added_at,
        reverse=True,
    )
    return "\n".join(_failure(recording) for recording in failed[:_NUM_FAILURES])


def _failure(recording: Recording) -> str:
    assert recording.failure is not None
    options = recording.options
    ended = datetime.fromtimestamp(recording.ended_at or recording.added_at, UTC)
    return _lines(
        (
            ("when", f"{ended:%Y-%m-%d %H:%M:%S} UTC"),
            ("what", recording.failure.kind.value),
            ("detail", without_quoted(recording.failure.detail)),
            ("model", Path(recording.model or options.model).name),
            ("language", options.language or f"detect ({recording.language})"),
            ("stored", f"{recording.stored_until:.1f} of {recording.duration or 0:.1f} s"),
            ("deaths", str(recording.deaths)),
        )
    )


def _logs(folder: Path, redact: Callable[[str], str]) -> Iterable[Entry]:
    for path in sorted(folder.glob("*.log")):
        try:
            tail = path.read_bytes()[-MAX_LOG_BYTES:]
        except OSError:
            continue
        if tail:
            yield Entry(f"logs/{path.name}", redact(tail.decode("utf-8", "replace")))


def _lines(facts: Iterable[tuple[str, str]] | dict[str, str]) -> str:
    pairs = facts.items() if isinstance(facts, dict) else facts
    return "".join(f"{name}: {value}\n" for name, value in pairs)
