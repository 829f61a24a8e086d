"""When a server is asked again."""

from __future__ import annotations

import datetime
import email.utils

import httpx2
import pytest

from engine.protocol.elsewhere import Elsewhere
from engine.protocol.failures import FailureKind, failure
from engine.remote.patience import Patience
from engine.servers import Trouble, trouble_of_status

SERVER = Elsewhere("http://host:8000/v1", "whisper")
BROKEN = failure(FailureKind.REMOTE_BROKEN, "host")


def _delay_s(patience: Patience, trouble: Trouble, num_tries: int, now_s: float) -> float | None:
    return patience.delay_s(trouble, num_tries=num_tries, began_s=0.0, now_s=now_s)


def test_each_wait_is_twice_the_last_up_to_a_limit() -> None:
    patience = Patience(60.0)
    trouble = Trouble(failure=BROKEN, is_passing=True)
    waits = [_delay_s(patience, trouble, number, 1.0) for number in range(1, 8)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_what_will_not_pass_is_not_tried_again() -> None:
    assert _delay_s(Patience(60.0), Trouble(failure=BROKEN), 1, 0.0) is None


def test_a_server_is_given_up_when_nothing_was_good_for_too_long() -> None:
    patience = Patience(60.0)
    trouble = Trouble(failure=BROKEN, is_passing=True)
    assert _delay_s(patience, trouble, 9, 61.0) is None
    patience.was_good(50.0)
    assert _delay_s(patience, trouble, 9, 61.0) == 8.0


def test_what_a_server_asks_for_is_obeyed_by_everybody() -> None:
    patience = Patience(60.0)
    trouble = Trouble(failure=BROKEN, is_passing=True, retry_after_s=90.0)
    assert _delay_s(patience, trouble, 1, 100.0) == 90.0
    assert patience.closed_s(120.0) == 70.0
    assert patience.closed_s(200.0) == 0.0
    assert _delay_s(patience, Trouble(failure=BROKEN, is_passing=True, retry_after_s=3600.0), 1, 0.0) is None


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], expected_s: float | None) -> None:
    trouble = trouble_of_status(SERVER, 429, httpx2.Headers(headers), b"")
    assert (trouble.is_passing, trouble.retry_after_s) == (True, expected_s)


def test_retry_after_may_be_a_date() -> None:
    at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=30)
    headers = httpx2.Headers({"Retry-After": email.utils.format_datetime(at, usegmt=True)})
    retry_after_s = trouble_of_status(SERVER, 503, headers, b"").retry_after_s
    assert retry_after_s is not None and 20.0 < retry_after_s <= 30.0


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "the model `x` does not exist", "type": "a", "code": "model_not_found"}}',
        b'{"object": "error", "message": "The model x does not exist.", "code": 404}',
        b'{"detail": "model x not found"}',
        b"no such model",
    ],
)
def test_every_servers_error_object_is_read(body: bytes) -> None:
    trouble = trouble_of_status(SERVER, 404, httpx2.Headers(), body)
    assert trouble.failure.kind is FailureKind.REMOTE_MODEL
    assert trouble.failure.subject == "whisper"
