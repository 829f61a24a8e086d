"""Every sentence a person reads that is not a label of a widget, by key, in English and Korean."""

from __future__ import annotations

import locale
import os
from collections.abc import Mapping
from typing import Final

from app.text_tables import ENGLISH, KOREAN, KOREAN_FAILURES
from engine.protocol.failures import SENTENCES, Failure

LANGUAGES: Final = ("en", "ko")

_language = "en"


def use_language(code: str) -> None:
    """Speak this language from now on ("en", "ko", "ko_KR.UTF-8"); an unknown one is English."""
    global _language
    short = code.replace("-", "_").split("_")[0].split(".")[0].lower()
    _language = short if short in LANGUAGES else "en"


def language() -> str:
    """The language in use."""
    return _language


def system_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language that the user's system speaks, as `use_language` takes it."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(name):
            return value
    return locale.getlocale()[0] or "en"


def tr(key: str, **params: object) -> str:
    """Return the text of `key` in the language in use, with `params` put in. Raises KeyError."""
    table = KOREAN if _language == "ko" else ENGLISH
    return table[key].format(**params)


def failure_text(failure: Failure) -> tuple[str, str]:
    """Return the sentence and the remedy of a failure in the language in use.

    In English the failure's own words are kept: they may be more exact than the table's.
    """
    if _language != "ko":
        return failure.message, failure.hint
    own = SENTENCES[failure.kind]
    if failure.hint != own[1]:
        # Worded for this one case: better exact in English than vague in Korean.
        return failure.message, failure.hint
    sentence, remedy = KOREAN_FAILURES[failure.kind]
    return sentence.format(subject=failure.subject), remedy


def failure_line(failure: Failure) -> str:
    """Return sentence and remedy as one line."""
    return " ".join(failure_text(failure))


def duration(seconds: float) -> str:
    """Return a duration as people say it: "about 5 minutes"; never more exact than it can be."""
    if seconds < 60:
        return tr("seconds", count=max(1, round(seconds)))
    if seconds < 3600:
        return tr("minutes", count=round(seconds / 60))
    return tr("hours", hours=int(seconds // 3600), minutes=int(seconds % 3600 // 60))


def size(num_bytes: int) -> str:
    """Return a size as file managers show it: "145 MB" (powers of 1000)."""
    if num_bytes < 1_000_000:
        return f"{max(1, round(num_bytes / 1_000))} kB" if num_bytes else "0 kB"
    if num_bytes < 1_000_000_000:
        return f"{num_bytes / 1_000_000:.0f} MB"
    return f"{num_bytes / 1_000_000_000:.1f} GB"
