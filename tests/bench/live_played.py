"""What was played to a live session, what an offline run makes of it, and the numbers of both together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jiwer
from latency import Timed, delays, num_taken_back, percentile
from live_feed import Told
from ours import Engine
from scoring import pooled, score, units
from speech_set import Clip

from engine.protocol.transcript import Options


@dataclass(frozen=True)
class Played:
    """A clip, what an offline run made of it, and what was told live."""

    clip: Clip
    offline: str
    spoken: list[Timed]
    told: Told


def listen_offline(clips: list[Clip], model: str) -> list[tuple[str, list[Timed]]]:
    """Return text, and words with their ends, of each clip as a file."""
    engine = Engine()
    try:
        results = []
        for clip in clips:
            options = Options(model=model, language=clip.language, word_timestamps=True)
            (result,) = engine.transcribe([clip.path], options)
            words = [(word.text, word.end) for segment in result.segments for word in segment.words]
            results.append((result.text, words))
        return results
    finally:
        engine.client.close()


def said_words(clip: Clip, words: list[Timed]) -> list[Timed]:
    """Return the units of `words` that the reference has too."""
    wanted = units(clip.reference, clip.language)
    heard = [(unit, end_s) for text, end_s in words for unit in units(text, clip.language)]
    if not wanted or not heard:
        return []
    path = jiwer.process_words(" ".join(wanted), " ".join(unit for unit, _ in heard)).alignments[0]
    return [
        heard[index]
        for part in path
        if part.type == "equal"
        for index in range(part.hyp_start_idx, part.hyp_end_idx)
    ]


def summary(played: list[Played]) -> dict[str, Any]:
    """Return the numbers of some clips together."""
    late = [d for item in played for d in delays(item.spoken, item.told.deltas, item.clip.language)]
    live = [score(item.clip.reference, item.told.text, item.clip.language) for item in played]
    offline = [score(item.clip.reference, item.offline, item.clip.language) for item in played]
    firsts = [item.told.first_tail_s for item in played if item.told.first_tail_s is not None]
    num_final = sum(len(item.told.text) for item in played)
    erased = sum(num_taken_back(item.told.deltas, item.told.tails) for item in played)
    seconds = sum(item.clip.seconds for item in played)
    return {
        "confirmed_p50_s": percentile(late, 0.5),
        "confirmed_p95_s": percentile(late, 0.95),
        "first_tail_p50_s": percentile(firsts, 0.5),
        "stop_to_final_s": percentile([item.told.stop_to_final_s for item in played], 0.5),
        "stop_to_final_max_s": max(item.told.stop_to_final_s for item in played),
        "confirmed_error": pooled(live),
        "offline_error": pooled(offline),
        # The peer keeps no segments that could differ from what it told.
        "confirmed_erasure": sum(item.told.num_erased for item in played if item.told.segments)
        / max(1, num_final),
        "tail_erasure": erased / max(1, num_final),
        "backlog_max_s": max(item.told.backlog_max_s for item in played),
        "num_steps": sum(item.told.num_steps for item in played),
        "num_steps_without_draft": sum(item.told.num_steps + item.told.num_steps_saved for item in played),
        "num_words": len(late),
        "seconds": seconds,
    }
