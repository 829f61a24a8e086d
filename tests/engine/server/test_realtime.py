"""A realtime connection over a fake engine: whatever a caller sends, it is answered and nothing hangs."""

from __future__ import annotations

import asyncio
import base64
import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest
from starlette.types import Message
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from engine.config import EngineConfig
from engine.protocol.events import Event, Flushed, JobDone, ModelList, SpeechEnded, SpeechStarted
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, VadSettings
from engine.server.app import make_app
from engine.server.bridge import Bridge
from engine.server.config import ServerConfig
from engine.server.door import Door
from engine.server.places import Places
from engine.server.realtime import MAX_UNREAD_EVENTS
from tests.helpers.fake_listening import FAKE, FakeListening
from tests.helpers.open_door import OpenDoor

SECOND = base64.b64encode(bytes(48_000)).decode()
MANUAL = {"type": "session.update", "session": {"audio": {"input": {"turn_detection": None}}}}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDoor]:
    door = OpenDoor(tmp_path_factory.mktemp("door"), "/models/fake", make_client=FakeListening, max_jobs=2)
    yield door
    door.close()
    assert list(door.uploads.iterdir()) == []


def dial(door: OpenDoor, query: str = "intent=transcription", **headers: str) -> ClientConnection:
    url = door.url.replace("http", "ws") + f"/v1/realtime?{query}"
    return connect(url, additional_headers=headers, close_timeout=5)


def hear(socket: ClientConnection, kind: str) -> dict[str, Any]:
    """Read on until an event of a kind comes."""
    while True:
        event: dict[str, Any] = json.loads(socket.recv(timeout=20))
        if event["type"] == kind:
            return event


def say(socket: ClientConnection, **event: Any) -> None:
    socket.send(json.dumps(event))


def sound(data: bytes) -> str:
    return base64.b64encode(data).decode()


def is_well(socket: ClientConnection) -> bool:
    """Transcribe two seconds."""
    say(socket, **MANUAL)
    hear(socket, "session.updated")
    say(socket, type="input_audio_buffer.clear")
    hear(socket, "input_audio_buffer.cleared")
    for _ in range(2):
        say(socket, type="input_audio_buffer.append", audio=SECOND)
    say(socket, type="input_audio_buffer.commit")
    item_id = hear(socket, "input_audio_buffer.committed")["item_id"]
    while (event := hear(socket, "conversation.item.input_audio_transcription.completed"))[
        "item_id"
    ] != item_id:
        pass
    return bool(event["transcript"])


AUDIO = st.just(SECOND) | st.binary(max_size=400).map(sound) | st.text(max_size=9)
MESSAGES = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(
                [
                    "input_audio_buffer.append",
                    "input_audio_buffer.commit",
                    "input_audio_buffer.clear",
                    "session.update",
                    "transcription_session.update",
                    "conversation.item.create",
                ]
            ),
            "event_id": st.one_of(st.none(), st.text(max_size=8), st.integers()),
            "audio": AUDIO,
            "session": st.one_of(
                st.none(),
                st.just({"input_audio_format": "g711_alaw", "turn_detection": None}),
                st.just({"audio": {"input": {"turn_detection": {"type": "server_vad"}}}}),
                st.just({"audio": {"input": {"transcription": {"prompt": "Names", "language": "en"}}}}),
                st.just({"audio": {"input": {"transcription": {"model": "nobody"}}}}),
            ),
        }
    ).map(json.dumps),
)  # fmt: skip


@hypothesis.settings(max_examples=60)
@hypothesis.given(st.lists(MESSAGES, max_size=25))
def test_whatever_is_sent_the_session_is_well_afterwards(door: OpenDoor, messages: list[str | bytes]) -> None:
    with dial(door) as socket:
        hear(socket, "session.created")
        for message in messages:
            socket.send(message)
        assert is_well(socket)


