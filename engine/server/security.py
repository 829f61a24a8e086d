"""Who may enter at all: looks at Host, Origin and key before anything else does, WebSockets included."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.server.config import ServerConfig, is_loopback
from engine.server.errors import ApiError

OPEN_PATHS: Final = frozenset({"/health"})
"""Tell nothing, and are for those who watch over processes: no key is asked for."""
KEY_PROTOCOL: Final = "openai-insecure-api-key."
"""Browsers cannot send headers with a WebSocket: OpenAI's realtime API takes the key as a subprotocol."""


class Guard:
    """ASGI middleware around everything: passes a request on, or answers it with an error object."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        self._app = app
        self._config = config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = find_refusal(self._config, str(scope["path"]), Headers(scope=scope))
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _refuse(refusal.response(), scope, receive, send)


def find_refusal(config: ServerConfig, path: str, headers: Headers) -> ApiError | None:
    """Return why a request may not enter, or None."""
    if not _is_host_ours(config, headers.getlist("host")):
        # A web page whose name was made to point here would be as good as on this machine.
        return ApiError(421, "This server does not go by that name.", code="unknown_host")
    origins = headers.getlist("origin")
    if any(origin not in config.allowed_origins for origin in origins):
        return ApiError(403, "Web pages may not use this server.", code="origin_not_allowed")
    if config.api_key is not None and path not in OPEN_PATHS and not _has_key(config.api_key, headers):
        return ApiError(401, "The API key is missing or wrong.", code="invalid_api_key")
    return None


def _is_host_ours(config: ServerConfig, hosts: list[str]) -> bool:
    if len(hosts) != 1:
        return False
    name = _without_port(hosts[0]).lower()
    if name == "localhost" or name in {host.lower() for host in config.allowed_hosts}:
        return True
    if is_loopback(config.host):
        return is_loopback(name)
    return _is_address(name) or name == socket.gethostname().lower()


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[")
    return host.rpartition(":")[0] if ":" in host else host


def _is_address(name: str) -> bool:
    """A name in figures cannot be made to point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _has_key(key: str, headers: Headers) -> bool:
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    offered = [shown.strip()] if scheme.lower() == "bearer" else []
    for protocol in headers.get("sec-websocket-protocol", "").split(","):
        if protocol.strip().startswith(KEY_PROTOCOL):
            offered.append(protocol.strip().removeprefix(KEY_PROTOCOL))
    return any(hmac.compare_digest(one.encode(), key.encode()) for one in offered)


async def _refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer instead of the app. A WebSocket that is not accepted is answered over HTTP, as here."""
    if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
        await response(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})
