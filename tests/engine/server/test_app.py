"""The application as a whole: what surrounds every endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from starlette.testclient import TestClient

from engine.config import EngineConfig
from engine.protocol.events import EngineStats, JobDone
from engine.protocol.requests import JobId
from engine.protocol.stats import ModelLoad, ModelWork
from engine.server.app import make_app
from engine.server.bridge import Bridge
from engine.server.config import ServerConfig
from engine.server.door import Door
from engine.server.places import Places
from tests.helpers.fake_listening import FakeListening

PAGE = "https://notes.example"
KEY = {"authorization": "Bearer k3y"}


class Measured(FakeListening):
    """Has a model with an awkward name loaded."""

    def measure(self) -> JobId:
        load = ModelLoad(model='a"b', work=ModelWork(num_steps=7))
        self._tell(EngineStats(job="measure", models=(load,), num_jobs=0), JobDone(job="measure"))
        return "measure"


class Crashing(FakeListening):
    """Has a mistake in it."""

    def list_models(self) -> NoReturn:
        raise ArithmeticError("/home/somebody/secret.wav")


def door(folder: Path, make_client: type[FakeListening], **changes: object) -> Door:
    config = ServerConfig(model="/models/fake", uploads_folder=str(folder), api_key="k3y", **changes)  # type: ignore[arg-type]
    engine = EngineConfig(models_folder="", cache_folder="", log_folder="", runtime_folder="")
    bridge = Bridge(engine, make_client)  # type: ignore[arg-type]
    return Door(config=config, bridge=bridge, places=Places(1), uploads=folder)


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[TestClient]:
    app = make_app(door(tmp_path, Measured, allowed_origins=(PAGE,)))
    with TestClient(app, base_url="http://127.0.0.1") as caller:
        yield caller


def test_a_page_that_is_allowed_may_ask_first_and_read_what_it_is_told(caller: TestClient) -> None:
    asked = {"origin": PAGE, "access-control-request-method": "POST"}
    first = caller.options("/v1/audio/transcriptions", headers=asked)
    assert first.status_code == 200
    assert first.headers["access-control-allow-origin"] == PAGE
    refused = caller.get("/v1/models", headers={"origin": PAGE})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, PAGE)
    assert caller.get("/v1/models", headers={"origin": PAGE, **KEY}).json()["data"][0]["id"] == "fake"


def test_another_page_is_told_nothing(caller: TestClient) -> None:
    for answer in (
        caller.get("/v1/models", headers={"origin": "https://other.example", **KEY}),
        caller.options(
            "/v1/models", headers={"origin": "https://other.example", "access-control-request-method": "GET"}
        ),
    ):
        assert answer.status_code in (400, 403)
        assert "access-control-allow-origin" not in answer.headers


def test_a_mistake_of_ours_is_an_error_object_that_tells_nothing(tmp_path: Path) -> None:
    app = make_app(door(tmp_path, Crashing))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as caller:
        answer = caller.get("/v1/models", headers=KEY)
    assert answer.status_code == 500
    assert answer.json()["error"]["type"] == "server_error"
    assert "secret" not in answer.text


def test_every_request_is_counted_by_what_was_answered(caller: TestClient) -> None:
    caller.get("/v1/models/fake", headers=KEY)
    caller.get("/v1/models/nobody", headers=KEY)
    caller.get("/somewhere/else", headers=KEY)
    caller.get("/metrics")
    told = caller.get("/metrics", headers=KEY).text
    assert 'jamak_http_requests_total{path="/v1/models",status="200"} 1' in told
    assert 'jamak_http_requests_total{path="/v1/models",status="404"} 1' in told
    assert 'jamak_http_requests_total{path="other",status="404"} 1' in told
    assert 'jamak_http_requests_total{path="/metrics",status="401"} 1' in told
    assert r'jamak_decoder_steps_total{model="a\"b"} 7' in told