def test_sound_goes_on_being_taken_while_the_engine_has_no_room(door: OpenDoor) -> None:
    """It waits on the disk, in order, and none of it is lost."""
    client = door.door.bridge.client
    assert isinstance(client, FakeListening)
    with dial(door) as socket:
        say(socket, **MANUAL)
        hear(socket, "session.updated")
        client.is_taking = False
        for _ in range(30):
            say(socket, type="input_audio_buffer.append", audio=SECOND)
        say(socket, type="input_audio_buffer.commit")
        hear(socket, "conversation.item.created")
        client.is_taking = True
        completed = hear(socket, "conversation.item.input_audio_transcription.completed")
    # The filter keeps the last few milliseconds of what was sent.
    assert completed["transcript"] == " ".join(f"w{number}" for number in range(1, 30))


def test_items_fail_by_name_where_the_engine_gives_up(door: OpenDoor) -> None:
    client = door.door.bridge.client
    assert isinstance(client, FakeListening)
    with dial(door) as socket:
        say(socket, **MANUAL)
        client.is_taking = False
        for _ in range(2):
            say(socket, type="input_audio_buffer.append", audio=SECOND)
            say(socket, type="input_audio_buffer.commit")
        second = [hear(socket, "input_audio_buffer.committed")["item_id"] for _ in range(2)]
        client.fail(FailureKind.OUT_OF_MEMORY)
        failed = [hear(socket, "conversation.item.input_audio_transcription.failed") for _ in range(2)]
        assert [event["item_id"] for event in failed] == second
        assert failed[0]["error"]["code"] == "out_of_memory"
        assert hear(socket, "error")["error"]["code"] == "out_of_memory"
        with pytest.raises(ConnectionClosedError) as closed:
            hear(socket, "nothing more")
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1011
    client.is_taking = True


@pytest.mark.parametrize("num_unread", [3, MAX_UNREAD_EVENTS])
def test_a_caller_that_reads_nothing_is_left(tmp_path: Path, num_unread: int) -> None:
    """It neither takes what it is told nor the end of the connection, and says nothing either."""

    async def call() -> None:
        config = ServerConfig(model="/models/fake", uploads_folder=str(tmp_path), stalled_s=0.5)
        engine = EngineConfig(models_folder="", cache_folder="", log_folder="", runtime_folder="")
        places = Places(1)
        bridge = Bridge(engine, FakeListening)
        bridge.open()
        said = [{"type": "websocket.connect"}, *[{"type": "websocket.receive", "text": "x"}] * num_unread]

        async def receive() -> Message:
            if not said:
                await asyncio.Event().wait()
            return said.pop(0)

        async def send(message: Message) -> None:
            if message["type"] != "websocket.accept":
                await asyncio.Event().wait()

        scope = {
            "type": "websocket", "path": "/v1/realtime", "query_string": b"intent=transcription",
            "headers": [(b"host", b"localhost")],
        }  # fmt: skip
        await make_app(Door(config=config, bridge=bridge, places=places, uploads=tmp_path))(
            scope, receive, send
        )
        assert places.num_taken == 0
        await bridge.close()

    asyncio.run(asyncio.wait_for(call(), 20.0))
    assert list(tmp_path.iterdir()) == []


def test_only_transcription_is_served(door: OpenDoor) -> None:
    with pytest.raises(InvalidStatus) as refused:
        dial(door, "model=gpt-realtime")
    assert refused.value.response.status_code == 400
    assert json.loads(refused.value.response.body)["error"]["param"] == "intent"


def test_an_unknown_model_is_refused_at_the_door(door: OpenDoor) -> None:
    with pytest.raises(InvalidStatus) as refused:
        dial(door, "intent=transcription&model=nobody")
    assert refused.value.response.status_code == 404


class Starting(FakeListening):
    """Is not there before `arrive`."""

    def start(self) -> None:
        self._asked = threading.Event()

    def list_models(self) -> JobId:
        self._asked.set()
        return "list-early"

    def arrive(self) -> None:
        """Begin to answer, once somebody has asked."""
        assert self._asked.wait(20.0)
        super().start()
        self._tell(ModelList(job="list-early", models=(FAKE,), folder="", free_bytes=0))
        self._tell(JobDone(job="list-early"))


