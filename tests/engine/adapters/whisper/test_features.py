"""Our log-mel is the reference's, for both numbers of bins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from transformers import WhisperFeatureExtractor

from engine.adapters.whisper.features import (
    FRAME_STEP,
    NUM_FRAMES,
    SILENCE_FRAMES,
    WINDOW_SAMPLES,
    heard_frames,
    log_mel,
    mel_filters,
)
from tests.helpers.checkpoints import recorded_speech


@pytest.mark.parametrize("num_mels", [80, 128])
def test_log_mel_equals_the_reference(num_mels: int, record_property: Callable[[str, object], None]) -> None:
    speech = recorded_speech()
    noise = np.random.default_rng(0).normal(0, 0.1, WINDOW_SAMPLES).astype(np.float32)
    chunks = [speech, speech[:1600], noise, np.zeros(16_000, np.float32)]
    extractor = WhisperFeatureExtractor(feature_size=num_mels)
    reference = torch.from_numpy(extractor(chunks, sampling_rate=16_000, return_tensors="np").input_features)
    ours = log_mel(chunks, num_mels)
    assert ours.shape == (4, num_mels, NUM_FRAMES)
    difference = (ours - reference).abs().max().item()
    record_property("max_difference", difference)
    print(f"log-mel, {num_mels} bins: largest difference {difference:.2e}")
    assert difference < 1e-5


@pytest.mark.parametrize("num_mels", [80, 128])
def test_the_filters_equal_the_reference(num_mels: int) -> None:
    reference = torch.from_numpy(WhisperFeatureExtractor(feature_size=num_mels).mel_filters.T)
    assert torch.allclose(mel_filters(num_mels), reference.float(), atol=1e-8)


def test_a_chunk_in_company_gives_what_it_gives_alone() -> None:
    speech = recorded_speech()
    together = log_mel([speech, speech[:40_000]], 80)
    assert torch.equal(together[1], log_mel([speech[:40_000]], 80)[0])


def test_a_chunk_longer_than_a_window_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        log_mel([np.zeros(WINDOW_SAMPLES + 1, np.float32)], 80)


def test_what_is_heard_of_a_window_holds_the_audio_and_silence_behind_it() -> None:
    for num_samples in range(0, WINDOW_SAMPLES + 1, 12_345):
        num_frames = heard_frames(num_samples, 1500)
        assert num_frames == 1500 or num_frames >= num_samples / 320 + SILENCE_FRAMES
        assert num_frames % FRAME_STEP == 0
    assert heard_frames(5 * 16_000, 1500) == 750
    assert heard_frames(25 * 16_000, 1500) == 1500
    assert heard_frames(25 * 16_000, 600) == 600


def test_the_smallest_chunks_have_features_too() -> None:
    assert torch.isfinite(log_mel([np.zeros(0, np.float32), np.ones(1, np.float32)], 80)).all()
