"""Builds the ASGI application: routes, the guard around them, and an error object for whatever goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from engine.server import metrics, models, realtime, transcriptions
from engine.server.door import Door
from engine.server.errors import ApiError, answer_api_error, answer_crash, answer_http_exception
from engine.server.metrics import Counting, Counts
from engine.server.security import Guard

_HANDLERS: Final[dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = {
    ApiError: answer_api_error,
    HTTPException: answer_http_exception,
    Exception: answer_crash,
}


def make_app(door: Door) -> Starlette:
    """Return the application; its lifespan opens and closes the door's bridge."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        door.bridge.open()
        try:
            yield
        finally:
            await door.bridge.close()

    counts = Counts()
    middleware = [Middleware(Counting, counts=counts), Middleware(Guard, config=door.config)]
    if door.config.allowed_origins:
        # Outermost: the answers of the guard must be readable too, and a preflight shows no key.
        cors = Middleware(
            CORSMiddleware,
            allow_origins=list(door.config.allowed_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
        )
        middleware.insert(0, cors)
    return Starlette(
        routes=_routes(door, counts),
        middleware=middleware,
        exception_handlers=dict(_HANDLERS),
        lifespan=lifespan,
    )


def _routes(door: Door, counts: Counts) -> list[BaseRoute]:
    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok" if door.bridge.has_engine else "starting"})

    return [
        Route("/health", health),
        *metrics.routes(door, counts),
        *models.routes(door),
        *transcriptions.routes(door),
        *realtime.routes(door),
    ]
