"""What the model reads around the audio, and how its answer begins. Torch-free.

The turns are those of a chat; the context is a bare list of words or text, and the model was trained not
to follow instructions in it. Names are those of the reference's template.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from engine.adapters.qwen3_asr.languages import NAMES, NO_LANGUAGE, code_of
from engine.adapters.qwen3_asr.vocabulary import Vocabulary
from engine.messages import DecodingOptions

MAX_CONTEXT_IDS: Final = 1024
"""Ten thousand are said to work; each has to be read anew for every chunk of a file."""
MAX_HEADER_IDS: Final = 16
"""The name of a language takes at most eight."""
_ROLE: Final = "assistant\n"
_LANGUAGE: Final = "language "


@dataclass(frozen=True, slots=True)
class Prompt:
    """Ids in front of the audio and behind it."""

    head: tuple[int, ...]
    tail: tuple[int, ...]
    """Ends with the header where a language is forced; else the model writes the header itself."""
    num_header: int
    """How many ids at the end of `tail` are the forced header."""


def build_prompt(vocabulary: Vocabulary, options: DecodingOptions, language: str | None) -> Prompt:
    """Return what stands around the audio. `language` is a code that the model knows, None to ask it."""
    marks, encode = vocabulary.marks, vocabulary.encode
    context = encode("system\n" + context_of(options))[:MAX_CONTEXT_IDS]
    newline = encode("\n")
    head = (marks.turn_start, *context, marks.turn_end, *newline)
    head += (marks.turn_start, *encode("user\n"), marks.audio_start)
    tail = (marks.audio_end, marks.turn_end, *newline, marks.turn_start)
    if language is None:
        return Prompt(head, (*tail, *encode(_ROLE)), 0)
    # Encoded in one piece, as the reference does: a token may reach over the end of a line.
    answer = encode(f"{_ROLE}{_LANGUAGE}{NAMES[language]}")
    num_header = len(answer) - len(encode(_ROLE)) + 1
    return Prompt(head, (*tail, *answer, marks.text_start), num_header)


def context_of(options: DecodingOptions) -> str:
    """Return what the person gave for the model to expect: hotwords, and text before the audio."""
    return " ".join(filter(None, ((options.hotwords or "").strip(), (options.initial_prompt or "").strip())))


def silence_ids(vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the header that says that nobody speaks."""
    return header_ids(vocabulary, NO_LANGUAGE)


def header_ids(vocabulary: Vocabulary, name: str) -> tuple[int, ...]:
    """Return the header of a language by the model's name for it, as it follows the assistant's role."""
    role = vocabulary.encode(_ROLE)
    return (*vocabulary.encode(f"{_ROLE}{_LANGUAGE}{name}")[len(role) :], vocabulary.marks.text_start)


class Heading(Enum):
    """What the beginning of an answer is."""

    OPEN = auto()
    """Perhaps a header: more has to be read."""
    TEXT = auto()
    """No header: all of it is transcript."""


def judge_start(text: str, num_ids: int) -> Heading:
    """Say whether an answer that begins with `text`, with no mark in it yet, may still become a header."""
    begun = _bare(text)
    lines = [_LANGUAGE, _ROLE, *(name.casefold() for name in NAMES.values())]
    may_be = any(line.startswith(begun) or begun.startswith(line) for line in lines)
    return Heading.OPEN if may_be and num_ids < MAX_HEADER_IDS else Heading.TEXT


@dataclass(frozen=True, slots=True)
class Header:
    """What a whole header says."""

    language: str | None
    """Code; None where the model names none that is known."""
    is_silence: bool


def parse_header(text: str) -> Header:
    """Read what stands in front of the mark: `language English`, perhaps with lines around it."""
    line = _bare(text).split("\n", 1)[0].strip()
    name = line.removeprefix(_LANGUAGE.strip()).strip() if line.startswith(_LANGUAGE.strip()) else line
    # Long recordings in several languages were seen to name them all.
    first = name.split(",", 1)[0]
    return Header(code_of(first), is_silence=first == NO_LANGUAGE.casefold())


def _bare(text: str) -> str:
    """Return text in small letters, without the role that some servers repeat."""
    bare = text.lstrip().casefold()
    if _ROLE in bare:
        bare = bare.split(_ROLE, 1)[1].lstrip()
    return bare
