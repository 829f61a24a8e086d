"""Asking a server elsewhere: what is told of a request that fails never holds the key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.protocol.elsewhere import parse_elsewhere
from engine.protocol.failures import FailureError
from engine.servers import headers, list_models
from tests.helpers.fake_server import FakeServer

AWKWARD = ("sk-secret\n", "sk-secret\x7f", "sk-비밀", "sk-secr\u00e9t")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    server.close()


@pytest.mark.parametrize("key", AWKWARD)
def test_a_key_that_no_header_holds_is_told_to_nobody(server: FakeServer, key: str) -> None:
    assert headers(key) == {}
    try:
        list_models(parse_elsewhere(server.url), key)
    except FailureError as error:
        assert key[:4] not in str(error.failure)


def test_every_request_shows_the_key() -> None:
    assert headers("sk-1") == {"Authorization": "Bearer sk-1"}
    assert headers("") == headers(None) == {}
