"""The peer's side of a benchmark, run by the peers' own interpreter: one JSON object a file on stdout.

Reads `{"model": folder, "compute_type": ..., "beam_size": n, "word_timestamps": bool, "files":
[[path, language or null], ...]}` on stdin.
"""

from __future__ import annotations

import json
import resource
import sys
import time

from faster_whisper import WhisperModel


def main() -> None:
    job = json.load(sys.stdin)
    model = WhisperModel(
        job["model"], device="cpu", compute_type=job["compute_type"], cpu_threads=job["threads"]
    )
    for path, language in job["files"]:
        start_s = time.monotonic()
        segments, info = model.transcribe(
            path,
            language=language,
            beam_size=job["beam_size"],
            temperature=0.0,
            vad_filter=True,
            condition_on_previous_text=False,
            word_timestamps=job["word_timestamps"],
        )
        told = []
        for segment in segments:
            words = [[word.word, word.start, word.end] for word in segment.words or []]
            told.append({"start": segment.start, "end": segment.end, "text": segment.text, "words": words})
        elapsed_s = time.monotonic() - start_s
        peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        line = {"segments": told, "language": info.language, "elapsed_s": elapsed_s, "peak_bytes": peak_bytes}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
