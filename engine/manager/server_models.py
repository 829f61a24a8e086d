"""Asks a server elsewhere for its models, in a thread of its own."""

from __future__ import annotations

import threading

from engine.ipc import Outbox
from engine.languages import LANGUAGE_CODES
from engine.messages import ServerModels
from engine.protocol.elsewhere import Elsewhere, parse_elsewhere
from engine.protocol.failures import FailureError
from engine.protocol.requests import JobId
from engine.protocol.transcript import ModelInfo, ModelPhase


def ask_for_models(job: JobId, server: str, key: str, inbox_address: str) -> None:
    """Have `ServerModels` put into the inbox, once; returns at once."""
    threading.Thread(
        target=_ask, args=(job, server, key, inbox_address), daemon=True, name=f"server-{job[:8]}"
    ).start()


def describe(message: ServerModels) -> tuple[ModelInfo, ...]:
    """Return a server's models as the list of models shows them."""
    return tuple(
        ModelInfo(
            key=Elsewhere(message.server, name).key,
            name=name,
            family="remote",
            size_bytes=0,
            languages=LANGUAGE_CODES,
            can_translate=True,
            phase=ModelPhase.INSTALLED,
            note=Elsewhere(message.server).host,
        )
        for name in message.names
    )


def _ask(job: JobId, server: str, key: str, inbox_address: str) -> None:
    # The network's libraries are for those who have a server.
    from engine.servers import list_models

    try:
        parsed = parse_elsewhere(server)
        names = tuple(list_models(parsed, key))
        answer = ServerModels(job=job, server=parsed.server, names=names)
    except FailureError as error:
        answer = ServerModels(job=job, server=server, failure=error.failure)
    outbox = Outbox(inbox_address)
    outbox.put(answer)
    outbox.close()
