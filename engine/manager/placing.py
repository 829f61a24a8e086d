"""Places the tokens of a live answer in the recording: by the model's times, or on the speech heard; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.adapters.placing import place_parts
from engine.adapters.sentences import spoken_s
from engine.adapters.words import word_sizes
from engine.manager.confirm import Piece
from engine.manager.live import Plan
from engine.messages import SAMPLE_RATE_HZ, Finished, Spans, StrOutput
from engine.protocol.transcript import TimeSource, after_move

Timed = tuple[float, float, TimeSource]
"""Start and end in seconds within the chunk, and where they come from."""


@dataclass
class Reply:
    """What was told of one chunk so far."""

    ids: list[int] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    attended_s: list[float] = field(default_factory=list)

    def take(self, output: StrOutput) -> None:
        """Add what is new."""
        self.ids += output.ids
        self.pieces += output.pieces
        self.logprobs += output.logprobs
        self.attended_s += output.attended_s


def place_pieces(reply: Reply, finished: Finished, plan: Plan) -> tuple[Piece, ...]:
    """Return an answer's tokens in order and within the plan's audio, behind its prefix.

    Where the model gives no times, each word lies on the speech behind the prefix, as long as it takes to
    say beside the others.
    """
    placed: list[Piece] = []
    reached = plan.prefix[-1].start if plan.prefix else plan.start
    for index, (start_s, end_s, source) in enumerate(_times(reply, finished, plan)):
        start = min(plan.end, max(reached, _sample(plan, start_s)))
        end = min(plan.end, max(start, _sample(plan, end_s)))
        now_s = (start - plan.start) / SAMPLE_RATE_HZ, (end - plan.start) / SAMPLE_RATE_HZ
        attended_s = reply.attended_s[index] if index < len(reply.attended_s) else end_s
        placed.append(
            Piece(
                reply.ids[index],
                reply.pieces[index],
                start,
                end,
                _sample(plan, attended_s),
                reply.logprobs[index],
                after_move(source, (start_s, end_s), now_s),
            )
        )
        reached = start
    return tuple(placed)


def _times(reply: Reply, finished: Finished, plan: Plan) -> list[Timed]:
    if len(finished.token_times) >= len(reply.ids):
        guessed = set(finished.guessed)
        return [
            (*span, TimeSource.INTERPOLATED if index in guessed else finished.times_source)
            for index, span in enumerate(finished.token_times[: len(reply.ids)])
        ]
    if len(reply.attended_s) >= len(reply.ids):
        return [(time_s, time_s, TimeSource.MODEL) for time_s in reply.attended_s[: len(reply.ids)]]
    reached = plan.prefix[-1].end if plan.prefix else plan.start
    return _on_speech(reply.pieces, finished.speech, *_seconds(plan, reached, plan.end))


def _on_speech(pieces: Sequence[bytes], speech: Spans, from_s: float, until_s: float) -> list[Timed]:
    """Lay tokens over the speech within [from_s, until_s), or over all of it where none was heard."""
    length_s = until_s - from_s
    clipped = [(max(0.0, begin - from_s), min(length_s, end - from_s)) for begin, end in speech]
    heard = tuple((begin, end) for begin, end in clipped if begin < end)
    shown = [piece for piece in pieces if piece]
    sizes = word_sizes(shown)
    words: list[list[bytes]] = []
    for size in sizes:
        first = sum(map(len, words))
        words.append(shown[first : first + size])
    lengths_s = [spoken_s(b"".join(word).decode(errors="replace")) for word in words]
    times: list[Timed] = []
    for word, place in zip(words, place_parts(lengths_s, heard, length_s), strict=True):
        step_s = (place.end_s - place.start_s) / len(word)
        for index in range(len(word)):
            start_s = from_s + place.start_s + index * step_s
            times.append((start_s, start_s + step_s, place.source))
    return _with_hidden(pieces, times, from_s)


def _with_hidden(pieces: Sequence[bytes], times: Sequence[Timed], reached_s: float) -> list[Timed]:
    """Put in tokens without text, each where the one before it ends."""
    shown = iter(times)
    result: list[Timed] = []
    for piece in pieces:
        found = next(shown) if piece else (reached_s, reached_s, TimeSource.INTERPOLATED)
        result.append(found)
        reached_s = found[1]
    return result


def _seconds(plan: Plan, *samples: int) -> tuple[float, float]:
    first, last = ((sample - plan.start) / SAMPLE_RATE_HZ for sample in samples)
    return first, last


def _sample(plan: Plan, seconds: float) -> int:
    return plan.start + round(seconds * SAMPLE_RATE_HZ)
