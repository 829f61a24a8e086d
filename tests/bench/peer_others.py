"""The sides of openai-whisper, transformers and whisper.cpp, run by the peers' own interpreter.

Reads a job a line on stdin: `{"engine": name, "model": path, "threads": n, "files": [[path, language],
...]}`; one JSON object a file on stdout, and one that says nothing to a job without files, when the engine
is loaded. That of the first job serves all. Each is asked as its
own documents say for long files: greedy, the language given, no text carried from window to window.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from faster_whisper.audio import decode_audio

Transcribe = Callable[[Any, str], list[str]]
"""Takes samples at 16 kHz and a language; returns the texts of segments."""


def main() -> None:
    # Some of these programs write to stdout of their own accord: answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    transcribe: Transcribe | None = None
    for line in sys.stdin:
        job = json.loads(line)
        transcribe = transcribe or LOADERS[job["engine"]](job["model"], job["threads"])
        if not job["files"]:
            answer(answers, [], 0.0)
        for path, language in job["files"]:
            started_s = time.monotonic()
            told = transcribe(decode_audio(path), language)
            answer(answers, told, time.monotonic() - started_s)


def answer(answers: TextIO, texts: list[str], elapsed_s: float) -> None:
    segments = [{"text": text} for text in texts]
    answers.write(json.dumps({"segments": segments, "elapsed_s": elapsed_s}) + "\n")
    answers.flush()


def load_openai(model: str, threads: int) -> Transcribe:
    import torch
    import whisper

    torch.set_num_threads(threads)
    network = whisper.load_model(model, device="cpu")

    def transcribe(samples: Any, language: str) -> list[str]:
        told = network.transcribe(
            samples, language=language, temperature=0.0, condition_on_previous_text=False, fp16=False
        )
        return [segment["text"] for segment in told["segments"]]

    return transcribe


def load_transformers(model: str, threads: int) -> Transcribe:
    import torch
    from transformers import pipeline

    torch.set_num_threads(threads)
    recognise = pipeline(
        "automatic-speech-recognition", model=model, device="cpu", chunk_length_s=30, batch_size=8
    )
    is_multilingual = bool(recognise.model.generation_config.is_multilingual)

    def transcribe(samples: Any, language: str) -> list[str]:
        asked = {"language": language, "task": "transcribe"} if is_multilingual else {}
        told = recognise(
            {"raw": samples, "sampling_rate": 16_000}, return_timestamps=True, generate_kwargs=asked
        )
        return [told["text"]]

    return transcribe


def load_whisper_cpp(model: str, threads: int) -> Transcribe:
    from pywhispercpp.model import Model

    network = Model(
        model, n_threads=threads, print_progress=False, print_realtime=False, redirect_whispercpp_logs_to=None
    )

    def transcribe(samples: Any, language: str) -> list[str]:
        return [
            " " + segment.text for segment in network.transcribe(samples, language=language, no_context=True)
        ]

    return transcribe


LOADERS: dict[str, Callable[[str, int], Transcribe]] = {
    "openai": load_openai,
    "transformers": load_transformers,
    "whisper.cpp": load_whisper_cpp,
}


if __name__ == "__main__":
    main()
