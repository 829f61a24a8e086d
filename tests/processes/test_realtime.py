"""The realtime door over a whole engine, spoken to by the official `openai` client."""

from __future__ import annotations

import base64
import difflib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from openai import OpenAI
from openai.types.realtime import (
    ConversationItemCreatedEvent,
    ConversationItemInputAudioTranscriptionCompletedEvent,
    ConversationItemInputAudioTranscriptionDeltaEvent,
    InputAudioBufferClearedEvent,
    InputAudioBufferCommittedEvent,
    InputAudioBufferSpeechStartedEvent,
    InputAudioBufferSpeechStoppedEvent,
    RealtimeErrorEvent,
    SessionCreatedEvent,
    SessionUpdatedEvent,
)

from app.paths import resource
from tests.helpers.open_door import OpenDoor
from tests.helpers.processes import wait_for_role, wait_until_gone
from tests.helpers.toy import expected_text, toy_audio, write_toy_model

Created = ConversationItemCreatedEvent
Completed = ConversationItemInputAudioTranscriptionCompletedEvent
Delta = ConversationItemInputAudioTranscriptionDeltaEvent
Committed = InputAudioBufferCommittedEvent
MANUAL: dict[str, Any] = {"type": "transcription", "audio": {"input": {"turn_detection": None, "vad": False}}}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDoor]:
    folder = tmp_path_factory.mktemp("door")
    door = OpenDoor(folder, str(write_toy_model(folder / "toy", languages=["en"])))
    yield door
    door.close()
    assert list(door.uploads.iterdir()) == []


class Call:
    """One connection of the official client; what it heard is in `heard`."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.heard: list[Any] = []

    def say(self, samples: np.ndarray, block: int = 4_800) -> None:
        """Send 16 kHz samples as PCM at 24 kHz."""
        place = np.arange(len(samples) * 3 // 2) * (2 / 3)
        louder = np.interp(place, np.arange(len(samples)), samples)
        data = (louder * 32767).astype("<i2").tobytes()
        for start in range(0, len(data), block):
            self.append(data[start : start + block])

    def append(self, data: bytes) -> None:
        self.connection.input_audio_buffer.append(audio=base64.b64encode(data).decode())

    def wait_for(self, kind: type[Any], count: int = 1) -> Any:
        """Read events until so many of a kind have come; return the last of them."""
        while len(self.of(kind)) < count:
            self.heard.append(self.connection.recv())
            assert not isinstance(self.heard[-1], RealtimeErrorEvent) or kind is RealtimeErrorEvent
        return self.of(kind)[-1]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.heard if isinstance(event, kind)]

    def commit(self) -> None:
        self.connection.input_audio_buffer.commit()

    def deltas(self, item_id: str) -> str:
        return "".join(event.delta for event in self.of(Delta) if event.item_id == item_id)


@pytest.fixture
def call(door: OpenDoor) -> Iterator[Call]:
    client = OpenAI(api_key="any", base_url=f"{door.url}/v1")
    with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        call = Call(connection)
        call.wait_for(SessionCreatedEvent)
        yield call


@pytest.fixture
def manual(call: Call) -> Call:
    """A connection whose caller commits. The toys' words are tones: what hears speech would hear none."""
    call.connection.session.update(session=MANUAL)
    updated = call.wait_for(SessionUpdatedEvent)
    assert updated.session.audio.input.turn_detection is None
    return call


def test_what_is_committed_is_an_item_with_its_own_text(manual: Call) -> None:
    texts = []
    for words in ((0, 1, 4), (7, 2)):
        samples = toy_audio(*words)
        manual.say(samples)
        manual.commit()
        texts.append(expected_text(samples).strip())
    manual.wait_for(Completed, 2)
    committed, created, completed = (manual.of(kind) for kind in (Committed, Created, Completed))
    assert [event.item_id for event in committed] == [event.item.id for event in created]
    assert [event.item_id for event in committed] == [event.item_id for event in completed]
    assert committed[0].previous_item_id is None
    assert committed[1].previous_item_id == committed[0].item_id
    assert [event.transcript for event in completed] == texts
    assert [manual.deltas(event.item_id) for event in completed] == texts
    assert completed[0].usage.type == "duration"
    assert completed[0].usage.seconds == pytest.approx(1.5, abs=0.02)


def test_what_was_cleared_is_never_heard_of(manual: Call) -> None:
    manual.say(toy_audio(0, 1))
    manual.commit()
    manual.say(toy_audio(6, 6, 6))
    manual.connection.input_audio_buffer.clear()
    manual.wait_for(InputAudioBufferClearedEvent)
    manual.say(toy_audio(2, 3))
    manual.commit()
    manual.wait_for(Completed, 2)
    texts = {event.transcript for event in manual.of(Completed)}
    assert texts == {expected_text(toy_audio(0, 1)).strip(), expected_text(toy_audio(2, 3)).strip()}


