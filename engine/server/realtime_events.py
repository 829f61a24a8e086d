"""What is said over a realtime connection, in both directions and both of OpenAI's dialects; pure."""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from engine.languages import LANGUAGE_CODES
from engine.protocol.transcript import Options, VadSettings
from engine.server.errors import ApiError
from engine.server.languages import code_of
from engine.server.realtime_audio import AudioFormat

LONGEST_TEXT: Final = 8_000
_FORMATS: Final = {
    "pcm16": AudioFormat.PCM,
    "g711_ulaw": AudioFormat.PCMU,
    "g711_alaw": AudioFormat.PCMA,
}
"""As they were called before the API was generally available."""
_OLD_NAMES: Final = {format_: name for name, format_ in _FORMATS.items()}
_EAGERNESS_S: Final = {"low": 1.5, "medium": 0.8, "auto": 0.8, "high": 0.4}
"""Nobody here knows when a thought ends: the more eager, the shorter the pause that ends a turn."""
_LOGPROBS: Final = "item.input_audio_transcription.logprobs"
DEFAULT_TURNS: Final = VadSettings(threshold=0.5, padding_s=0.3, silence_s=0.5)


class RealtimeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a session does; its defaults are OpenAI's."""

    format: AudioFormat = AudioFormat.PCM
    model: str = "whisper-1"
    """By any of its names at the door."""
    language: str | None = None
    prompt: str | None = None
    turns: VadSettings | None = DEFAULT_TURNS
    """None: the caller commits."""
    wants_logprobs: bool = False
    vad: bool = True
    """An extension, `vad` beside `turn_detection` or in the address: False hears everything as speech."""

    def options(self, model: str) -> Options:
        """Return what the engine is asked for; `model` as the engine calls it."""
        return Options(
            model=model,
            language=self.language,
            initial_prompt=self.prompt,
            word_timestamps=True,
            vad=self.vad,
            token_logprobs=self.wants_logprobs,
        )


@dataclass(frozen=True)
class Update:
    """Change these settings; `is_old` in the dialect of `transcription_session.update`."""

    session: dict[str, Any]
    is_old: bool


@dataclass(frozen=True)
class Append:
    """More sound, as it was sent."""

    data: bytes


@dataclass(frozen=True)
class Commit:
    """What was sent since the last commit is one item."""


@dataclass(frozen=True)
class Clear:
    """Forget what was sent since the last commit."""


ClientEvent = Update | Append | Commit | Clear


class Misunderstood(Exception):
    """An event that cannot be done: `error` is for the caller, who may have numbered it."""

    def __init__(self, error: ApiError, event_id: str | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.event_id = event_id


def read_event(text: str) -> tuple[ClientEvent, str | None]:
    """Return what a caller says and the number it gave it. Raises Misunderstood."""
    try:
        # Other than `json` it takes no half characters, which could be neither answered nor passed on.
        event = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Misunderstood(_bad("type", "the event is not JSON", "invalid_json")) from None
    if not isinstance(event, dict):
        raise Misunderstood(_bad("type", "an event is an object"))
    event_id = event.get("event_id")
    event_id = event_id if isinstance(event_id, str) else None
    try:
        return _read(event), event_id
    except ApiError as error:
        raise Misunderstood(error, event_id) from error


def updated(settings: RealtimeSettings, update: Update) -> RealtimeSettings:
    """Return the settings after an update; what it does not name stays. Raises ApiError."""
    session = update.session
    if update.is_old:
        given = {
            "format": session.get("input_audio_format"),
            "transcription": session.get("input_audio_transcription"),
        }
        given |= {name: session[name] for name in ("turn_detection", "vad") if name in session}
    else:
        if session.get("type", "transcription") != "transcription":
            raise _bad("session.type", "only transcription sessions are served")
        given = _object(_object(session, "audio"), "input")
    changes: dict[str, Any] = {}
    if given.get("format") is not None:
        changes["format"] = _format(given["format"])
    changes |= _transcription(_object(given, "transcription"))
    if "turn_detection" in given:
        changes["turns"] = _turns(given["turn_detection"], settings.turns or DEFAULT_TURNS)
    if isinstance(given.get("vad"), bool):
        changes["vad"] = given["vad"]
    if isinstance(include := session.get("include"), list):
        changes["wants_logprobs"] = _LOGPROBS in include
    return msgspec.structs.replace(settings, **changes)


def session_object(settings: RealtimeSettings, id_: str, *, is_old: bool) -> dict[str, Any]:
    """Return the session as it is told."""
    transcription = {"model": settings.model, "language": settings.language, "prompt": settings.prompt or ""}
    turns = settings.turns
    detection = None if turns is None else {
        "type": "server_vad",
        "threshold": turns.threshold,
        "prefix_padding_ms": round(turns.padding_s * 1000),
        "silence_duration_ms": round(turns.silence_s * 1000),
    }  # fmt: skip
    include = [_LOGPROBS] if settings.wants_logprobs else None
    told = {"id": id_, "object": "realtime.transcription_session", "include": include}
    if is_old:
        return told | {
            "input_audio_format": _OLD_NAMES[settings.format],
            "input_audio_transcription": transcription,
            "turn_detection": detection,
            "input_audio_noise_reduction": None,
        }
    format_: dict[str, Any] = {"type": str(settings.format)}
    if settings.format is AudioFormat.PCM:
        format_["rate"] = 24_000
    heard = {
        "format": format_,
        "transcription": transcription,
        "turn_detection": detection,
        "noise_reduction": None,
    }
    return told | {"type": "transcription", "audio": {"input": heard}}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Return an event of ours."""
    return {"type": kind, "event_id": new_id("event"), **fields}


def error_event(error: ApiError, event_id: str | None = None) -> dict[str, Any]:
    """Return the event of an error; `event_id` is the caller's own number of what caused it."""
    return event("error", error={**error.body()["error"], "event_id": event_id})


def new_id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:21]}"


