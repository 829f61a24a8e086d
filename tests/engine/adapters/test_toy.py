"""The toy family keeps the contract of an adapter, so that process tests mean something."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.adapters import read_architectures, resolve_family
from engine.adapters.base import Admission, Decode, OutOfMemory, Retry, RuntimeOptions
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey
from engine.protocol.failures import FailureError
from tests.helpers.toy import ToyAdapter, ToyText, expected_ids, expected_text, toy_audio, write_toy_model


def _adapter(folder: Path, **options: object) -> ToyAdapter:
    write_toy_model(folder, **options)
    key, family = resolve_family(read_architectures(folder), "toy")
    assert key == "Toy"
    adapter = family.adapter(folder, RuntimeOptions())
    assert isinstance(adapter, ToyAdapter)
    return adapter


def _chunk(samples: np.ndarray, options: DecodingOptions | None = None) -> Chunk:
    return Chunk(
        key=RequestKey("job", 0),
        kind=ChunkKind.FILE,
        start_sample=0,
        pcm=samples.astype("<f4").tobytes(),
        options=options or DecodingOptions(),
    )


def _run(adapter: ToyAdapter, admission: Admission) -> Decode:
    (decode,) = adapter.admit([admission])
    while decode.outcome is None:
        adapter.step([decode])
    adapter.release([decode])
    return decode


def test_a_toy_writes_one_word_for_every_half_second_that_is_not_silent(tmp_path: Path) -> None:
    samples = toy_audio(0, 1, None, 2, 3)
    decode = _run(_adapter(tmp_path), Admission(_chunk(samples)))
    assert ToyText().decode([decode.ids], skip_special=True) == [" toy słowo 낱말 😀"]
    assert expected_text(samples) == " toy słowo 낱말 😀"
    assert decode.ids == expected_ids(samples)


def test_the_words_survive_sixteen_bits() -> None:
    samples = toy_audio(*range(8))
    rounded = np.round(samples * 32768) / 32768
    assert expected_text(rounded) == expected_text(samples)


def test_segments_join_to_the_text_and_carry_words(tmp_path: Path) -> None:
    samples = toy_audio(0, 1, 2, 3, 4, None, 5)
    decode = _run(_adapter(tmp_path), Admission(_chunk(samples, DecodingOptions(word_timestamps=True))))
    assert isinstance(decode.outcome, Finished)
    segments = ToyText().segments(decode.ids, decode.logprobs, decode.outcome)
    assert "".join(segment.text for segment in segments) == expected_text(samples)
    assert [(segment.start, segment.end) for segment in segments] == [(0.0, 2.0), (2.0, 2.5), (3.0, 3.5)]
    assert [[(word.start, word.text) for word in segment.words] for segment in segments][2] == [
        (3.0, " слово")
    ]


def test_troubles_come_when_asked_for(tmp_path: Path) -> None:
    chunk = _chunk(toy_audio(1), DecodingOptions(temperatures=(0.0, 0.2)))
    assert isinstance(_run(_adapter(tmp_path / "a", num_retries=1), Admission(chunk)).outcome, Retry)
    assert isinstance(_run(_adapter(tmp_path / "a", num_retries=1), Admission(chunk, 1)).outcome, Finished)
    with pytest.raises(OutOfMemory):
        _adapter(tmp_path / "b", max_rows=1).admit([Admission(chunk), Admission(chunk)])
    with pytest.raises(ArithmeticError):
        _run(_adapter(tmp_path / "c", raise_from=0.0, max_troubles=1), Admission(chunk))
    assert isinstance(
        _run(_adapter(tmp_path / "c", raise_from=0.0, max_troubles=1), Admission(chunk)).outcome, Finished
    )
    with pytest.raises(FailureError):
        _adapter(tmp_path / "d", is_broken=True)
