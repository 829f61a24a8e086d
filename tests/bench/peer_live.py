"""The peer's side of the live benchmark: local agreement over faster-whisper, at the pace of time.

Run by the peers' own interpreter. The policy is the one Macháček et al. describe ("Turning Whisper into
Real-Time Transcription System", 2023), written anew: the audio since the last trim is decoded whenever a
second more of it is there; words that two decodes in a row begin with are confirmed; beyond 15 s the
audio before the last confirmed segment goes, and the text that left with it becomes the prompt (200
characters); at the end the rest of the last decode is confirmed.

Reads `{"model": folder, "compute_type": ..., "threads": n, "files": [[npy, language], ...]}` on stdin,
writes one JSON object a file.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from faster_whisper import WhisperModel

RATE_HZ = 16_000
CHUNK_S = 1.0
TRIM_S = 15.0
PROMPT_CHARS = 200
NEAR_S = 0.1
MAX_REPEATED = 5


class Agreement:
    """One session: `words` are (start, end, text) in seconds of the recording."""

    def __init__(self) -> None:
        self.confirmed: list[tuple[float, float, str]] = []
        self.last: list[tuple[float, float, str]] = []
        self.until_s = 0.0

    def update(self, words: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
        """Take a decode; return the newly confirmed words."""
        fresh = self._without_repeats([word for word in words if word[0] > self.until_s - NEAR_S])
        agreed = []
        for new, old in zip(fresh, self.last, strict=False):
            if new[2] != old[2]:
                break
            agreed.append(new)
        self.last = fresh[len(agreed) :]
        self.confirmed += agreed
        if agreed:
            self.until_s = agreed[-1][1]
        return agreed

    def _without_repeats(self, words: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
        """Leave out a few first words that are the last confirmed ones again."""
        for count in range(min(MAX_REPEATED, len(self.confirmed), len(words)), 0, -1):
            if words[0][0] - self.until_s >= 1.0:
                break
            if [w[2] for w in self.confirmed[-count:]] == [w[2] for w in words[:count]]:
                return words[count:]
        return words


def play(model: WhisperModel, samples: np.ndarray, language: str) -> dict[str, Any]:
    """Listen to a recording as if it were spoken now."""
    agreement, offset_s, prompt = Agreement(), 0.0, ""
    deltas: list[tuple[str, float]] = []
    tails: list[tuple[str, float]] = []
    total_s = len(samples) / RATE_HZ
    begin_s = time.monotonic()
    decoded_s = backlog_s = 0.0
    while decoded_s < total_s:
        now_s = min(total_s, time.monotonic() - begin_s)
        if now_s - decoded_s < min(CHUNK_S, total_s - decoded_s):
            time.sleep(0.01)
            continue
        backlog_s = max(backlog_s, now_s - decoded_s)
        audio = samples[round(offset_s * RATE_HZ) : round(now_s * RATE_HZ)]
        segments, _ = model.transcribe(
            audio,
            language=language,
            beam_size=1,
            temperature=0.0,
            word_timestamps=True,
            condition_on_previous_text=False,
            initial_prompt=prompt[-PROMPT_CHARS:] or None,
        )
        heard = list(segments)
        words = [(w.start + offset_s, w.end + offset_s, w.word) for s in heard for w in s.words or []]
        agreed = agreement.update(words)
        decoded_s = now_s
        told_s = time.monotonic() - begin_s
        if agreed:
            deltas.append(("".join(word[2] for word in agreed), told_s))
        tails.append(("".join(word[2] for word in agreement.last), told_s))
        if now_s - offset_s > TRIM_S:
            ends = [s.end + offset_s for s in heard if s.end + offset_s <= agreement.until_s]
            if ends and ends[-1] > offset_s:
                offset_s = ends[-1]
                prompt = "".join(word[2] for word in agreement.confirmed if word[1] <= offset_s)
    told_s = time.monotonic() - begin_s
    deltas.append(("".join(word[2] for word in agreement.last), told_s))
    return {
        "deltas": deltas,
        "tails": tails,
        "stop_to_final_s": max(0.0, told_s - total_s),
        "backlog_max_s": backlog_s,
    }


def main() -> None:
    job = json.load(sys.stdin)
    model = WhisperModel(
        job["model"], device="cpu", compute_type=job["compute_type"], cpu_threads=job["threads"]
    )
    list(model.transcribe(np.zeros(RATE_HZ, np.float32), language="en", beam_size=1)[0])
    for path, language in job["files"]:
        print(json.dumps(play(model, np.load(path), language), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
