"""Holds the chunks of a file until its first speech has said which language it is in. Pure."""

from __future__ import annotations

import msgspec

from engine.messages import Chunk, StrOutput

SURE = 0.5
"""A detection as probable as this is believed at once, not only when text has come of it."""


class LanguageGate:
    """Lets chunks through with the job's language; without one, a single chunk goes ahead as scout.

    A scout that turns out to be silence says nothing about the language: the next one is sent. One
    that yields text and no language comes from a model that tells none: each finds its own.
    """

    def __init__(self, language: str | None) -> None:
        self.language = language
        self.probability = 1.0 if language else 0.0
        self._held: list[Chunk] = []
        self._scout: int | None = None
        self._is_told = True
        """False: this model never says which language it hears."""

    @property
    def num_held_bytes(self) -> int:
        return sum(len(chunk.pcm) for chunk in self._held)

    def push(self, chunk: Chunk) -> None:
        """Take in the next chunk of the file."""
        self._held.append(chunk)

    def take(self) -> list[Chunk]:
        """Return the chunks that may go now, in order."""
        if self.language is not None or not self._is_told:
            through = [self._in_language(chunk, self.language) for chunk in self._held]
            self._held = []
            return through
        if self._scout is not None or not self._held:
            return []
        scout = self._held.pop(0)
        self._scout = scout.key.chunk
        return [scout]

    def heard(self, output: StrOutput, *, has_text: bool) -> bool:
        """Take what an answer says of the language; True if the language is settled by it.

        `has_text` says whether the chunk has yielded any text so far.
        """
        if self.language is not None or output.key.chunk != self._scout:
            return False
        is_over = output.finished is not None
        is_sure = (output.language_probability or 0.0) >= SURE
        if output.language is not None and (is_sure or (is_over and has_text)):
            self.language = output.language
            self.probability = output.language_probability or 0.0
            return True
        if is_over:
            self._scout = None
            self._is_told = output.language is not None or not has_text
        return False

    @staticmethod
    def _in_language(chunk: Chunk, language: str | None) -> Chunk:
        options = msgspec.structs.replace(chunk.options, language=language)
        return msgspec.structs.replace(chunk, options=options)
