"""Resampling is faithful, and gives the same samples wherever it begins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.capture.ring import Samples
from app.capture.sinc import Resampler, Stretcher

RATES = (8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000)


def tone(rate_hz: int, num: int, tone_hz: float = 440.0) -> Samples:
    return np.sin(2 * np.pi * tone_hz * np.arange(num) / rate_hz).astype(np.float32)


def read(resampler: Resampler, samples: Samples, first: int, end: int) -> Samples:
    """Resample a range as a reader of a file would."""
    start, stop = resampler.input_range(first, end)
    inside = samples[max(0, start) : stop]
    padded = np.pad(inside, (max(0, -start), stop - start - max(0, -start) - len(inside)))
    return resampler.resample(padded, first, end)


@pytest.mark.parametrize("rate_hz", RATES)
def test_a_tone_keeps_its_shape(rate_hz: int) -> None:
    resampler = Resampler(rate_hz, 16_000)
    samples = tone(rate_hz, rate_hz)
    num = resampler.output_end(len(samples), is_whole=True)
    output = read(resampler, samples, 0, num)
    assert num == 16_000
    assert np.abs(output - tone(16_000, num))[100:-100].max() < 1e-4


def test_what_the_lower_rate_cannot_hold_is_taken_out() -> None:
    samples = tone(48_000, 48_000, 9_000.0)
    output = read(Resampler(48_000, 16_000), samples, 100, 15_900)
    assert np.abs(output).max() < 1e-3


def test_equal_rates_leave_every_sample_alone() -> None:
    samples = tone(16_000, 1_000)
    assert np.array_equal(read(Resampler(16_000, 16_000), samples, 3, 997), samples[3:997])


@pytest.mark.parametrize("rate_hz", RATES)
@given(cuts=st.lists(st.integers(1, 3_999), max_size=5))
def test_it_does_not_matter_where_reading_began(rate_hz: int, cuts: list[int]) -> None:
    resampler = Resampler(rate_hz, 16_000)
    samples = tone(rate_hz, rate_hz // 4)
    whole = read(resampler, samples, 0, 4_000)
    places = [0, *sorted(set(cuts)), 4_000]
    pieces = [read(resampler, samples, first, end) for first, end in pairwise(places)]
    assert np.array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("rate_hz", RATES)
@given(num=st.integers(0, 5_000))
def test_nothing_is_promised_that_needs_samples_to_come(rate_hz: int, num: int) -> None:
    resampler = Resampler(rate_hz, 16_000)
    end = resampler.output_end(num)
    assert end == 0 or resampler.input_range(end - 1, end)[1] <= num
    assert resampler.input_range(end, end + 1)[1] > num


@pytest.mark.parametrize("rate_hz", RATES)
def test_a_stretched_tone_is_the_tone(rate_hz: int) -> None:
    stretcher = Stretcher(rate_hz, 48_000)
    samples = tone(rate_hz, rate_hz)
    output = np.concatenate([stretcher.push(samples[i : i + 997]) for i in range(0, len(samples), 997)])
    assert abs(len(output) - 48_000) < 300
    assert np.abs(output - tone(48_000, len(output)))[200:].max() < 1e-3


def test_speed_uses_samples_up_faster() -> None:
    stretcher = Stretcher(16_000, 16_000)
    output = stretcher.push(tone(16_000, 16_000), 1.01)
    assert abs(len(output) - 16_000 / 1.01) < 100
    assert np.abs(output - tone(16_000, len(output), 440.0 * 1.01))[100:].max() < 1e-3
