"""Any file becomes 16 kHz mono, and the voice in it survives."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.manager.downmix import Samples
from engine.manager.media import open_media
from engine.protocol.failures import FailureError, FailureKind
from tests.helpers.sounds import silence, tone, write_media


def read_all(path: Path, track: int | None = None) -> Samples:
    media = open_media(str(path), track)
    try:
        return np.concatenate([*media.blocks(), np.zeros(0, np.float32)])
    finally:
        media.close()


def level(samples: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0


def kind_of(path: Path) -> FailureKind:
    with pytest.raises(FailureError) as caught:
        read_all(path)
    assert path.name in caught.value.failure.message
    return caught.value.failure.kind


@pytest.mark.parametrize(
    ("codec", "container", "rate"),
    [
        ("pcm_s16le", "wav", 8_000),
        ("pcm_f32le", "wav", 44_100),
        ("flac", "flac", 48_000),
        ("libopus", "ogg", 48_000),
        ("libmp3lame", "mp3", 44_100),
        ("aac", "mp4", 44_100),
        ("libopus", "matroska", 48_000),
        ("pcm_s16le", "avi", 16_000),
    ],
)
def test_a_tone_arrives_at_16_khz_whatever_it_came_in(
    tmp_path: Path, codec: str, container: str, rate: int
) -> None:
    path = write_media(
        tmp_path / "no name helps",
        [tone(2.0, hz=1000, rate=rate)],
        rate=rate,
        codec=codec,
        container=container,
    )
    samples = read_all(path)
    assert samples.dtype == np.float32
    assert abs(len(samples) - 32_000) < 1600
    spectrum = np.abs(np.fft.rfft(samples[8000:24_000]))
    assert abs(int(spectrum.argmax()) - 1000) <= 2


def test_blocks_are_half_a_second_so_that_long_files_never_sit_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    with soundfile.SoundFile(path, "w", 16_000, 1, "PCM_16") as file:
        for _ in range(30):
            file.write(np.zeros(16_000 * 60, np.int16))
    media = open_media(str(path))
    tracemalloc.start()
    sizes = [len(block) for block in media.blocks()]
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    media.close()
    assert sum(sizes) == 30 * 60 * 16_000
    assert max(sizes) == 8000
    assert peak_bytes < 8_000_000


def test_stereo_out_of_phase_keeps_its_voice(tmp_path: Path) -> None:
    left = tone(3.0)
    path = write_media(tmp_path / "phase.wav", [np.stack([left, -left])])
    assert level(read_all(path)) > 0.5 * level(left)


@pytest.mark.parametrize("loud", [0, 1])
def test_a_voice_in_one_channel_is_heard(tmp_path: Path, loud: int) -> None:
    channels = [silence(2.0), silence(2.0)]
    channels[loud] = tone(2.0)
    path = write_media(tmp_path / "half.wav", [np.stack(channels)])
    assert level(read_all(path)) > 0.4 * level(channels[loud])


def test_a_voice_in_the_centre_of_surround_sound_is_heard(tmp_path: Path) -> None:
    channels = np.stack([silence(2.0)] * 6)
    channels[2] = tone(2.0)
    path = write_media(tmp_path / "film.wav", [channels])
    assert level(read_all(path)) > 0.5 * level(channels[2])


def test_a_silent_first_track_does_not_win(tmp_path: Path) -> None:
    path = write_media(
        tmp_path / "two.mkv", [silence(5.0), tone(5.0)], codec="pcm_s16le", container="matroska"
    )
    assert level(read_all(path)) > 0.1
    assert level(read_all(path, track=0)) < 0.001


def test_the_first_track_wins_when_it_only_begins_silent(tmp_path: Path) -> None:
    film = np.concatenate([silence(40.0), tone(60.0, hz=300)])
    commentary = tone(100.0, hz=2000)
    path = write_media(tmp_path / "film.mkv", [film, commentary], codec="pcm_s16le", container="matroska")
    spectrum = np.abs(np.fft.rfft(read_all(path)[60 * 16_000 : 61 * 16_000]))
    assert int(spectrum.argmax()) == 300


def test_tracks_are_described_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    path = write_media(tmp_path / "two.mkv", [tone(1.0), tone(1.0)], codec="pcm_s16le", container="matroska")
    media = open_media(str(path))
    assert [track.index for track in media.info.tracks] == [0, 1]
    assert media.info.tracks[0].sample_rate_hz == 16_000
    assert media.info.duration == pytest.approx(1.0, abs=0.1)
    media.close()
    with pytest.raises(FailureError) as caught:
        open_media(str(path), track=2)
    assert caught.value.failure.kind is FailureKind.NO_AUDIO


def test_a_track_that_starts_late_begins_with_silence(tmp_path: Path) -> None:
    path = write_media(
        tmp_path / "late.mkv",
        [tone(4.0, hz=2000), tone(2.0)],
        codec="pcm_s16le",
        container="matroska",
        starts_s=(0.0, 1.5),
    )
    media = open_media(str(path), track=1)
    samples = np.concatenate(list(media.blocks()))
    media.close()
    assert media.info.start_offset == pytest.approx(1.5, abs=0.01)
    assert abs(int(np.flatnonzero(np.abs(samples) > 0.01)[0]) - 24_000) < 200
    assert len(samples) == pytest.approx(56_000, abs=400)


def test_a_stretch_that_is_missing_is_silence_so_later_times_stay_true(tmp_path: Path) -> None:
    sound = np.concatenate([tone(4.0, rate=48_000), silence(1.0, 48_000), tone(5.0, hz=1500, rate=48_000)])
    path = write_media(tmp_path / "gap.opus", [sound], codec="libopus", container="ogg", rate=48_000)
    data = bytearray(path.read_bytes())
    fifth = len(data) // 5
    data[fifth : 2 * fifth] = bytes(fifth)
    path.write_bytes(data)
    media = open_media(str(path))
    samples = np.concatenate(list(media.blocks()))
    media.close()
    assert media.num_damaged > 0
    assert len(samples) == pytest.approx(160_000, abs=400)
    spectrum = np.abs(np.fft.rfft(samples[-32_000:-16_000]))
    assert abs(int(spectrum.argmax()) - 1500) <= 2


def test_a_file_whose_end_is_missing_is_reported(tmp_path: Path) -> None:
    path = write_media(tmp_path / "cut.flac", [tone(10.0)], codec="flac", container="flac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    media = open_media(str(path))
    assert 0 < sum(map(len, media.blocks())) < 128_000
    media.close()
    assert media.num_damaged > 0


def test_damaged_packets_are_skipped_and_counted(tmp_path: Path) -> None:
    path = write_media(tmp_path / "scratched.flac", [tone(4.0)], codec="flac", container="flac")
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 2, len(data) // 2 + 3000):
        data[place] ^= 0x5A
    path.write_bytes(data)
    media = open_media(str(path))
    samples = np.concatenate(list(media.blocks()))
    media.close()
    assert media.num_damaged > 0
    assert len(samples) == pytest.approx(64_000, abs=12_000)
    assert level(samples[-8000:]) > 0.1


def test_samples_that_are_no_numbers_are_silence(tmp_path: Path) -> None:
    samples = tone(2.0)
    samples[10_000:10_100] = np.nan
    samples[20_000] = np.inf
    soundfile.write(tmp_path / "nan.wav", samples, 16_000, "FLOAT")
    read = read_all(tmp_path / "nan.wav")
    assert np.isfinite(read).all()
    assert level(read) == pytest.approx(level(tone(2.0)), rel=0.05)


def test_floats_far_over_full_scale_are_brought_back(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "loud.wav", tone(3.0) * 100_000, 16_000, "FLOAT")
    read = read_all(tmp_path / "loud.wav")
    assert np.abs(read[4000:]).max() <= 1.01
    assert level(read[4000:]) > 0.3


def test_one_loud_click_does_not_bury_what_follows(tmp_path: Path) -> None:
    samples = np.concatenate([silence(1.0), tone(20.0)])
    samples[500] = 5000.0
    soundfile.write(tmp_path / "click.wav", samples, 16_000, "FLOAT")
    assert level(read_all(tmp_path / "click.wav")[-16_000:]) == pytest.approx(level(tone(1.0)), rel=0.05)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF])
def test_a_wav_whose_recorder_never_wrote_its_size_is_read_whole(tmp_path: Path, size: int) -> None:
    path = write_media(tmp_path / "killed.wav", [tone(2.0)])
    data = bytearray(path.read_bytes())
    place = data.index(b"data") + 4
    data[place : place + 4] = size.to_bytes(4, "little")
    path.write_bytes(data)
    assert abs(len(read_all(path)) - 32_000) <= 1


@pytest.mark.parametrize(("codec", "container"), [("libmp3lame", "mp3"), ("flac", "flac"), ("aac", "adts")])
def test_a_cover_picture_of_megabytes_does_not_hide_the_sound(
    tmp_path: Path, codec: str, container: str
) -> None:
    path = write_media(
        tmp_path / "cover", [tone(2.0, rate=44_100)], rate=44_100, codec=codec, container=container
    )
    size = 3_000_000
    digits = bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))
    path.write_bytes(b"ID3\x04\x00\x00" + digits + b"\x11" * size + path.read_bytes())
    assert level(read_all(path)) > 0.15


def test_a_single_sample_is_no_trouble(tmp_path: Path) -> None:
    assert len(read_all(write_media(tmp_path / "one.wav", [tone(2.0)[1:2]]))) == 1


def test_what_cannot_be_read_says_why_and_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "empty.mp3").write_bytes(b"")
    assert kind_of(tmp_path / "empty.mp3") is FailureKind.EMPTY_AUDIO
    (tmp_path / "page.mp3").write_text("<html><body>404 not found</body></html>")
    assert kind_of(tmp_path / "page.mp3") is FailureKind.BAD_MEDIA
    (tmp_path / "noise.wav").write_bytes(np.random.default_rng(1).bytes(50_000))
    assert kind_of(tmp_path / "noise.wav") is FailureKind.BAD_MEDIA
    assert kind_of(tmp_path / "gone.wav") is FailureKind.NOT_FOUND
    (tmp_path / "folder.wav").mkdir()
    assert kind_of(tmp_path / "folder.wav") is FailureKind.BAD_MEDIA


def test_a_recording_that_was_never_finished_is_told_from_other_damage(tmp_path: Path) -> None:
    path = write_media(tmp_path / "cut.m4a", [tone(20.0)], codec="aac", container="mp4")
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"moov") - 4])
    assert kind_of(path) is FailureKind.UNFINISHED_MEDIA


def test_a_name_that_is_no_text_can_still_be_told(tmp_path: Path) -> None:
    with pytest.raises(FailureError) as caught:
        open_media(str(tmp_path / "caf\udce9.wav"))
    assert caught.value.failure.subject == "caf?.wav"
