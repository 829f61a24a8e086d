"""Who may enter: names, web pages and keys."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from engine.server.config import ServerConfig, is_loopback
from engine.server.security import find_refusal

LOCAL = ServerConfig(uploads_folder="unused")
OPEN = ServerConfig(uploads_folder="unused", host="0.0.0.0", api_key="k3y", allowed_hosts=("speech.lan",))


def _status(config: ServerConfig, path: str = "/v1/models", **headers: str) -> int | None:
    named = {"host": "127.0.0.1:8642", **{name.replace("_", "-"): value for name, value in headers.items()}}
    refusal = find_refusal(config, path, Headers(named))
    return None if refusal is None else refusal.status


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost", "LOCALHOST:1", "[::1]:8642", "127.9.9.9"])
def test_this_machine_enters_by_any_of_its_own_names(host: str) -> None:
    assert _status(LOCAL, host=host) is None


@pytest.mark.parametrize(
    "host", ["evil.example:8642", "192.168.1.5", "localhost.evil.example", "127.0.0.1.evil.example", "", "["]
)
def test_a_foreign_host_name_is_refused_where_only_this_machine_is_served(host: str) -> None:
    assert _status(LOCAL, host=host) == 421


def test_two_host_headers_are_refused() -> None:
    headers = Headers(raw=[(b"host", b"localhost"), (b"host", b"localhost")])
    refusal = find_refusal(LOCAL, "/v1/models", headers)
    assert refusal is not None and refusal.status == 421


def test_a_server_for_others_goes_by_its_addresses_and_the_names_it_was_given() -> None:
    key = "Bearer k3y"
    assert _status(OPEN, host="192.168.1.5:8642", authorization=key) is None
    assert _status(OPEN, host="Speech.lan", authorization=key) is None
    assert _status(OPEN, host="rebound.example", authorization=key) == 421


def test_web_pages_are_refused_unless_they_are_named() -> None:
    config = ServerConfig(uploads_folder="unused", allowed_origins=("https://notes.example",))
    assert _status(LOCAL, origin="http://127.0.0.1:8642") == 403
    assert _status(LOCAL, origin="null") == 403
    assert _status(config, origin="https://notes.example") is None
    assert _status(config, origin="https://other.example") == 403


@pytest.mark.parametrize("shown", ["", "Bearer", "Bearer wrong", "Basic k3y", "Bearer k3y2", "Bearer \xff"])
def test_a_wrong_key_is_refused(shown: str) -> None:
    assert _status(OPEN, authorization=shown) == 401


def test_the_key_opens_with_a_header_or_a_websockets_subprotocol() -> None:
    assert _status(OPEN, authorization="bearer k3y") is None
    assert _status(OPEN, sec_websocket_protocol="realtime, openai-insecure-api-key.k3y") is None


def test_without_a_key_of_its_own_the_server_takes_any() -> None:
    assert _status(LOCAL, authorization="Bearer sk-whatever") is None


def test_whoever_watches_over_processes_needs_no_key_and_learns_nothing_else() -> None:
    assert _status(OPEN, "/health") is None
    assert _status(OPEN, "/metrics") == 401


def test_loopback_addresses_are_known() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "[::1]", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "192.168.0.1", "example.org", "")] == [False] * 5
