"""What the decoder is told before it begins: context, language, task. Torch-free."""

from __future__ import annotations

from typing import Final

from engine.adapters.whisper.vocabulary import Vocabulary
from engine.messages import DecodingOptions
from engine.protocol.transcript import Task

MAX_CONTEXT_IDS: Final = 223
"""Half of the decoder's 448 positions less one, as in the reference: the answer needs the other half."""


def build_prompt(vocabulary: Vocabulary, options: DecodingOptions, language: str | None) -> tuple[int, ...]:
    """Return the forced ids in front of an answer that has timestamps.

    `language` must be one of the vocabulary's; a model without a choice ignores it and the task.
    """
    special = vocabulary.special
    prompt = list(build_context(vocabulary, options))
    prompt.append(special.start)
    if vocabulary.is_multilingual and language is not None:
        is_translation = options.task is Task.TRANSLATE
        prompt += [special.languages[language], special.translate if is_translation else special.transcribe]
    return tuple(prompt)


def build_context(vocabulary: Vocabulary, options: DecodingOptions) -> tuple[int, ...]:
    """Return hotwords and initial prompt as if they had been said before, empty if there are none.

    Too long hotwords lose their end, and a too long prompt its beginning: what stands right before
    the answer bends it most.
    """
    hotwords = _encode(vocabulary, options.hotwords)[: MAX_CONTEXT_IDS // 2]
    room = MAX_CONTEXT_IDS - len(hotwords)
    context = hotwords + _encode(vocabulary, options.initial_prompt)[-room:]
    return (vocabulary.special.previous, *context) if context else ()


def _encode(vocabulary: Vocabulary, text: str | None) -> list[int]:
    stripped = (text or "").strip()
    return vocabulary.encode(" " + stripped) if stripped else []
