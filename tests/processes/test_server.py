"""`jamak serve` among processes, judged by the official SDK: what it answers, survives, and leaves behind."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.audio import Transcription, TranscriptionTextDeltaEvent, TranscriptionTextDoneEvent

from engine.client.client import EngineClient
from engine.protocol.events import Event, JobDone, JobStarted
from engine.protocol.transcript import Options
from tests.helpers.processes import descendants_of, role_of, wait_for_role, wait_until_gone
from tests.helpers.served import Served, recording, toy
from tests.helpers.toy import WORDS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

# The toys' words are tones: what hears speech would hear none.
EARLESS = {"vad": False}
TEN_WORDS = [0, 1, 2, 3, None, 4, 5, 6, 7, None]
LONG = [None if n % 5 == 4 else n % (len(WORDS) - 1) for n in range(180)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """One that serves this machine, shared by the tests that leave it as they found it."""
    server = Served(folder, toy(folder), "--max-upload", "10", "--max-jobs", "8")
    yield server
    assert server.end() == 0
    assert server.uploads == []


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start servers of a test's own over a toy with the options given."""
    started: list[Served] = []

    def start(*arguments: str, environment: dict[str, str] | None = None, **options: object) -> Served:
        started.append(Served(tmp_path, toy(tmp_path, **options), *arguments, **(environment or {})))
        return started[-1]

    yield start
    for server in started:
        server.end()


