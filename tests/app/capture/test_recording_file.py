"""A recording is a whole file at every moment, whoever dies, and reads as one whatever its parts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.capture.mending import mend
from app.capture.pcm import Pcm
from app.capture.recording_file import RecordingReader, RecordingWriter
from engine.manager.media import open_media
from engine.recording import HEADER_BYTES, header, num_samples_of, open_sound, part_path, parts_of, rate_of

RATE_HZ = 16_000


def noise(num: int, seed: int = 0) -> Pcm:
    return np.random.default_rng(seed).integers(-32_768, 32_768, num).astype(np.int16)


def written(path: Path, pcm: Pcm, *, max_part_samples: int | None = None) -> Path:
    writer = RecordingWriter(path, RATE_HZ, max_part_samples=max_part_samples)
    writer.append(pcm)
    writer.close()
    return path


def test_the_file_is_valid_after_every_append(tmp_path: Path) -> None:
    path = tmp_path / "r.wav"
    writer = RecordingWriter(path, RATE_HZ)
    assert soundfile.info(path).frames == 0
    pcm = noise(5_000)
    for start in range(0, 5_000, 1_000):
        writer.append(pcm[start : start + 1_000])
        heard, rate_hz = soundfile.read(path, dtype="int16")
        assert rate_hz == RATE_HZ
        assert np.array_equal(heard, pcm[: start + 1_000])
        assert writer.num_samples == start + 1_000


def test_every_part_is_a_file_and_all_of_them_are_one_recording(tmp_path: Path) -> None:
    pcm = noise(10_500)
    path = written(tmp_path / "long talk.wav", pcm, max_part_samples=4_000)
    assert [part.path.name for part in parts_of(path)] == [
        "long talk.wav",
        "long talk.part2.wav",
        "long talk.part3.wav",
    ]
    assert [soundfile.info(part.path).frames for part in parts_of(path)] == [4_000, 4_000, 2_500]
    reader = RecordingReader(path)
    assert reader.num_samples() == num_samples_of(path) == 10_500
    assert np.array_equal(reader.read(3_990, 8_010), pcm[3_990:8_010])
    assert np.array_equal(reader.read(10_000, 99_000), pcm[10_000:])
    with open_sound(path) as file:
        assert np.array_equal(soundfile.read(file, dtype="int16")[0], pcm)


def test_the_engine_reads_all_parts(tmp_path: Path) -> None:
    pcm = noise(RATE_HZ * 2)
    path = written(tmp_path / "r.wav", pcm, max_part_samples=9_000)
    media = open_media(str(path))
    heard = np.concatenate(list(media.blocks()))
    media.close()
    assert media.info.duration == pytest.approx(2.0)
    assert np.array_equal(heard, pcm.astype(np.float32) / 32_768)


def test_a_reader_sees_the_recording_grow_into_the_next_part(tmp_path: Path) -> None:
    pcm = noise(3_000)
    writer = RecordingWriter(tmp_path / "r.wav", RATE_HZ, max_part_samples=1_000)
    reader = RecordingReader(tmp_path / "r.wav")
    for start in range(0, 3_000, 300):
        writer.append(pcm[start : start + 300])
        assert np.array_equal(reader.read(start, start + 300), pcm[start : start + 300])
    writer.close()


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path / "r.wav", noise(10))
    with pytest.raises(FileExistsError):
        RecordingWriter(path, RATE_HZ)
    assert num_samples_of(path) == 10


def test_a_killed_writer_leaves_a_length_that_can_be_mended(tmp_path: Path) -> None:
    """Killed between the samples and the length: half a sample and more than the header knows."""
    pcm = noise(2_000)
    path = written(tmp_path / "r.wav", pcm)
    with path.open("r+b") as file:
        file.write(header(RATE_HZ, 1_500))
        file.seek(0, 2)
        file.write(b"\x01")
    assert soundfile.info(path).frames == 1_500
    assert num_samples_of(path) == 2_000
    assert mend(path) == 2_000
    assert path.stat().st_size == HEADER_BYTES + 4_000
    assert np.array_equal(soundfile.read(path, dtype="int16")[0], pcm)


def test_mending_a_whole_recording_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "r.wav", noise(100))
    before = path.stat().st_mtime_ns
    assert mend(path) == 100
    assert path.stat().st_mtime_ns == before


def test_files_of_others_are_not_taken_for_ours(tmp_path: Path) -> None:
    path = tmp_path / "song.wav"
    soundfile.write(path, noise(100), RATE_HZ)
    soundfile.write(part_path(path, 2), noise(100), RATE_HZ)
    assert rate_of(path) is None
    assert parts_of(path) == []
    assert mend(path) == 0
    with open_sound(path) as file:
        assert len(soundfile.read(file)[0]) == 100
    with pytest.raises(OSError, match="song"):
        RecordingReader(path)


def test_what_is_too_long_for_wav_gets_the_header_of_rf64() -> None:
    head = header(48_000, 3_000_000_000)
    assert len(head) == HEADER_BYTES
    assert head[:4] == b"RF64"
    assert int.from_bytes(head[28:36], "little") == 6_000_000_000


def test_any_place_of_the_joined_file_can_be_reached(tmp_path: Path) -> None:
    path = written(tmp_path / "r.wav", noise(1_000), max_part_samples=300)
    with open_sound(path) as file:
        whole = file.read()
        assert len(whole) == HEADER_BYTES + 2_000
        for place in (0, 40, 79, 80, 679, 680, 681, 1_999, 2_080):
            file.seek(place)
            assert file.read(50) == whole[place : place + 50]
        assert file.seek(-10, 2) == len(whole) - 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of file sizes are POSIX")
def test_a_part_that_found_no_room_is_begun_again_and_nothing_is_lost(tmp_path: Path) -> None:
    """A disk that was full at the hour ended the recording there: the next part never got its header."""
    import resource

    pcm = noise(2_000)
    writer = RecordingWriter(tmp_path / "r.wav", RATE_HZ, max_part_samples=1_000)
    writer.append(pcm[:1_000])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        for _ in range(2):
            with pytest.raises(OSError, match="too large"):
                writer.append(pcm[1_000:])
        with pytest.raises(OSError, match="too large"):
            RecordingWriter(tmp_path / "other.wav", RATE_HZ)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.wav"]
    writer.append(pcm[1_000:])
    writer.close()
    assert np.array_equal(RecordingReader(tmp_path / "r.wav").read(0, 10**6), pcm)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of file sizes are POSIX")
def test_the_piece_that_the_system_still_took_is_kept_and_valid(tmp_path: Path) -> None:
    import resource

    pcm = noise(3_000)
    writer = RecordingWriter(tmp_path / "r.wav", RATE_HZ)
    writer.append(pcm[:1_000])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HEADER_BYTES + 3_001, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            writer.append(pcm[1_000:])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert writer.num_samples == 1_500
    assert np.array_equal(soundfile.read(tmp_path / "r.wav", dtype="int16")[0], pcm[:1_500])
    writer.append(pcm[1_500:])
    writer.close()
    assert np.array_equal(soundfile.read(tmp_path / "r.wav", dtype="int16")[0], pcm)
