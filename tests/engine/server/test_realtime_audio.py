"""Sound of a realtime session: decoded, resampled, kept on the disk."""

from __future__ import annotations

from pathlib import Path

import av
import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from engine.server.realtime_audio import RATES_HZ, AudioFormat, Decoder
from engine.server.tape import PART_SAMPLES, Tape


def _decoded(format_: AudioFormat, data: bytes, sizes: list[int]) -> np.ndarray:
    decoder, parts = Decoder(format_), []
    for size in sizes:
        parts.append(decoder.decode(data[:size]))
        data = data[size:]
    return np.concatenate([*parts, decoder.decode(data)])


def _peak_hz(samples: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(spectrum.argmax() * 16_000 / len(samples))


@pytest.mark.parametrize(
    ("format_", "codec"), [(AudioFormat.PCMU, "pcm_mulaw"), (AudioFormat.PCMA, "pcm_alaw")]
)
def test_every_code_of_g711_is_what_ffmpeg_makes_of_it(format_: AudioFormat, codec: str) -> None:
    from engine.server import realtime_audio

    reference = av.CodecContext.create(codec, "r")
    reference.sample_rate, reference.layout = 8_000, "mono"
    codes = bytes(range(256))
    expected = np.concatenate([frame.to_ndarray().ravel() for frame in reference.decode(av.Packet(codes))])
    assert np.array_equal(realtime_audio._linear(codes, format_), expected)


@pytest.mark.parametrize("format_", list(AudioFormat))
def test_a_tone_keeps_its_pitch_its_length_and_its_loudness(format_: AudioFormat) -> None:
    rate_hz = RATES_HZ[format_]
    tone = np.sin(2 * np.pi * 440 * np.arange(rate_hz) / rate_hz) * 0.5
    data = (tone * 32767).astype("<i2").tobytes()
    if format_ is not AudioFormat.PCM:
        name = "pcm_mulaw" if format_ is AudioFormat.PCMU else "pcm_alaw"
        encoder = av.CodecContext.create(name, "w")
        encoder.sample_rate, encoder.layout, encoder.format = rate_hz, "mono", "s16"
        frame = av.AudioFrame.from_ndarray(
            np.frombuffer(data, "<i2").reshape(1, -1), format="s16", layout="mono"
        )
        frame.sample_rate = rate_hz
        data = b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])
    heard = _decoded(format_, data, [])
    assert len(heard) == pytest.approx(16_000, abs=64)
    assert _peak_hz(heard) == pytest.approx(440, abs=2)
    assert float(np.abs(heard[2000:-2000]).max()) == pytest.approx(0.5, abs=0.02)


@hypothesis.given(st.binary(max_size=4000), st.lists(st.integers(0, 700), max_size=12))
def test_where_pieces_end_changes_nothing(data: bytes, sizes: list[int]) -> None:
    whole, cut = (_decoded(AudioFormat.PCM, data, pieces) for pieces in ([], sizes))
    # The filter gives out what is ready: a cut may leave a few samples more behind.
    count = min(len(whole), len(cut))
    assert abs(len(whole) - len(cut)) <= 64
    assert np.allclose(whole[:count], cut[:count], atol=1e-4)


def test_a_tape_gives_back_what_was_written_and_forgets_whole_parts(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "tape")
    samples = np.linspace(-1.0, 1.0, PART_SAMPLES + 5_000).astype(np.float32)
    for start in range(0, len(samples), 70_000):
        tape.append(samples[start : start + 70_000])
    assert tape.end == len(samples)
    read = np.frombuffer(tape.read(PART_SAMPLES - 100, 8_000), "<f4")
    # A read ends where a part ends.
    assert len(read) == 100
    assert np.allclose(read, samples[PART_SAMPLES - 100 : PART_SAMPLES], atol=1e-4)
    assert len(np.frombuffer(tape.read(PART_SAMPLES, 8_000), "<f4")) == 5_000
    tape.forget(PART_SAMPLES - 1)
    assert len(list((tmp_path / "tape").iterdir())) == 2
    tape.forget(PART_SAMPLES)
    assert len(list((tmp_path / "tape").iterdir())) == 1
    tape.close()
    assert not (tmp_path / "tape").exists()