def until(fact: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Wait until something has become true."""
    end_s = time.monotonic() + timeout_s
    while not fact():
        assert time.monotonic() < end_s, "it never came true"
        time.sleep(0.02)


def text_of(words: list[int | None]) -> str:
    return "".join(WORDS[word] for word in words if word is not None).strip()


def stream(server: Served, path: Path, **extra: object) -> list[Any]:
    with path.open("rb") as file:
        events = server.client().audio.transcriptions.create(
            file=file, model="whisper-1", stream=True, extra_body={**EARLESS, **extra}
        )
        return list(events)


def listening(port: int) -> list[str]:
    """Return the local addresses, in the kernel's own figures, of what listens on `port`."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            address, _, in_hex = local.partition(":")
            if state == "0A" and int(in_hex, 16) == port:
                found.append(address)
    return found


def test_the_listening_socket_is_bound_to_the_loopback_address_alone(served: Served) -> None:
    assert listening(served.port) == ["0100007F"]


def test_the_sdk_reads_the_text_its_tokens_and_what_it_costs(served: Served, folder: Path) -> None:
    path = recording(folder, "ten", *TEN_WORDS)
    answer = served.client().audio.transcriptions.create(
        file=path, model="whisper-1", include=["logprobs"], extra_body=EARLESS
    )
    assert isinstance(answer, Transcription)
    assert answer.text == text_of(TEN_WORDS)
    assert answer.usage is not None and answer.usage.type == "duration" and answer.usage.seconds == 5
    assert answer.logprobs is not None
    told = b"".join(bytes(int(byte) for byte in one.bytes or ()) for one in answer.logprobs)
    assert told.decode().strip() == answer.text


@pytest.mark.parametrize("is_by_token", [False, True])
def test_streamed_deltas_joined_are_the_text(served: Served, folder: Path, is_by_token: bool) -> None:
    path = recording(folder, "stream", *LONG)
    *deltas, done = stream(served, path, fallback=not is_by_token)
    assert all(isinstance(one, TranscriptionTextDeltaEvent) for one in deltas)
    assert isinstance(done, TranscriptionTextDoneEvent)
    assert "".join(one.delta for one in deltas) == done.text
    answer = served.client().audio.transcriptions.create(
        file=path, model="toy", extra_body={**EARLESS, "fallback": not is_by_token}
    )
    assert answer.text == done.text
    num_letters = len(done.text.replace(" ", ""))
    # A busy machine may tell some tokens together.
    assert (len(deltas) > 0.3 * num_letters) == is_by_token


def test_a_stream_begins_before_the_recording_is_answered(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    server = start(step_s=0.01, slots=1)
    with recording(tmp_path, "slow", *LONG[:60]).open("rb") as file:
        events = server.client().audio.transcriptions.create(
            file=file, model="whisper-1", stream=True, extra_body={**EARLESS, "fallback": False}
        )
        assert isinstance(next(events), TranscriptionTextDeltaEvent)
        assert server.metrics()['jamak_backlog_seconds{model="toy"}'] > 20
        *_, done = events
    assert done.text.startswith(text_of(LONG[:10]))


def test_models_are_listed_and_shown_by_each_of_their_names(served: Served) -> None:
    client = served.client()
    assert [model.id for model in client.models.list()] == ["toy"]
    assert client.models.retrieve("whisper-1").id == "whisper-1"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("../../etc")


@pytest.mark.parametrize(
    ("error", "code", "param", "changes"),
    [
        (openai.NotFoundError, "model_not_found", "model", {"model": "nobody/knows"}),
        (openai.NotFoundError, "model_not_found", "model", {"model": "/etc"}),
        (openai.BadRequestError, "bad_media", "file", {"file": ("a.wav", b"no sound" * 100)}),
        (openai.BadRequestError, "refused_media", "file", {"file": ("a.m3u8", b"#EXTM3U\nhttp://a/b\n")}),
        (openai.BadRequestError, "language_unknown", "language", {"language": "tlh"}),
        (openai.BadRequestError, "invalid_value", "temperature", {"temperature": 2}),
        (openai.BadRequestError, "bad_media", "file", {"file": ("a.wav", b"no sound"), "stream": True}),
        (openai.APIStatusError, "file_too_large", "file", {"file": ("a.wav", bytes(11_000_000))}),
    ],
)
def test_errors_are_the_sdks_own(
    served: Served, folder: Path, error: type[openai.APIStatusError], code: str, param: str, changes: Any
) -> None:
    asked = {"file": recording(folder, "short", 0, 1), "model": "whisper-1", **changes}
    with pytest.raises(error) as raised:
        served.client().audio.transcriptions.create(**asked)
    assert (raised.value.code, raised.value.param) == (code, param)
    assert str(served.folder) not in str(raised.value)
    if code == "file_too_large":
        assert raised.value.status_code == 413
    until(lambda: served.uploads == [])


def test_unknown_addresses_and_foreign_names_are_answered_with_error_objects(served: Served) -> None:
    for status, method, path, headers in (
        (404, "GET", "/v1/nowhere", {}),
        (405, "GET", "/v1/audio/transcriptions", {}),
        (421, "GET", "/v1/models", {"host": "evil.example"}),
        (403, "POST", "/v1/audio/transcriptions", {"origin": "https://evil.example"}),
        (400, "POST", "/v1/audio/transcriptions", {"content-type": "application/json"}),
    ):
        answer = httpx2.request(method, served.root + path, headers=headers)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
        assert "access-control-allow-origin" not in answer.headers


plausible = st.sampled_from(
    [
        "true",
        "false",
        "0.5",
        "-1",
        "nan",
        "word",
        "logprobs",
        "json",
        "text",
        "srt",
        "server_vad",
        "auto",
        "en",
        "toy",
    ]
)
field_names = st.sampled_from(
    [
        "model",
        "language",
        "prompt",
        "response_format",
        "temperature",
        "timestamp_granularities[]",
        "stream",
        "include[]",
        "chunking_strategy",
        "chunking_strategy[threshold]",
        "fallback",
        "keywords[]",
    ]
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fields=st.dictionaries(field_names, plausible | st.text(max_size=20), max_size=6),
    sound=st.binary(max_size=400) | st.just(b""),
    path=st.sampled_from(["transcriptions", "translations"]),
    damage=st.integers(0, 400),
)
def test_whatever_is_sent_is_answered_and_never_a_crash(
    served: Served, fields: dict[str, str], sound: bytes, path: str, damage: int
) -> None:
    request = httpx2.Request(
        "POST", f"{served.url}/audio/{path}", data={"model": "toy", **fields}, files={"file": ("a", sound)}
    )
    body = request.read()
    answer = httpx2.post(
        request.url,
        content=body[: len(body) - damage] if damage < len(body) else body,
        headers={"content-type": request.headers["content-type"]},
        timeout=30.0,
    )
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["message"]


def test_one_too_many_is_told_to_come_again_and_the_sdk_does(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    server = start("--max-jobs", "1", step_s=0.004, slots=1)
    long, short = recording(tmp_path, "long", *LONG[:60]), recording(tmp_path, "short", 0, 1)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        first = threads.submit(
            server.client().audio.transcriptions.create, file=long, model="toy", extra_body=EARLESS
        )
        until(lambda: server.metrics()["jamak_transcriptions_open"] == 1)
        with pytest.raises(openai.RateLimitError) as refused:
            server.client().audio.transcriptions.create(file=short, model="toy", extra_body=EARLESS)
        assert int(refused.value.response.headers["retry-after"]) >= 1
        patient = server.client(max_retries=9)
        assert patient.audio.transcriptions.create(file=short, model="toy", extra_body=EARLESS).text
        assert first.result().text


@pytest.mark.parametrize("is_stream", ["true", "false"])
def test_a_caller_that_hangs_up_cancels_its_job(
    start: Callable[..., Served], tmp_path: Path, is_stream: str
) -> None:
    server = start(step_s=0.02, slots=1)
    fields = {"model": "toy", "vad": "false", "language": "en", "stream": is_stream}
    connection = sent(server, recording(tmp_path, "long", *LONG), fields)
    until(lambda: server.metrics().get('jamak_backlog_seconds{model="toy"}', 0) > 0)
    assert len(server.uploads) == 1
    connection.close()
    until(lambda: server.metrics()["jamak_transcriptions_open"] == 0)
    until(lambda: server.metrics()['jamak_backlog_seconds{model="toy"}'] == 0)
    assert server.uploads == []


def sent(server: Served, path: Path, fields: dict[str, str]) -> socket.socket:
    """Send a whole request and return the connection on which its answer would come."""
    with path.open("rb") as file:
        request = httpx2.Request(
            "POST", f"{server.url}/audio/transcriptions", files={"file": file}, data=fields
        )
        body = request.read()
    connection = socket.create_connection(("127.0.0.1", server.port))
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    connection.sendall(f"POST {request.url.path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    return connection


def test_an_engine_that_dies_costs_only_the_uploads_it_had(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    server = start(step_s=0.01)
    paths = [recording(tmp_path, f"r{n}", *LONG[n:]) for n in range(8)]
    engine = wait_for_role(server.process.pid, "manager")

    def ask(path: Path) -> str:
        try:
            return (
                server.client().audio.transcriptions.create(file=path, model="toy", extra_body=EARLESS).text
            )
        except openai.InternalServerError as error:
            assert error.status_code == 503
            assert error.code == "engine_died"
            assert error.response.headers["retry-after"]
            return ""

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(ask, path) for path in paths]
        until(lambda: server.metrics()["jamak_transcriptions_open"] == 8)
        os.kill(engine, signal.SIGKILL)
        answers = [one.result(timeout=60.0) for one in asked]
    assert answers == [""] * 8, "none of them could have been whole by then"
    assert server.process.poll() is None
    short = recording(tmp_path, "short", 0, 1)
    assert server.client().audio.transcriptions.create(file=short, model="toy", extra_body=EARLESS).text
    until(lambda: server.uploads == [])


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_in_the_middle_of_work(
    start: Callable[..., Served], tmp_path: Path, with_signal: int
) -> None:
    server = start(step_s=0.02, slots=1)
    path = recording(tmp_path, "long", *LONG)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        asked = threads.submit(
            server.client().audio.transcriptions.create, file=path, model="toy", extra_body=EARLESS
        )
        until(lambda: server.metrics()["jamak_transcriptions_open"] == 1)
        assert server.end(with_signal) == 0
        with pytest.raises(openai.InternalServerError):
            asked.result(timeout=10.0)
    assert list((tmp_path / "cache" / "uploads").iterdir()) == []


def test_it_ends_with_whoever_holds_its_stdin(start: Callable[..., Served]) -> None:
    server = start("--until-stdin-ends")
    wait_for_role(server.process.pid, "manager")
    below = descendants_of(server.process.pid)
    assert server.process.stdin is not None
    server.process.stdin.close()
    server.process.stdin = None
    assert server.process.wait(20.0) == 0
    wait_until_gone(below)


def test_others_must_show_the_key_that_was_made_for_them(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    server = start("--host", "0.0.0.0", environment={"JAMAK_API_KEY": ""})
    assert listening(server.port) == ["00000000"]
    key_path = tmp_path / "data" / "server.key"
    assert stat.S_IMODE(key_path.stat().st_mode) == 0o600
    key = key_path.read_text().strip()
    with pytest.raises(openai.AuthenticationError):
        server.client().models.list()
    assert list(server.client(api_key=key).models.list())
    assert httpx2.get(f"{server.root}/health").json()["status"] in ("ok", "starting")


def test_a_port_that_is_taken_is_told_in_a_sentence(served: Served, folder: Path) -> None:
    second = folder / "second"
    second.mkdir()
    with pytest.raises(AssertionError, match=r"port \d+ cannot be listened on"):
        Served(second, folder / "models" / "toy", "--port", str(served.port))


def test_server_and_window_share_one_engine_and_its_batch(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    server = start(step_s=0.004, slots=2)
    engine = wait_for_role(server.process.pid, "manager")
    path = recording(tmp_path, "long", *LONG)
    events: list[Event] = []
    is_over, has_begun = threading.Event(), threading.Event()

    def hear(event: Event) -> None:
        events.append(event)
        if isinstance(event, JobStarted):
            has_begun.set()
        if isinstance(event, JobDone):
            is_over.set()

    window = EngineClient(server.config, hear)
    window.start()
    try:
        window.transcribe(str(path), Options(model=str(tmp_path / "models" / "toy"), vad=False))
        assert has_begun.wait(30.0)
        assert server.client().audio.transcriptions.create(file=path, model="toy", extra_body=EARLESS).text
        assert is_over.wait(30.0)
    finally:
        window.close()
    roles = [role_of(pid) for pid in descendants_of(engine)]
    assert sorted(filter(None, roles)) == ["detokenizer", "scheduler"]
