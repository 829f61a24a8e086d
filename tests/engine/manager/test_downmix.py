"""Mixing keeps the voice: through silence, swapped wires and changing speakers, and without clicks."""

from __future__ import annotations

import numpy as np

from engine.manager.downmix import Downmixer, Limiter
from tests.helpers.sounds import Samples, silence, tone

STEREO = ("FL", "FR")
BLOCK = 8000


def mix(names: tuple[str, ...], channels: Samples) -> Samples:
    downmixer = Downmixer(names)
    blocks = range(0, channels.shape[1], BLOCK)
    return np.concatenate([downmixer.mix(channels[:, start : start + BLOCK]) for start in blocks])


def level(samples: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(samples))))


def test_ordinary_stereo_is_the_mean_of_its_channels() -> None:
    channels = np.stack([tone(2.0), tone(2.0, hz=700)])
    assert np.allclose(mix(STEREO, channels), channels.mean(axis=0), atol=1e-6)


def test_one_channel_passes_untouched() -> None:
    channels = tone(1.0)[np.newaxis]
    assert np.array_equal(mix(("FC",), channels), channels[0])


def test_silence_stays_silence() -> None:
    assert not mix(STEREO, np.stack([silence(1.0), silence(1.0)])).any()


def test_a_wire_that_is_swapped_for_a_while_is_noticed_and_forgotten() -> None:
    left = tone(12.0)
    right = left.copy()
    right[4 * 16_000 : 8 * 16_000] *= -1
    mono = mix(STEREO, np.stack([left, right]))
    assert level(mono[5 * 16_000 : 8 * 16_000]) > 0.9 * level(left)
    assert np.allclose(mono[-16_000:], left[-16_000:], atol=1e-6)
    assert np.abs(np.diff(mono)).max() < 3 * np.abs(np.diff(left)).max()


def test_of_many_microphones_the_one_that_speaks_is_heard() -> None:
    names = tuple(f"AUX{n}" for n in range(16))
    channels = np.zeros((16, 8 * 16_000), np.float32)
    channels[3, : 4 * 16_000] = tone(4.0)
    channels[11, 4 * 16_000 :] = tone(4.0, hz=600)
    mono = mix(names, channels)
    assert level(mono[: 4 * 16_000]) > 0.4 * level(channels[3, : 4 * 16_000])
    assert level(mono[5 * 16_000 :]) > 0.4 * level(channels[11, 5 * 16_000 :])


def test_when_channels_cancel_in_turn_the_loudest_is_followed() -> None:
    first, second = tone(3.0), tone(6.0, hz=600)
    channels = np.zeros((4, 9 * 16_000), np.float32)
    channels[0, : 3 * 16_000], channels[1, : 3 * 16_000] = first, -first
    channels[2, 3 * 16_000 :], channels[3, 3 * 16_000 :] = second, -second
    mono = mix(("FL", "FR", "AUX0", "AUX1"), channels)
    assert level(mono[:32_000]) > 0.9 * level(first)
    assert level(mono[6 * 16_000 :]) > 0.9 * level(second)


def test_a_subwoofer_alone_is_better_than_nothing() -> None:
    assert level(mix(("LFE",) * 2, np.stack([tone(1.0), tone(1.0)]))) > 0.1


def test_ordinary_loudness_passes_bit_for_bit() -> None:
    limiter = Limiter()
    block = tone(0.5, level=1.2)
    assert limiter.limit(block) is block
    assert len(limiter.limit(silence(0.0))) == 0
