"""The peer's side of a benchmark, run by the peers' own interpreter: one JSON object a file on stdout.

Reads a job a line on stdin: `{"model": folder, "compute_type": ..., "beam_size": n, "word_timestamps":
bool, "threads": n, "batch_size": n, if windows are to be batched, "files": [[path, language or null],
...]}`. The model of the first job serves all.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from faster_whisper import BatchedInferencePipeline, WhisperModel


def main() -> None:
    model = None
    for line in sys.stdin:
        job = json.loads(line)
        model = model or WhisperModel(
            job["model"], device="cpu", compute_type=job["compute_type"], cpu_threads=job["threads"]
        )
        transcribe(model, job)


def transcribe(model: WhisperModel, job: dict[str, Any]) -> None:
    """Print what each file says; a batch carries no text over by itself."""
    if "batch_size" in job:
        engine, settings = BatchedInferencePipeline(model), {"batch_size": job["batch_size"]}
    else:
        engine, settings = model, {"condition_on_previous_text": False}
    for path, language in job["files"]:
        start_s = time.monotonic()
        segments, info = engine.transcribe(
            path,
            language=language,
            beam_size=job["beam_size"],
            temperature=0.0,
            vad_filter=True,
            word_timestamps=job["word_timestamps"],
            **settings,
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
