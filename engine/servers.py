"""What a transcription server elsewhere is asked besides transcribing, and what its refusals mean."""

from __future__ import annotations

import datetime
import email.utils
import json
import ssl
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from engine.protocol.elsewhere import Elsewhere
from engine.protocol.failures import Failure, FailureError, FailureKind, failure

CONNECT_S: Final = 10.0
READ_S: Final = 300.0
"""A server that queues uploads may be silent for minutes."""
LONGEST_DETAIL: Final = 400
LONGEST_ANSWER_BYTES: Final = 32 * 1024 * 1024
SPEECH_WORDS: Final = ("whisper", "transcri", "asr", "voxtral", "parakeet", "speech", "canary", "moonshine")
"""In the names of models that hear."""


@dataclass(kw_only=True, eq=False)
class Trouble(Exception):
    """A request that came to nothing."""

    failure: Failure
    is_passing: bool = False
    """The same request may succeed later."""
    retry_after_s: float | None = None
    """What the server asked us to wait."""
    is_about_form: bool = False
    """The server objects to a field: another form of the request may do."""


def headers(key: str | None) -> dict[str, str]:
    """Return what every request carries.

    A key that no header can hold is left out, for the server to refuse: a library that met it would tell
    it in its complaint.
    """
    is_sendable = key is not None and key.isascii() and key.isprintable()
    return {"Authorization": f"Bearer {key}"} if key and is_sendable else {}


def timeout() -> httpx2.Timeout:
    return httpx2.Timeout(READ_S, connect=CONNECT_S, write=60.0, pool=None)


def list_models(server: Elsewhere, key: str | None) -> list[str]:
    """Ask a server for the names of its models. Waits. Raises FailureError."""
    try:
        with httpx2.Client(headers=headers(key), timeout=httpx2.Timeout(30.0, connect=CONNECT_S)) as client:
            response = client.get(f"{server.server}/models")
        if response.status_code != 200:
            raise trouble_of_status(server, response.status_code, response.headers, response.content)
        return model_names(server, response.content)
    except Trouble as trouble:
        raise FailureError(trouble.failure) from trouble
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise FailureError(trouble_of_error(server, error).failure) from error


def model_names(server: Elsewhere, content: bytes) -> list[str]:
    """Read the answer of `/models`. Raises Trouble."""
    try:
        listed = json.loads(content)["data"]
        return [str(model["id"]) for model in listed]
    except (ValueError, KeyError, TypeError) as error:
        raise not_understood(server, "the answer of /models is no list of models") from error


def choose_model(server: Elsewhere, names: list[str]) -> str:
    """Return the model to use where none was named: the only one, or the first that hears.

    Raises Trouble (remote_model).
    """
    heard = [name for name in names if any(word in name.lower() for word in SPEECH_WORDS)]
    if len(names) == 1 or heard:
        return (heard or names)[0]
    detail = "it offers: " + (", ".join(names[:20]) or "none")
    raise Trouble(failure=failure(FailureKind.REMOTE_MODEL, server.host, detail))


def not_understood(server: Elsewhere, detail: str) -> Trouble:
    """Return the trouble of an answer that is no transcription API's."""
    return Trouble(failure=failure(FailureKind.REMOTE_NOT_UNDERSTOOD, server.host, detail[:LONGEST_DETAIL]))


