"""Drafts and confirmed prefixes of live decoding: the text is what it would be without, in fewer steps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from engine.adapters.base import Admission, Decode, Retry, RuntimeOptions
from engine.adapters.quantised import is_exact
from engine.adapters.whisper.adapter import WhisperAdapter, load_adapter
from engine.adapters.whisper.model import Whisper
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import read_vocabulary
from engine.manager.media import open_media
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey

pytestmark = [pytest.mark.weights, pytest.mark.slow]

Samples = npt.NDArray[np.float32]
OPTIONS = DecodingOptions(language="en", word_timestamps=True)
RATE = 16_000
FIRST_TIME = 50_364


@pytest.fixture(scope="module")
def adapter(whisper_base: Path) -> WhisperAdapter:
    """In float32, where the likeliest id is the same however many are looked at together."""
    return load_adapter(whisper_base, RuntimeOptions(num_slots=2, num_threads=1, dtype="float32"))


@pytest.fixture(scope="module")
def text(whisper_base: Path) -> WhisperText:
    return WhisperText(read_vocabulary(whisper_base))


@pytest.fixture(scope="module")
def kennedy(speech: Path) -> Samples:
    return samples_of(speech / "en/jfk.flac")


def samples_of(path: Path) -> Samples:
    media = open_media(str(path))
    try:
        return np.concatenate(list(media.blocks()))
    finally:
        media.close()


def chunk_of(pcm: Samples, **changes: object) -> Chunk:
    chunk = Chunk(
        key=RequestKey("live", 0), kind=ChunkKind.INTERIM, start_sample=0, pcm=pcm.tobytes(), options=OPTIONS
    )
    return msgspec.structs.replace(chunk, **changes)


def decode(adapter: WhisperAdapter, pcm: Samples, **changes: object) -> Decode:
    (decode,) = adapter.admit([Admission(chunk_of(pcm, **changes))])
    while decode.outcome is None:
        adapter.step([decode])
    adapter.release([decode])
    assert isinstance(decode.outcome, Finished)
    return decode


def finished(decode: Decode) -> Finished:
    assert isinstance(decode.outcome, Finished)
    return decode.outcome


def num_said(decode: Decode) -> int:
    """Return how many steps a decode would have taken without drafts and guesses."""
    return finished(decode).num_steps + finished(decode).num_drafted


def test_text_is_the_same_with_a_draft_and_takes_fewer_steps(
    adapter: WhisperAdapter, kennedy: Samples
) -> None:
    """As live: each hypothesis is the draft of the next, over a second more of audio."""
    draft: list[int] = []
    num_steps = num_steps_without = 0
    for seconds in range(3, 12):
        pcm = kennedy[: seconds * RATE]
        plain = decode(adapter, pcm)
        drafted = decode(adapter, pcm, draft_ids=tuple(draft))
        assert drafted.ids == plain.ids
        assert np.allclose(drafted.logprobs, plain.logprobs, atol=1e-4)
        assert drafted.attended_s == plain.attended_s
        assert np.allclose(finished(drafted).token_times, finished(plain).token_times, atol=0.05)
        num_steps += finished(drafted).num_steps
        num_steps_without += finished(plain).num_steps
        assert num_said(drafted) == num_said(plain)
        draft = plain.ids
    assert num_steps < 0.6 * num_steps_without


def test_a_draft_that_is_all_right_needs_one_pass(adapter: WhisperAdapter, kennedy: Samples) -> None:
    plain = decode(adapter, kennedy)
    again = decode(adapter, kennedy, draft_ids=tuple(plain.ids))
    assert again.ids == plain.ids
    assert finished(again).num_steps == 1


def test_a_draft_of_nonsense_changes_nothing(adapter: WhisperAdapter, kennedy: Samples) -> None:
    plain = decode(adapter, kennedy)
    for draft in [(11, 12, 13), (50257, 50258, 60000, -1), tuple(reversed(plain.ids))]:
        assert decode(adapter, kennedy, draft_ids=draft).ids == plain.ids


def test_the_answer_goes_on_behind_what_is_confirmed(
    adapter: WhisperAdapter, text: WhisperText, kennedy: Samples
) -> None:
    plain = decode(adapter, kennedy)
    for split in (1, 6, len(plain.ids) - 2):
        rest = decode(adapter, kennedy, prefix_ids=tuple(plain.ids[:split]))
        assert rest.ids == plain.ids[split:]
        times = finished(plain).token_times[split:]
        assert np.allclose(finished(rest).token_times, times, atol=0.05)
    # Times of a window that has moved on since are left out; then it begins anew at its start.
    words = [id_ for id_ in plain.ids[:8] if id_ not in text.special_ids]
    rest = decode(adapter, kennedy, prefix_ids=tuple(words))
    said = text.decode([[*words, *rest.ids]], skip_special=True)[0]
    assert "ask not what your country can do for you" in said


def test_a_prefix_that_is_too_long_leaves_room_for_the_answer(
    adapter: WhisperAdapter, kennedy: Samples
) -> None:
    """Only commas: a loop, which is found at once. (F6: the same phrase over and over)"""
    chunk = chunk_of(kennedy, prefix_ids=(11,) * 1000, draft_ids=(11,) * 1000)
    (decode,) = adapter.admit([Admission(chunk)])
    assert decode.outcome == Retry("loop")
    adapter.release([decode])


@pytest.mark.skipif(not is_exact(), reason="this processor does not multiply bytes exactly")
def test_guessed_times_change_no_bit_and_save_steps(
    whisper_base: Path, speech: Path, kennedy: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A segment begins where the last one ended: what is guessed is read in the same step, and checked."""
    adapter = load_adapter(whisper_base, RuntimeOptions(num_slots=3, num_threads=2, dtype="int8"))
    talk = samples_of(speech / "longform/en_ljspeech_LJ001_0001-0032.flac")[: 75 * RATE]
    clips = [talk[: 28 * RATE], kennedy, talk[28 * RATE : 54 * RATE]]
    chunks = [chunk_of(clip, kind=ChunkKind.FILE) for clip in clips]

    def answers() -> list[Decode]:
        decodes = adapter.admit([Admission(chunk) for chunk in chunks])
        while running := [decode for decode in decodes if decode.outcome is None]:
            adapter.step(running)
        adapter.release(decodes)
        return decodes

    guessed = answers()
    monkeypatch.setattr(Whisper, "takes_any_size", False)
    for ours, plain in zip(guessed, answers(), strict=True):
        assert (ours.ids, ours.logprobs, ours.attended_s) == (plain.ids, plain.logprobs, plain.attended_s)
        assert finished(ours).token_times == finished(plain).token_times
        times = [id_ for id_ in ours.ids if id_ >= FIRST_TIME]
        num_pairs = sum(1 for one, other in pairwise(times[1:]) if one == other)
        assert finished(ours).num_drafted == finished(plain).num_drafted + num_pairs
        assert finished(ours).num_steps == finished(plain).num_steps - num_pairs
    assert sum(finished(decode).num_drafted for decode in guessed) >= 10
