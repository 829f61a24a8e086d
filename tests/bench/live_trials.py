"""Trials of a live session beside accuracy: where nothing is spoken, for an hour, and beside files."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from latency import Timed, delays, percentile
from live_feed import RATE_HZ, Player, read_samples
from live_played import Played, listen_offline, said_words, summary
from memory import MemoryLog
from ours import Engine
from speech_set import Clip, read_clips

from engine.protocol.transcript import Options

EDGE_S = 300.0
"""Of a long session: latency of its first and last part, and when memory counts from."""
LONG = "longform/en_synth_piper_joe_10min.flac"
"""What a long session hears where no file is given, over and over."""
BESIDE_MINUTES = 10.0
NONSPEECH_PACE = 0.25
"""Of the time it lasts: what is told depends on the audio alone."""


def play_nonspeech(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what is told of recordings in which nothing is spoken, live and as files."""
    clips = [clip for clip in read_clips(folder) if clip.folder == "nonspeech"]
    language = None if arguments.auto else "en"
    tails: dict[str, str] = {}
    live: dict[str, str] = {}
    player = Player(arguments.model)
    try:
        player.warm_up()
        for clip in clips:
            told = player.play(read_samples(clip.path), language, pace=NONSPEECH_PACE)
            live[clip.path.name] = told.text
            tails[clip.path.name] = max((text for text, _ in told.tails), key=len, default="")
    finally:
        player.client.close()
    engine = Engine()
    try:
        options = Options(model=arguments.model, language=language, word_timestamps=True)
        results = engine.transcribe([clip.path for clip in clips], options)
    finally:
        engine.client.close()
    files = {clip.path.name: result.text for clip, result in zip(clips, results, strict=True)}
    report: dict[str, Any] = {"num_files": len(clips), "seconds": sum(clip.seconds for clip in clips)}
    for name, texts in (("live", live), ("tail", tails), ("file", files)):
        invented = {file: text for file, text in texts.items() if text.strip()}
        report[f"{name}_characters"] = sum(len(text.strip()) for text in invented.values())
        report[f"{name}_texts"] = invented
    return report


def play_beside(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Play the same minutes twice, alone and while files are transcribed without a pause."""
    clips = _minutes_of(read_clips(folder), arguments.minutes or BESIDE_MINUTES)
    spoken = listen_offline(clips, arguments.model)
    files = [clip for clip in read_clips(folder) if clip.folder == "longform"]
    report: dict[str, Any] = {
        "num_files": arguments.beside,
        "num_together": min(arguments.together, arguments.beside),
        "seconds": sum(clip.seconds for clip in clips),
    }
    player = Player(arguments.model)
    try:
        player.warm_up()
        for name in ("alone", "beside"):
            if name == "beside":
                queue = [
                    (str(clip.path), Options(model=arguments.model, language=clip.language))
                    for clip in itertools.islice(itertools.cycle(files), arguments.beside)
                ]
                player.keep_busy(queue, together=min(arguments.together, arguments.beside))
            report[name] = summary(list(_played(player, clips, spoken, arguments)))
        report["files_seconds_meanwhile"] = player.num_busy_s
    finally:
        player.client.close()
    for share in ("p50", "p95"):
        report[f"{share}_ratio"] = (
            report["beside"][f"confirmed_{share}_s"] / report["alone"][f"confirmed_{share}_s"]
        )
    return report


def _minutes_of(clips: list[Clip], minutes: float) -> list[Clip]:
    """Return short spoken clips, every language in turn, that last so long together."""
    queues = [
        [clip for clip in clips if clip.folder == clip.language == language]
        for language in ("en", "ko", "de", "ja", "fr", "zh", "es")
    ]
    chosen: list[Clip] = []
    left_s = minutes * 60
    while left_s > 0 and any(queues):
        for waiting in filter(None, queues):
            if left_s > 0:
                chosen.append(waiting.pop(0))
                left_s -= chosen[-1].seconds
    return chosen


def _played(
    player: Player,
    clips: list[Clip],
    spoken: list[tuple[str, list[Timed]]],
    arguments: argparse.Namespace,
) -> Iterator[Played]:
    for clip, (text, words) in zip(clips, spoken, strict=True):
        told = player.play(read_samples(clip.path), None if arguments.auto else clip.language)
        yield Played(clip, text, said_words(clip, words), told)


def play_long(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Play one session for many minutes: nothing may drift, grow or be dropped."""
    sound = read_samples(arguments.file or folder / LONG)
    samples = np.resize(sound, int(arguments.minutes * 60 * RATE_HZ))
    memory = MemoryLog()
    player = Player(arguments.model)
    try:
        player.warm_up()
        told = player.play(samples, None if arguments.auto else "en", each_second=memory.note)
    finally:
        player.client.close()
    words = [(word.text, word.end) for segment in told.segments for word in segment.words]
    total_s = len(samples) / RATE_HZ
    edge_s = min(EDGE_S, total_s / 3)
    parts = {"first": (0.0, edge_s), "last": (total_s - edge_s, total_s), "all": (0.0, total_s)}
    report: dict[str, Any] = {}
    for name, (begin_s, end_s) in parts.items():
        spoken = [word for word in words if begin_s <= word[1] < end_s]
        deltas = [delta for delta in told.deltas if begin_s <= delta[1] < end_s + 60]
        late = delays(spoken, deltas, "en")
        report[f"confirmed_p50_{name}_s"] = percentile(late, 0.5)
        report[f"confirmed_p95_{name}_s"] = percentile(late, 0.95)
    return report | {
        "minutes": arguments.minutes,
        "dropped_samples": len(samples) - told.num_received,
        "stop_to_final_s": told.stop_to_final_s,
        "backlog_max_s": told.backlog_max_s,
        "confirmed_erasure": told.num_erased / max(1, len(told.text)),
        "memory_slope_mb_per_hour": memory.slopes_mb_per_hour(after_s=min(EDGE_S, total_s / 3)),
        "memory_mb": memory.sizes_mb(every_s=EDGE_S),
        "cpu_share": memory.cpu_share(),
        "num_characters": len(told.text),
    }
