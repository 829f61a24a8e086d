"""Languages by code and by the English names that OpenAI's API calls them."""

from __future__ import annotations

from typing import Final

from engine.languages import LANGUAGE_NAMES

NAMES: Final[dict[str, str]] = {code: name for name, code in reversed(LANGUAGE_NAMES.items())}
"""The first of a language's names is its usual one."""


def name_of(code: str) -> str:
    """Return a language's English name in lower case; the code itself where it is not known."""
    return NAMES.get(code, code)


def code_of(language: str) -> str:
    """Return the code of a language that was named by code or by name, whatever the case."""
    plain = language.strip().lower()
    return LANGUAGE_NAMES.get(plain, plain)