@pytest.fixture
def early(tmp_path: Path) -> Iterator[OpenDoor]:
    door = OpenDoor(tmp_path, "/models/fake", make_client=Starting)
    yield door
    door.close()


def arrive(door: OpenDoor) -> None:
    client = door.door.bridge.client
    assert isinstance(client, Starting)
    client.arrive()


def test_nobody_waits_for_the_engine_before_the_handshake(early: OpenDoor) -> None:
    """Callers give up on handshakes after ten seconds; engines on slow machines take longer."""
    with dial(early) as socket:
        arrive(early)
        hear(socket, "session.created")


class Turning(FakeListening):
    """Says of turns what a test has it say; `jobs` are its sessions in their order."""

    def listen(self, options: Options, start_sample: int = 0, turns: VadSettings | None = None) -> JobId:
        job = super().listen(options, start_sample, turns)
        self.jobs.put(job)
        return job

    def start(self) -> None:
        self.jobs: queue.SimpleQueue[JobId] = queue.SimpleQueue()
        super().start()

    def tell(self, *events: Event) -> None:
        self._tell(*events)


def test_turns_that_are_heard_again_are_told_once(tmp_path: Path) -> None:
    """An engine that dies within a turn, or right behind it, begins anew in its middle."""
    door = OpenDoor(tmp_path, "/models/fake", make_client=Turning)
    kinds: list[str] = []
    try:
        with dial(door) as socket:
            hear(socket, "session.created")
            client = door.door.bridge.client
            assert isinstance(client, Turning)
            client.tell(SpeechStarted(job=client.jobs.get(timeout=20), sample=1_600))
            client.fail(FailureKind.ENGINE_DIED)
            job = client.jobs.get(timeout=20)
            client.tell(SpeechStarted(job=job, sample=3_200), SpeechEnded(job=job, sample=16_000))
            client.fail(FailureKind.ENGINE_DIED)
            job = client.jobs.get(timeout=20)
            client.tell(SpeechStarted(job=job, sample=3_200), SpeechEnded(job=job, sample=16_100))
            client.tell(Flushed(job=job, sample=16_100), SpeechStarted(job=job, sample=15_900))
            client.tell(SpeechEnded(job=job, sample=32_000), Flushed(job=job, sample=32_000))
            while kinds.count("conversation.item.input_audio_transcription.completed") < 2:
                kinds.append(json.loads(socket.recv(timeout=20))["type"].removeprefix("input_audio_buffer."))
    finally:
        door.close()
    turns = [kind for kind in kinds if kind in ("speech_started", "speech_stopped", "committed")]
    assert turns == ["speech_started", "speech_stopped", "committed"] * 2


def test_an_unknown_model_is_told_when_the_engine_is_there(early: OpenDoor) -> None:
    with dial(early, "intent=transcription&model=nobody") as socket:
        arrive(early)
        assert hear(socket, "error")["error"]["code"] == "model_not_found"
        with pytest.raises(ConnectionClosedError):
            socket.recv(timeout=20)


def test_a_web_page_is_refused(door: OpenDoor) -> None:
    with pytest.raises(InvalidStatus) as refused:
        dial(door, Origin="https://evil.example")
    assert refused.value.response.status_code == 403


def test_one_caller_too_many_is_told_to_come_again(door: OpenDoor) -> None:
    with dial(door) as first, dial(door) as second:
        hear(first, "session.created")
        hear(second, "session.created")
        with pytest.raises(InvalidStatus) as refused:
            dial(door)
        assert refused.value.response.status_code == 429
        assert "Retry-After" in refused.value.response.headers


def test_a_caller_that_hangs_up_leaves_nothing_behind(door: OpenDoor) -> None:
    for _ in range(5):
        with dial(door) as socket:
            hear(socket, "session.created")
            say(socket, type="input_audio_buffer.append", audio=SECOND)
    with dial(door) as socket:
        assert is_well(socket)
