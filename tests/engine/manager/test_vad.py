"""The VAD hears speech and nothing else, in pieces of any size, without torch."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from engine.manager import vad
from engine.manager.media import open_media
from engine.manager.vad import FRAME_SAMPLES, SpeechDetector
from tests.helpers.sounds import Samples, silence, tone


def listen(samples: Samples, block: int) -> np.ndarray:
    detector = SpeechDetector()
    frames = [detector.feed(samples[start : start + block]) for start in range(0, len(samples), block)]
    return np.concatenate([f.has_speech for f in [*frames, detector.finish()]])


def test_silence_tones_and_noise_are_not_speech() -> None:
    noise = (0.05 * np.random.default_rng(7).standard_normal(48_000)).astype(np.float32)
    for sound in (silence(3.0), tone(3.0), noise):
        assert not listen(sound, 8000).any()


def typed_keys(duration_s: float) -> Samples:
    """Return the sound of somebody who types: eight keys a second, each a click and a softer one."""
    random = np.random.default_rng(11)
    sound = 0.002 * random.standard_normal(round(duration_s * 16_000))
    ring = np.arange(800) / 16_000
    for at in np.cumsum(random.uniform(0.06, 0.2, round(duration_s * 8))):
        for later_s, loudness in ((0.0, 0.4), (0.07, 0.15)):
            start = round((at + later_s) * 16_000)
            click = random.standard_normal(800) * np.exp(-ring * 150)
            click += np.sin(2 * np.pi * random.uniform(300, 3_000) * ring) * np.exp(-ring * 90)
            piece = sound[start : start + 800]
            piece += loudness * random.uniform(0.5, 1.0) * click[: len(piece)]
    return sound.clip(-1, 1).astype(np.float32)


def test_keys_that_are_typed_are_not_speech() -> None:
    assert not listen(typed_keys(20.0), 1_600).any()


def test_the_last_frame_is_filled_up_and_an_empty_recording_has_none() -> None:
    assert len(listen(silence(1.0), 8000)) == -(-16_000 // FRAME_SAMPLES)
    assert len(listen(silence(0.0), 8000)) == 0


def test_importing_it_does_not_load_torch() -> None:
    code = "import sys, engine.manager.vad as v; v.SpeechDetector(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.speech
def test_speech_is_heard_the_same_whatever_the_size_of_the_blocks(speech: Path) -> None:
    media = open_media(str(speech / "en" / "jfk.flac"))
    samples = np.concatenate(list(media.blocks()))
    media.close()
    whole = listen(samples, len(samples))
    assert 0.5 < whole.mean() < 0.9
    for block in (100, 512, 8000):
        assert np.array_equal(listen(samples, block), whole)


@pytest.mark.speech
def test_music_and_a_whale_are_hardly_ever_taken_for_speech(speech: Path) -> None:
    for name in ("music_hungarian_dance_5.ogg", "humpback_whale.ogg", "noise_pink_20s.flac"):
        media = open_media(str(speech / "nonspeech" / name))
        samples = np.concatenate(list(media.blocks()))
        media.close()
        assert listen(samples, 8000).mean() < 0.01


@pytest.mark.speech
def test_the_network_hears_what_the_one_it_was_made_of_hears(speech: Path) -> None:
    media = open_media(str(speech / "en" / "jfk.flac"))
    spoken = np.concatenate(list(media.blocks()))
    media.close()
    dice = np.random.default_rng(3)
    sound = np.concatenate([silence(2.0), spoken, 0.3 * dice.standard_normal(50_000), typed_keys(5.0)])
    frames = len(sound) // FRAME_SAMPLES
    context = np.pad(sound[: frames * FRAME_SAMPLES], (64, 0)).astype(np.float32)
    heard = np.lib.stride_tricks.sliding_window_view(context, 64 + FRAME_SAMPLES)[::FRAME_SAMPLES]
    package = metadata.distribution("silero-vad")
    original = Path(str(package.locate_file("silero_vad/data/silero_vad_16k_sequence.onnx")))
    ours, theirs = vad.open_session(vad._NETWORK), vad.open_session(original)
    for block in (1, 7, 62, frames):
        states = [[np.zeros((1, 1, 128), np.float32)] * 2 for _ in range(2)]
        for start in range(0, frames, block):
            asked = np.ascontiguousarray(heard[start : start + block])
            answers = [
                session.run(None, {"input": asked, "h": hidden, "c": cell})
                for session, (hidden, cell) in zip((ours, theirs), states, strict=True)
            ]
            states = [answer[1:] for answer in answers]
            for mine, wanted in zip(*answers, strict=True):
                assert np.allclose(mine, wanted, rtol=1e-4, atol=1e-4)
