"""Transcripts as files: plain text, SubRip, WebVTT and JSON; pure, text out."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Final, assert_never

import msgspec

from engine.captions import Cue, SubtitleRules, columns, cues
from engine.protocol.transcript import Segment, Transcript

__all__ = ["Cue", "ExportFormat", "SubtitleRules", "columns", "cues", "file_name", "plain_line", "render"]

_MAX_NAME_BYTES: Final = 240
"""Of a file name before its extension; most file systems end at 255."""


class ExportFormat(StrEnum):
    """The formats; the value is the file's extension."""

    TXT = "txt"
    SRT = "srt"
    VTT = "vtt"
    JSON = "json"


def render(transcript: Transcript, format: ExportFormat, rules: SubtitleRules | None = None) -> str:
    """Return the whole file's text, to be written as UTF-8 with `\\n` at the ends of lines."""
    match format:
        case ExportFormat.TXT:
            lines = filter(None, map(plain_line, transcript.segments))
            return "".join(f"{line}\n" for line in lines)
        case ExportFormat.SRT:
            return _srt(cues(transcript, rules))
        case ExportFormat.VTT:
            return _vtt(cues(transcript, rules))
        case ExportFormat.JSON:
            return _json(transcript)
        case _:
            assert_never(format)


def plain_line(segment: Segment) -> str:
    """Return a segment's text as one line; empty where it has none."""
    return " ".join(segment.text.split())


def file_name(source: str, format: ExportFormat, taken: Collection[str] = ()) -> str:
    """Return `{name}.srt` for a recording called `source`, numbered where `taken` has it already.

    Names that differ only in case are taken for the same, as some file systems do.
    """
    stem = PurePath(source).stem or "transcript"
    occupied = {name.casefold() for name in taken}
    for number in itertools.count(1):
        ending = f" ({number}).{format}" if number > 1 else f".{format}"
        name = _shortened(stem, _MAX_NAME_BYTES) + ending
        if name.casefold() not in occupied:
            return name
    raise AssertionError("counting never ends")


def _shortened(stem: str, max_bytes: int) -> str:
    return stem.encode("utf-8", "surrogateescape")[:max_bytes].decode("utf-8", "ignore")


def _srt(captions: list[Cue]) -> str:
    """SubRip has no escapes: an arrow in the text would be read as times."""
    blocks = []
    for number, cue in enumerate(captions, start=1):
        text = "\n".join(cue.lines).replace("-->", "→")
        blocks.append(f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{text}\n")
    return "\n".join(blocks)


def _vtt(captions: list[Cue]) -> str:
    """https://www.w3.org/TR/webvtt1/#syntax: `&`, `<` and `>` are escaped, so no arrow is left either."""
    blocks = ["WEBVTT\n"]
    for number, cue in enumerate(captions, start=1):
        text = "\n".join(cue.lines).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        blocks.append(f"{number}\n{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{text}\n")
    return "\n".join(blocks)


def _clock(seconds: float, point: str) -> str:
    """`01:02:03,004`; hours grow beyond two digits where they must."""
    minutes, milliseconds = divmod(round(seconds * 1000), 60_000)
    hours, minutes = divmod(minutes, 60)
    whole, milliseconds = divmod(milliseconds, 1000)
    return f"{hours:02}:{minutes:02}:{whole:02}{point}{milliseconds:03}"


def _json(transcript: Transcript) -> str:
    """Everything that is known, with the whole text first; ids of tokens mean nothing without the model."""
    content: dict[str, Any] = msgspec.to_builtins(transcript)
    for segment in content["segments"]:
        for name in ("tokens", "token_logprobs", "seek"):
            del segment[name]
    whole = "".join(segment.text for segment in transcript.segments).strip()
    return msgspec.json.format(msgspec.json.encode({"text": whole, **content}), indent=2).decode() + "\n"