def test_an_engine_that_dies_costs_no_word(door: OpenDoor, manual: Call) -> None:
    first, second = toy_audio(0, 1, 4), toy_audio(5, 7, 2)
    manual.say(first)
    manual.commit()
    manual.wait_for(Completed)
    manual.say(second[:12_000])
    pid = wait_for_role(os.getpid(), "manager")
    os.kill(pid, signal.SIGKILL)
    wait_until_gone([pid])
    manual.say(second[12_000:])
    manual.commit()
    manual.wait_for(Completed, 2)
    assert [event.transcript for event in manual.of(Completed)] == [
        expected_text(first).strip(),
        expected_text(second).strip(),
    ]


def _g711(samples: np.ndarray, codec: str) -> bytes:
    """Encode 16 kHz samples at 8 kHz, by FFmpeg."""
    import av

    slow = (samples[::2] * 32767).astype(np.int16).reshape(1, -1)
    frame = av.AudioFrame.from_ndarray(slow, format="s16", layout="mono")
    frame.sample_rate = 8_000
    encoder = av.CodecContext.create(codec, "w")
    encoder.sample_rate, encoder.layout, encoder.format = 8_000, "mono", "s16"
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


@pytest.mark.parametrize(("format_", "codec"), [("audio/pcmu", "pcm_mulaw"), ("audio/pcma", "pcm_alaw")])
def test_telephone_formats_are_heard(manual: Call, format_: str, codec: str) -> None:
    manual.connection.session.update(
        session={"type": "transcription", "audio": {"input": {"format": {"type": format_}}}}
    )
    assert manual.wait_for(SessionUpdatedEvent, 2).session.audio.input.format.type == format_
    samples = toy_audio(0, 1, 4, 7)
    manual.append(_g711(samples, codec))
    manual.commit()
    assert manual.wait_for(Completed).transcript == expected_text(samples).strip()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty"),
        ({"type": "input_audio_buffer.append", "audio": "!!!"}, "invalid_base64"),
        ({"type": "response.create"}, "unknown_event"),
        ({"type": "session.update", "session": {"type": "realtime"}}, "invalid_value"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_session_goes_on(
    manual: Call, message: dict[str, Any], code: str
) -> None:
    manual.connection.send({**message, "event_id": "mine"})
    error = manual.wait_for(RealtimeErrorEvent).error
    assert (error.type, error.code, error.event_id) == ("invalid_request_error", code, "mine")
    samples = toy_audio(0, 1)
    manual.say(samples)
    manual.commit()
    assert manual.wait_for(Completed).transcript == expected_text(samples).strip()


def test_an_unknown_model_is_told_by_name(manual: Call) -> None:
    transcription = {"transcription": {"model": "no-such-model"}}
    manual.connection.session.update(session={"type": "transcription", "audio": {"input": transcription}})
    assert manual.wait_for(RealtimeErrorEvent).error.code == "model_not_found"


def _recording() -> np.ndarray:
    """The sample that ships with the program, 16 kHz."""
    samples, rate_hz = soundfile.read(resource("sample.flac"), dtype="float32")
    assert rate_hz == 16_000
    return np.asarray(samples)


@pytest.mark.weights
def test_a_person_is_heard_turn_by_turn(tmp_path: Path, whisper_base: Path) -> None:
    """Server VAD cuts where a silence is; sent as fast as it goes, as a file would be."""
    door = OpenDoor(tmp_path, str(whisper_base), families=("engine.adapters.whisper",))
    silence = np.zeros(16_000, np.float32)
    try:
        client = OpenAI(api_key="any", base_url=f"{door.url}/v1")
        with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
            call = Call(connection)
            call.say(np.concatenate([silence, _recording(), silence, _recording(), silence]))
            call.wait_for(Completed, 2)
    finally:
        door.close()
    kinds = (InputAudioBufferSpeechStartedEvent, InputAudioBufferSpeechStoppedEvent, Completed)
    started, stopped, completed = (call.of(kind) for kind in kinds)
    ids = [event.item_id for event in completed]
    assert [event.item_id for event in started] == [event.item_id for event in stopped] == ids
    length_ms = len(_recording()) // 16
    for number, (begun, ended) in enumerate(zip(started, stopped, strict=True)):
        first_ms = 1_000 + number * (length_ms + 1_000)
        assert first_ms - 400 <= begun.audio_start_ms <= first_ms + 700
        assert first_ms + length_ms - 900 <= ended.audio_end_ms <= first_ms + length_ms + 700
    spoken = _letters(resource("sample.txt").read_text(encoding="utf-8"))
    for event in completed:
        ratio = difflib.SequenceMatcher(None, _letters(event.transcript), spoken, autojunk=False).ratio()
        assert ratio > 0.9, event.transcript
        assert call.deltas(event.item_id) == event.transcript
        assert event.languages[0].code == "en"


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalpha())
