"""Everything that can go wrong for a caller, as OpenAI's error objects; the only place that makes them."""

from __future__ import annotations

from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.protocol.failures import Failure, FailureKind, failure

RETRY_AFTER_S: Final = 2
"""Of an engine that is just being started again."""


class ApiError(Exception):
    """A refusal or failure in the caller's terms.

    `kind` is OpenAI's `type`, `param` the field at fault, `code` a stable name for programs.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s

    @property
    def kind(self) -> str:
        """OpenAI's name for this kind of error."""
        return _KINDS.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")

    def body(self) -> dict[str, Any]:
        """Return the error object."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        """Return the whole answer."""
        headers = {}
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(self.retry_after_s)
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.body(), self.status, headers)


_KINDS: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}

_K: Final = FailureKind
# failure → (status, field at fault); whatever is not here is the server's own fault.
_STATUS: Final[dict[FailureKind, tuple[int, str | None]]] = {
    _K.BAD_MEDIA: (400, "file"),
    _K.NO_AUDIO: (400, "file"),
    _K.EMPTY_AUDIO: (400, "file"),
    _K.REFUSED_MEDIA: (400, "file"),
    _K.UNFINISHED_MEDIA: (400, "file"),
    _K.MODEL_UNKNOWN: (404, "model"),
    _K.MODEL_MISSING: (404, "model"),
    _K.LANGUAGE_UNKNOWN: (400, "language"),
    _K.TASK_UNSUPPORTED: (400, "model"),
    _K.DISK_FULL: (507, None),
    _K.OUT_OF_MEMORY: (503, None),
    _K.LOST_STATE: (503, None),
    _K.WORKER_DIED: (503, None),
    _K.ENGINE_DIED: (503, None),
}
_ABOUT_MODELS: Final = frozenset(
    {_K.MODEL_UNKNOWN, _K.MODEL_MISSING, _K.MODEL_BROKEN, _K.LANGUAGE_UNKNOWN, _K.TASK_UNSUPPORTED}
)


def error_of(why: Failure) -> ApiError:
    """Return what the engine's failure means to a caller; nothing in it names a file of ours."""
    status, param = _STATUS.get(why.kind, (500, None))
    # What else went wrong is worded about the name under which the upload lies here.
    worded = why if why.kind in _ABOUT_MODELS else failure(why.kind, "file")
    return ApiError(
        status,
        f"{worded.message} {worded.hint}",
        code="model_not_found" if status == 404 else str(why.kind),
        param=param,
        retry_after_s=RETRY_AFTER_S if status == 503 else None,
    )


def busy(retry_after_s: int) -> ApiError:
    """Return the refusal of a caller that is one too many."""
    return ApiError(
        429,
        "As many transcriptions as this server takes are running or waiting. Try again in a moment.",
        code="rate_limit_exceeded",
        retry_after_s=retry_after_s,
    )


async def answer_api_error(_request: Request, error: Exception) -> Response:
    """Answer an `ApiError`."""
    assert isinstance(error, ApiError)
    return error.response()


async def answer_http_exception(request: Request, error: Exception) -> Response:
    """Answer what the router refuses: an unknown address or method."""
    assert isinstance(error, HTTPException)
    message = f"{error.detail}: {request.method} {request.url.path}"
    refusal = ApiError(error.status_code, message, code="unknown_url" if error.status_code == 404 else None)
    response = refusal.response()
    response.headers.update(error.headers or {})
    return response


async def answer_crash(_request: Request, _error: Exception) -> Response:
    """Answer an exception that nobody expected; what it says is for the log alone."""
    return ApiError(500, "Something went wrong inside the server.", code="internal").response()
