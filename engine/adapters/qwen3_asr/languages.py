"""The languages that Qwen3-ASR was trained to name, by their codes. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

NAMES: Final = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fil": "Filipino",
    "fr": "French",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "mk": "Macedonian",
    "ms": "Malay",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "yue": "Cantonese",
    "zh": "Chinese",
}
"""Name in the prompt by code; ISO 639-1 where there is one."""
NO_LANGUAGE: Final = "None"
"""What the model calls the language of audio in which nobody speaks."""
_CODES: Final = {name.casefold(): code for code, name in NAMES.items()}
_SPACELESS: Final = frozenset({"ja", "th", "yue", "zh"})


def code_of(name: str) -> str | None:
    """Return the code of a language by the model's name for it; None where it is not one of them."""
    return _CODES.get(name.strip().casefold())


def has_spaces(code: str | None) -> bool:
    """Say whether words are written with spaces between them; of an unknown language they are."""
    return code not in _SPACELESS


def codes(names: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of the languages a checkpoint lists; all of them where it lists none."""
    listed = tuple(code for name in names if (code := code_of(name)))
    return listed or tuple(NAMES)
