"""The endpoints that say which models there are."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from engine.protocol.events import ModelList
from engine.server.door import Door
from engine.server.errors import error_of
from engine.server.names import Named, find_model, named_models


def routes(door: Door) -> list[BaseRoute]:
    """Return the routes of `/v1/models`."""

    async def list_all(_request: Request) -> Response:
        models = await list_models(door)
        return JSONResponse({"object": "list", "data": [one.body() for one in models]})

    async def show_one(request: Request) -> Response:
        models = await list_models(door)
        named = find_model(models, request.path_params["model"], door.config.model)
        return JSONResponse({**named.body(), "id": request.path_params["model"]})

    return [Route("/v1/models", list_all), Route("/v1/models/{model:path}", show_one)]


async def list_models(door: Door) -> list[Named]:
    """Ask the engine which models can be used now, the server's own choice first. Raises ApiError."""
    models: list[Named] = []
    with door.bridge.list_models() as job:
        async for event in job:
            if isinstance(event, ModelList):
                models = named_models(event.models, door.config.model)
    if job.failure is not None:
        raise error_of(job.failure)
    return models
