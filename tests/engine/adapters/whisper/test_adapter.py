"""The real network, chunk by chunk: what is said does not depend on who else is in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from engine.adapters.base import Admission, Decode, Retry, RuntimeOptions
from engine.adapters.whisper.adapter import WhisperAdapter, load_adapter
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import read_vocabulary
from engine.manager.media import open_media
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, FinishReason, RequestKey
from engine.protocol.failures import FailureError, FailureKind
from engine.protocol.transcript import Segment, Task

pytestmark = [pytest.mark.weights, pytest.mark.slow]

Samples = npt.NDArray[np.float32]
ENGLISH = DecodingOptions(language="en")


@dataclass(frozen=True)
class Engine:
    """An adapter with its text, driven as the scheduler does."""

    adapter: WhisperAdapter
    text: WhisperText

    def finish(self, decodes: Sequence[Decode]) -> None:
        """Step until all have an outcome, and release them."""
        while running := [decode for decode in decodes if decode.outcome is None]:
            self.adapter.step(running)
        self.adapter.release(decodes)

    def answer(self, pcm: Samples, options: DecodingOptions = ENGLISH) -> Decode:
        """Decode alone, attempt after attempt."""
        for attempt in range(len(options.temperatures) + 1):
            (decode,) = self.adapter.admit([Admission(chunk_of(pcm, options), attempt)])
            self.finish([decode])
            if not isinstance(decode.outcome, Retry):
                return decode
        raise AssertionError("retried for ever")

    def segments(self, decode: Decode) -> tuple[Segment, ...]:
        assert isinstance(decode.outcome, Finished)
        return self.text.segments(decode.ids, decode.logprobs, decode.outcome)

    def words(self, decode: Decode) -> str:
        return self.text.decode([decode.ids], skip_special=True)[0]


def chunk_of(pcm: Samples, options: DecodingOptions = ENGLISH, index: int = 0) -> Chunk:
    key = RequestKey("job", index)
    data = np.ascontiguousarray(pcm, dtype="<f4").tobytes()
    return Chunk(key=key, kind=ChunkKind.FILE, start_sample=0, pcm=data, options=options)


def samples_of(path: Path, seconds: float = 30.0) -> Samples:
    media = open_media(str(path))
    try:
        return np.concatenate(list(media.blocks()))[: int(seconds * 16_000)]
    finally:
        media.close()


@pytest.fixture(scope="module")
def engine(whisper_base: Path) -> Engine:
    adapter = load_adapter(whisper_base, RuntimeOptions(num_slots=3, num_threads=1))
    return Engine(adapter, WhisperText(read_vocabulary(whisper_base)))


@pytest.fixture(scope="module")
def kennedy(speech: Path) -> Samples:
    return samples_of(speech / "en" / "jfk.flac")


def test_a_chunk_that_joins_later_says_the_same_as_alone(
    engine: Engine, speech: Path, kennedy: Samples
) -> None:
    other = samples_of(speech / "en" / "ljspeech_LJ001-0002.flac")
    alone = [engine.answer(pcm) for pcm in (kennedy, other)]
    (first,) = engine.adapter.admit([Admission(chunk_of(kennedy))])
    for _ in range(7):
        engine.adapter.step([first])
    (second,) = engine.adapter.admit([Admission(chunk_of(other))])
    engine.finish([first, second])
    assert [first.ids, second.ids] == [alone[0].ids, alone[1].ids]
    assert first.logprobs == pytest.approx(alone[0].logprobs, abs=1e-4)


def test_an_interim_answer_hears_less_silence_than_the_one_that_counts(
    engine: Engine, kennedy: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, heard = engine.adapter._network, []
    encode = network.encode
    monkeypatch.setattr(network, "encode", lambda mel: heard.append(mel.shape[-1] // 2) or encode(mel))
    said = []
    for kind in (ChunkKind.INTERIM, ChunkKind.CLOSING, ChunkKind.FILE):
        chunk = msgspec.structs.replace(chunk_of(kennedy[: 6 * 16_000]), kind=kind)
        (decode,) = engine.adapter.admit([Admission(chunk)])
        engine.finish([decode])
        said.append(engine.words(decode))
    assert heard == [750, 1500, 1500]
    assert said[1] == said[2]
    assert all("ask not" in words for words in said)


def test_words_of_a_known_speech_have_times_that_can_be_played(engine: Engine, kennedy: Samples) -> None:
    options = msgspec.structs.replace(ENGLISH, word_timestamps=True)
    segments = engine.segments(engine.answer(kennedy, options))
    words = [word for segment in segments for word in segment.words]
    text = "".join(word.text for word in words)
    assert text == "".join(segment.text for segment in segments)
    assert "ask not what your country can do for you" in text.lower()
    edges = [moment for word in words for moment in (word.start, word.end)]
    assert edges == sorted(edges)
    assert all(word.start < word.end for word in words)
    country = next(word for word in words if "country" in word.text)
    assert country.start == pytest.approx(5.8, abs=0.3)


def test_language_is_heard_and_its_probability_told(engine: Engine, speech: Path) -> None:
    korean = samples_of(speech / "ko" / "fleurs_ko_test_row16.wav")
    decode = engine.answer(korean, DecodingOptions())
    assert decode.language == "ko"
    assert decode.language_probability is not None
    assert 0.5 < decode.language_probability <= 1.0


def test_a_chosen_language_and_task_are_obeyed(engine: Engine, speech: Path) -> None:
    german = samples_of(speech / "de" / "fleurs-de-004.ogg")
    decode = engine.answer(german, DecodingOptions(language="de", task=Task.TRANSLATE))
    assert (decode.language, decode.language_probability) == ("de", 1.0)
    assert {"the", "of"} & set(engine.words(decode).lower().split())


def test_an_initial_prompt_is_not_part_of_the_text(engine: Engine, kennedy: Samples) -> None:
    options = DecodingOptions(language="en", initial_prompt="Xylophone music was played before.")
    assert "ylophone" not in engine.words(engine.answer(kennedy, options))


def test_nothing_is_said_in_silence(engine: Engine) -> None:
    for pcm in (np.zeros(48_000, np.float32), np.zeros(0, np.float32)):
        (decode,) = engine.adapter.admit([Admission(chunk_of(pcm, DecodingOptions()))])
        assert isinstance(decode.outcome, Finished)
        assert decode.outcome.reason is FinishReason.SILENCE
        assert engine.segments(decode) == ()
        engine.adapter.release([decode])


def test_a_language_the_model_does_not_know_is_a_failure(engine: Engine, kennedy: Samples) -> None:
    with pytest.raises(FailureError) as caught:
        engine.adapter.admit([Admission(chunk_of(kennedy, DecodingOptions(language="tlh")))])
    assert caught.value.failure.kind is FailureKind.LANGUAGE_UNKNOWN


def test_releasing_early_frees_the_slot(engine: Engine, kennedy: Samples) -> None:
    for _ in range(engine.adapter.slots + 1):
        decodes = engine.adapter.admit([Admission(chunk_of(kennedy))])
        engine.adapter.step(decodes)
        engine.adapter.release(decodes)


def test_an_english_only_model_cannot_translate(whisper_tiny_en: Path, kennedy: Samples) -> None:
    adapter = load_adapter(whisper_tiny_en, RuntimeOptions(num_slots=1, num_threads=1))
    with pytest.raises(FailureError) as caught:
        adapter.admit([Admission(chunk_of(kennedy, DecodingOptions(task=Task.TRANSLATE)))])
    assert caught.value.failure.kind is FailureKind.TASK_UNSUPPORTED
    (decode,) = adapter.admit([Admission(chunk_of(kennedy, DecodingOptions()))])
    assert decode.language == "en"


def test_a_network_smaller_than_its_vocabulary_is_a_broken_model(
    whisper_base: Path, whisper_tiny_en: Path, tmp_path: Path
) -> None:
    (tmp_path / "model.bin").symlink_to(whisper_tiny_en / "model.bin")
    (tmp_path / "config.json").write_text((whisper_tiny_en / "config.json").read_text())
    (tmp_path / "tokenizer.json").symlink_to(whisper_base / "tokenizer.json")
    with pytest.raises(FailureError) as caught:
        load_adapter(tmp_path, RuntimeOptions(num_slots=1))
    assert caught.value.failure.kind is FailureKind.MODEL_BROKEN
