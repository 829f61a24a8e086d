"""Looking for a newer version: one question to one address, and only what can be trusted is believed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.updates import Release, UpdateError, address, is_newer, newest_release


class Releases(HTTPServer):
    """Answers every request with `content`, and keeps what was asked."""

    content = b""
    redirect = ""
    asked: list[str]


class _Handler(BaseHTTPRequestHandler):
    server: Releases

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.path} {sorted(self.headers.keys())}")
        self.send_response(302 if self.server.redirect else 200)
        if self.server.redirect:
            self.send_header("Location", self.server.redirect)
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def releases() -> Iterator[Releases]:
    server = Releases(("127.0.0.1", 0), _Handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _url(server: Releases) -> str:
    return f"http://127.0.0.1:{server.server_port}/newest.json"


def test_the_newest_release_is_read_and_nothing_is_told(releases: Releases) -> None:
    releases.content = b'{"version": "2.1", "page": "https://example.org/jamak", "more": 1}'
    assert newest_release(_url(releases)) == Release("2.1", "https://example.org/jamak")
    assert releases.asked == [
        "/newest.json ['Accept', 'Accept-Encoding', 'Connection', 'Host', 'User-Agent']"
    ]


def test_a_page_that_is_no_https_page_is_not_offered(releases: Releases) -> None:
    releases.content = b'{"version": "2.1", "page": "file:///etc/passwd"}'
    assert newest_release(_url(releases)).page == ""


@pytest.mark.parametrize("content", [b"", b"<html>", b'{"version": "soon"}', b'{"version": 2}', b"\xff\xfe"])
def test_an_answer_that_makes_no_sense_is_an_error(releases: Releases, content: bytes) -> None:
    releases.content = content
    with pytest.raises(UpdateError):
        newest_release(_url(releases))


def test_nobody_is_believed_over_a_line_that_can_be_changed(releases: Releases) -> None:
    with pytest.raises(UpdateError, match="https"):
        newest_release("http://example.org/newest.json")
    releases.redirect = "file:///etc/passwd"
    with pytest.raises(UpdateError):
        newest_release(_url(releases))


def test_an_address_nobody_answers_at_is_an_error(releases: Releases) -> None:
    url = _url(releases)
    releases.server_close()
    with pytest.raises(UpdateError):
        newest_release(url)


@pytest.mark.parametrize(
    ("version", "than", "is_so"),
    [
        ("0.2", "0.1.9", True),
        ("0.10", "0.9", True),
        ("1.0", "1.0.0", False),
        ("1.0", "1.0rc1", True),
        ("1.0rc2", "1.0rc1", True),
        ("1.0rc1", "1.0", False),
        ("0.1", "not installed", True),
    ],
)
def test_versions_are_compared_as_numbers(version: str, than: str, is_so: bool) -> None:
    assert is_newer(version, than) is is_so


def test_a_distributor_may_give_the_address() -> None:
    assert address({"JAMAK_UPDATES_URL": "https://example.org/a"}) == "https://example.org/a"
