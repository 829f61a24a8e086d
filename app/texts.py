"""Every sentence a person reads that is not a label of a widget, by key, in English and Korean."""

from __future__ import annotations

from engine.protocol.failures import Failure


def use_language(code: str) -> None:
    """Speak this language from now on ("en", "ko", "ko_KR"); an unknown one is English."""
    raise NotImplementedError


def tr(key: str, **params: object) -> str:
    """Return the text of `key` in the language in use, with `params` put in. Raises KeyError."""
    raise NotImplementedError


def failure_text(failure: Failure) -> tuple[str, str]:
    """Return the sentence and the remedy of a failure in the language in use."""
    raise NotImplementedError
