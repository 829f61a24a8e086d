"""A media thread says one thing per credit, ends once, and says nothing after it was stopped."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from engine.ipc import Inbox, new_address
from engine.manager.cutter import Cutting
from engine.manager.reader import MediaReader, Reading, probe_media
from engine.messages import (
    MediaChunk,
    MediaEnd,
    MediaFailed,
    MediaOpened,
    MediaTrouble,
    NothingUntil,
    ThreadMessage,
)
from engine.protocol.failures import FailureKind
from tests.helpers.sounds import Samples, silence, tone, write_media

JOB = "job-1"
SECOND = 16_000
PATIENCE_S = 30.0


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox[Any]]:
    box: Inbox[Any] = Inbox(new_address(tmp_path / "run", "test", 1), ThreadMessage)
    yield box
    box.close()


def listen(inbox: Inbox[Any], num_messages: int) -> list[Any]:
    messages: list[Any] = []
    until = time.monotonic() + PATIENCE_S
    while len(messages) < num_messages and time.monotonic() < until:
        messages += inbox.drain(0.2)
    return messages


def read_to_the_end(inbox: Inbox[Any], reading: Reading) -> list[Any]:
    """Give a credit for every message until the reader ends."""
    reader = MediaReader(reading, inbox.address)
    reader.credit()
    reader.start()
    messages: list[Any] = []
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for message in inbox.drain(0.2):
            messages.append(message)
            if isinstance(message, MediaChunk | NothingUntil):
                reader.credit()
        if messages and isinstance(messages[-1], MediaEnd | MediaFailed):
            break
    assert reader.join(PATIENCE_S)
    return messages


def sound(path: Path, samples: Samples) -> str:
    soundfile.write(path, samples, 16_000, "PCM_16")
    return str(path)


def reading(path: str, *, max_chunk_s: float = 4.0, use_vad: bool = False, **changes: Any) -> Reading:
    return Reading(job=JOB, path=path, cutting=Cutting(max_chunk_s=max_chunk_s, use_vad=use_vad), **changes)


def melody(num_notes: int) -> Samples:
    """Return tones of three seconds with half a second of silence between them."""
    return np.concatenate([part for _ in range(num_notes) for part in (tone(3.0), silence(0.5))])


def test_a_file_is_told_as_opening_chunks_and_one_ending(tmp_path: Path, inbox: Inbox[Any]) -> None:
    samples = melody(5)
    messages = read_to_the_end(inbox, reading(sound(tmp_path / "a.wav", samples)))
    opened, *chunks, end = messages
    assert isinstance(opened, MediaOpened)
    assert opened.info.duration == pytest.approx(len(samples) / SECOND)
    assert end == MediaEnd(job=JOB, num_chunks=len(chunks), num_samples=len(samples))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    read, _ = soundfile.read(tmp_path / "a.wav", dtype="float32")
    for chunk in chunks:
        pcm = np.frombuffer(chunk.pcm, "<f4")
        assert np.allclose(pcm, read[chunk.start_sample : chunk.start_sample + len(pcm)], atol=1e-4)
        assert len(pcm) <= 4 * SECOND


def test_nothing_more_is_said_than_was_credited(tmp_path: Path, inbox: Inbox[Any]) -> None:
    reader = MediaReader(reading(sound(tmp_path / "a.wav", melody(6))), inbox.address)
    reader.start()
    assert [type(m) for m in listen(inbox, 1)] == [MediaOpened]
    reader.credit(2)
    assert [type(m) for m in listen(inbox, 2)] == [MediaChunk, MediaChunk]
    assert inbox.drain(0.2) == []
    reader.stop()
    assert reader.join(PATIENCE_S)
    assert inbox.drain(0.1) == []


def test_long_silence_is_told_now_and_then(tmp_path: Path, inbox: Inbox[Any]) -> None:
    path = sound(tmp_path / "quiet.wav", silence(100.0))
    _, *news, end = read_to_the_end(inbox, reading(path, use_vad=True))
    assert [type(m) for m in news] == [NothingUntil] * 3
    assert [m.sample // SECOND for m in news] == pytest.approx([30, 60, 90], abs=3)
    assert end.num_chunks == 0


def test_a_resumed_file_counts_the_chunks_it_does_not_send(tmp_path: Path, inbox: Inbox[Any]) -> None:
    path = sound(tmp_path / "a.wav", melody(6))
    whole = [m for m in read_to_the_end(inbox, reading(path)) if isinstance(m, MediaChunk)]
    boundary = whole[3].start_sample + 100
    messages = read_to_the_end(inbox, reading(path, resume_at_sample=boundary))
    chunks = [m for m in messages if isinstance(m, MediaChunk)]
    assert chunks == whole[chunks[0].index :]
    assert chunks[0].start_sample <= boundary
    assert messages[-1].num_chunks == len(whole)


def test_a_file_that_cannot_be_read_fails_by_name(tmp_path: Path, inbox: Inbox[Any]) -> None:
    (tmp_path / "no.wav").write_bytes(b"not a sound" * 1000)
    (failed,) = read_to_the_end(inbox, reading(str(tmp_path / "no.wav")))
    assert isinstance(failed, MediaFailed)
    assert failed.failure.kind is FailureKind.BAD_MEDIA
    assert "no.wav" in failed.failure.message


def test_a_file_without_a_single_sample_is_empty(tmp_path: Path, inbox: Inbox[Any]) -> None:
    path = sound(tmp_path / "none.wav", silence(0.0))
    _, failed = read_to_the_end(inbox, reading(path))
    assert failed.failure.kind is FailureKind.EMPTY_AUDIO


def test_damage_is_reported_and_the_rest_is_read(tmp_path: Path, inbox: Inbox[Any]) -> None:
    path = write_media(tmp_path / "cut.flac", [tone(10.0)], codec="flac", container="flac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    messages = read_to_the_end(inbox, reading(str(path)))
    troubles = [m for m in messages if isinstance(m, MediaTrouble)]
    assert [t.failure.kind for t in troubles] == [FailureKind.DAMAGED_MEDIA]
    assert isinstance(messages[-1], MediaEnd)
    assert any(isinstance(m, MediaChunk) for m in messages)


def test_stopping_a_reader_that_waits_ends_it_silently(tmp_path: Path, inbox: Inbox[Any]) -> None:
    reader = MediaReader(reading(sound(tmp_path / "a.wav", melody(4))), inbox.address)
    reader.start()
    listen(inbox, 1)
    reader.stop()
    assert reader.join(PATIENCE_S)
    assert inbox.drain(0.1) == []


def test_a_long_file_is_never_in_memory(tmp_path: Path, inbox: Inbox[Any]) -> None:
    with soundfile.SoundFile(tmp_path / "long.wav", "w", 16_000, 1, "PCM_16") as file:
        for _ in range(5):
            file.write(melody(17))
    tracemalloc.start()
    messages = read_to_the_end(inbox, reading(str(tmp_path / "long.wav"), max_chunk_s=30.0))
    num_chunks = sum(isinstance(m, MediaChunk) for m in messages)
    held_bytes = sum(len(m.pcm) for m in messages if isinstance(m, MediaChunk))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert num_chunks > 8
    assert peak_bytes - held_bytes < 12_000_000


def test_probing_tells_what_is_in_a_file_and_ends(tmp_path: Path, inbox: Inbox[Any]) -> None:
    probe_media(JOB, sound(tmp_path / "a.wav", tone(1.0)), inbox.address)
    opened, end = listen(inbox, 2)
    assert opened.info.tracks[0].sample_rate_hz == 16_000
    assert end == MediaEnd(job=JOB, num_chunks=0, num_samples=0)
    probe_media(JOB, str(tmp_path / "gone.wav"), inbox.address)
    (failed,) = listen(inbox, 1)
    assert failed.failure.kind is FailureKind.NOT_FOUND


@pytest.mark.speech
def test_speech_is_cut_in_silence_into_full_chunks(speech: Path, inbox: Inbox[Any]) -> None:
    path = speech / "longform" / "en_ljspeech_LJ001_0001-0032.flac"
    messages = read_to_the_end(inbox, reading(str(path), max_chunk_s=30.0, use_vad=True))
    chunks = [m for m in messages if isinstance(m, MediaChunk)]
    assert len(chunks) == 9
    assert all(chunk.overlap_samples == 0 for chunk in chunks)