def _read(event: dict[str, Any]) -> ClientEvent:
    match event.get("type"):
        case "input_audio_buffer.append":
            return Append(_sound(event.get("audio")))
        case "input_audio_buffer.commit":
            return Commit()
        case "input_audio_buffer.clear":
            return Clear()
        case "session.update":
            return Update(_object(event, "session", is_needed=True), is_old=False)
        case "transcription_session.update":
            return Update(_object(event, "session", is_needed=True), is_old=True)
        case str() as kind:
            raise _bad("type", f"“{kind[:80]}” is not served here", "unknown_event")
        case _:
            raise _bad("type", "an event has a type")


def _sound(audio: object) -> bytes:
    if not isinstance(audio, str):
        raise _bad("audio", "the sound is base64 text")
    try:
        return base64.b64decode(audio, validate=True)
    except (binascii.Error, ValueError):
        raise _bad("audio", "the sound is no base64", "invalid_base64") from None


def _format(told: object) -> AudioFormat:
    if isinstance(told, str) and told in _FORMATS:
        return _FORMATS[told]
    if isinstance(told, dict):
        kind = told.get("type")
        if kind in list(AudioFormat) and (kind != AudioFormat.PCM or told.get("rate", 24_000) == 24_000):
            return AudioFormat(str(kind))
    raise _bad("session.audio.input.format", "it is audio/pcm at 24000, audio/pcmu or audio/pcma")


def _transcription(told: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name in ("model", "language", "prompt"):
        value = told.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > LONGEST_TEXT):
            raise _bad(f"session.audio.input.transcription.{name}", "it is a text")
        if name in told:
            changes[name] = value or None
    if "model" in changes:
        changes["model"] = changes["model"] or "whisper-1"
    if changes.get("language"):
        changes["language"] = code_of(changes["language"])
        # The engine would refuse all that is heard from now on.
        if changes["language"] not in LANGUAGE_CODES:
            raise _bad("session.audio.input.transcription.language", "it is a language's code or name")
    return changes


def _turns(told: object, before: VadSettings) -> VadSettings | None:
    if told is None:
        return None
    if not isinstance(told, dict) or told.get("type", "server_vad") not in ("server_vad", "semantic_vad"):
        raise _bad("session.audio.input.turn_detection", "it is null, server_vad or semantic_vad")
    if told.get("type") == "semantic_vad":
        eagerness = told.get("eagerness") or "auto"
        if not isinstance(eagerness, str) or eagerness not in _EAGERNESS_S:
            raise _bad("session.audio.input.turn_detection.eagerness", "it is low, medium, high or auto")
        return msgspec.structs.replace(before, silence_s=_EAGERNESS_S[eagerness])
    return VadSettings(
        threshold=_number(told, "threshold", before.threshold, most=1.0),
        padding_s=_number(told, "prefix_padding_ms", before.padding_s * 1000, most=10_000) / 1000,
        silence_s=_number(told, "silence_duration_ms", before.silence_s * 1000, most=60_000) / 1000,
    )


def _number(told: dict[str, Any], name: str, default: float, *, most: float) -> float:
    value = told.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise _bad(f"session.audio.input.turn_detection.{name}", f"it is a number from 0 to {most:g}")
    return float(value)


def _object(told: dict[str, Any], name: str, *, is_needed: bool = False) -> dict[str, Any]:
    value = told.get(name)
    if value is None and not is_needed:
        return {}
    if not isinstance(value, dict):
        raise _bad(name, "it is an object")
    return value


def _bad(param: str, what: str, code: str = "invalid_value") -> ApiError:
    return ApiError(400, f"{param}: {what}.", code=code, param=param)
