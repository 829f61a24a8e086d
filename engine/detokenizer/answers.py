"""From new ids to the text that answers them, for all requests of a batch at once."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from engine.adapters.base import AsrText
from engine.detokenizer.segments import cut_segments, with_logprobs
from engine.detokenizer.states import RequestState
from engine.messages import StrOutput, TokenIDs
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.transcript import Segment

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """New ids of one request, already added to its state."""

    output: TokenIDs
    state: RequestState


def answer_all(text: AsrText, works: Sequence[Work], model: str) -> list[StrOutput | Failure]:
    """Return the answer to each; where ids or vocabulary are broken, a failure for that one alone."""
    answers: list[StrOutput | Failure] = []
    for work, windows in zip(works, _read_windows(text, works, model), strict=True):
        if isinstance(windows, Failure):
            answers.append(windows)
        else:
            answers.append(_answer(text, work, windows, model))
    return answers


def ask(call: Callable[[], T], model: str) -> T | Failure:
    """Return what a vocabulary answers to `call`, or why it cannot; any exception becomes a value here."""
    try:
        return call()
    except FailureError as error:
        return error.failure
    except Exception as error:
        log.error("a vocabulary failed by %s", type(error).__name__)
        log.debug("it says", exc_info=True)
        return internal_failure(model, traceback.format_exc())


def internal_failure(model: str, detail: str) -> Failure:
    return failure(FailureKind.INTERNAL, Path(model).name, detail)


def _read_windows(text: AsrText, works: Sequence[Work], model: str) -> list[tuple[str, str] | Failure]:
    """Decode what all requests need, together; if that fails, each for itself."""
    together = ask(lambda: _decode_together(text, works), model)
    if not isinstance(together, Failure):
        return list(together)
    if len(works) == 1:
        return [together]
    return [windows for work in works for windows in _read_windows(text, [work], model)]


def _decode_together(text: AsrText, works: Sequence[Work]) -> list[tuple[str, str]]:
    """Return the texts of both windows of each; one call decodes all whose options agree."""
    texts = [("", "")] * len(works)
    for skip_special in (True, False):
        members = [
            index
            for index, work in enumerate(works)
            if work.output.options.skip_special_tokens is skip_special and work.state.status.is_pending
        ]
        if members:
            windows = [window for index in members for window in works[index].state.status.windows()]
            decoded = text.decode(windows, skip_special=skip_special)
            for index, pair in zip(members, zip(decoded[::2], decoded[1::2], strict=True), strict=True):
                texts[index] = pair
    return texts


def _answer(text: AsrText, work: Work, windows: tuple[str, str], model: str) -> StrOutput | Failure:
    return ask(lambda: _build_answer(text, work, windows), model)


def _build_answer(text: AsrText, work: Work, windows: tuple[str, str]) -> StrOutput:
    output, status = work.output, work.state.status
    skip_special = output.options.skip_special_tokens
    is_final = output.finished is not None
    if status.is_pending:
        status.advance(
            *windows,
            is_final=is_final,
            decode=lambda ids: text.decode([ids], skip_special=skip_special)[0],
        )
    return StrOutput(
        key=output.key,
        delta=status.take(is_final=is_final),
        is_first=output.first_index == 0,
        ids=output.ids,
        pieces=text.pieces(output.ids),
        logprobs=output.logprobs,
        attended_s=output.attended_s,
        language=output.language,
        language_probability=output.language_probability,
        segments=_segments(text, work),
        finished=output.finished,
    )


def _segments(text: AsrText, work: Work) -> tuple[Segment, ...]:
    state, finished = work.state, work.output.finished
    if finished is None:
        return ()
    segments = text.segments(state.ids, state.logprobs, finished)
    if work.output.options.token_logprobs:
        segments = with_logprobs(segments, state.ids, state.logprobs, text.pieces(state.ids))
    # A stop string takes away text, not ids.
    return cut_segments(segments, len(state.status.text)) if work.output.options.stop_strings else segments