def trouble_of_status(server: Elsewhere, status: int, head: httpx2.Headers, content: bytes) -> Trouble:
    """Return what an answer other than 200 means."""
    code, message = _error_object(content)
    detail = f"HTTP {status} {code} {message}".strip()[:LONGEST_DETAIL]
    is_about_model = "model" in f"{code} {message}".lower()
    match status:
        case 401 | 403:
            return Trouble(failure=failure(FailureKind.REMOTE_KEY, server.host, detail))
        case 404 if is_about_model and server.model:
            return Trouble(failure=failure(FailureKind.REMOTE_MODEL, server.model, detail))
        case 404 | 405:
            return not_understood(server, detail)
        case 413:
            return Trouble(failure=failure(FailureKind.REMOTE_TOO_LARGE, server.host, detail))
        case 429 if code == "insufficient_quota":
            return Trouble(failure=failure(FailureKind.REMOTE_REFUSED, server.host, detail))
        case 429 | 503:
            why = failure(FailureKind.REMOTE_BUSY, server.host, detail)
            return Trouble(failure=why, is_passing=True, retry_after_s=_retry_after_s(head))
        case 408 | 425:
            why = failure(FailureKind.REMOTE_BROKEN, server.host, detail)
            return Trouble(failure=why, is_passing=True, retry_after_s=_retry_after_s(head))
        case 400 | 415 | 422:
            why = failure(FailureKind.REMOTE_REFUSED, server.host, detail)
            return Trouble(failure=why, is_about_form=True)
        case _ if status >= 500:
            why = failure(FailureKind.REMOTE_BROKEN, server.host, detail)
            return Trouble(failure=why, is_passing=status != 501, retry_after_s=_retry_after_s(head))
        case _ if status >= 400:
            return Trouble(failure=failure(FailureKind.REMOTE_REFUSED, server.host, detail))
        case _:
            # A redirect is not followed: the key is for this server alone.
            return not_understood(server, detail)


def trouble_of_error(server: Elsewhere, error: Exception) -> Trouble:
    """Return what it means that there was no answer at all."""
    detail = f"{type(error).__name__}: {error}"[:LONGEST_DETAIL]
    if _has_tls_cause(error):
        return Trouble(failure=failure(FailureKind.REMOTE_TLS, server.host, detail))
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.DecodingError | httpx2.LocalProtocolError):
        # A server that dies while it answers looks the same as one that speaks another protocol.
        trouble = not_understood(server, detail)
        return Trouble(failure=trouble.failure, is_passing=isinstance(error, httpx2.RemoteProtocolError))
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return Trouble(failure=failure(FailureKind.REMOTE_ADDRESS, server.host, detail))
    return Trouble(failure=failure(FailureKind.REMOTE_UNREACHABLE, server.host, detail), is_passing=True)


def trouble_in_stream(server: Elsewhere, error: Any) -> Trouble:
    """Return what an error object in the middle of a stream means."""
    code, message = _error_object(json.dumps({"error": error}).encode())
    why = failure(FailureKind.REMOTE_BROKEN, server.host, f"{code} {message}".strip()[:LONGEST_DETAIL])
    return Trouble(failure=why, is_passing=True)


def _error_object(content: bytes) -> tuple[str, str]:
    """Return code and message of OpenAI's error object, FastAPI's `detail`, or the bare text."""
    try:
        answer = json.loads(content)
    except ValueError:
        return "", content[:LONGEST_DETAIL].decode("utf-8", "replace").strip()
    if not isinstance(answer, dict):
        return "", str(answer)
    # vLLM and SGLang leave the outer "error" away.
    error = answer.get("error", answer.get("detail", answer))
    if not isinstance(error, dict):
        return "", str(error)
    return str(error.get("code") or error.get("type") or ""), str(error.get("message") or "")


def _retry_after_s(head: httpx2.Headers) -> float | None:
    """Read `Retry-After`: seconds, or a date (RFC 9110, 10.2.3); OpenAI's own header counts milliseconds."""
    try:
        if told_ms := head.get("retry-after-ms"):
            return max(0.0, float(told_ms) / 1000)
        told = head.get("retry-after")
        if told is None:
            return None
        if told.replace(".", "", 1).isdigit():
            return float(told)
        at = email.utils.parsedate_to_datetime(told)
        return max(0.0, (at - datetime.datetime.now(datetime.UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _has_tls_cause(error: BaseException | None) -> bool:
    seen = 0
    while error is not None and seen < 10:
        if isinstance(error, ssl.SSLError):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False
