"""How one door is set up: where it listens, who may enter, and how much it takes at a time."""

from __future__ import annotations

import ipaddress
from typing import Final

import msgspec

from engine.protocol.transcript import Options

DEFAULT_PORT: Final = 8642


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a door needs to know before it opens."""

    host: str = "127.0.0.1"
    """An address of this machine. Any but a loopback address wants `api_key`."""
    api_key: str | None = None
    """What a caller must show; None on a loopback address alone."""
    model: str = Options().model
    """What the names of OpenAI's models stand for: a catalogue key, or a checkpoint folder's path."""
    max_upload_bytes: int = 1 << 30
    max_jobs: int = 64
    """Transcriptions at a time, waiting ones included; more are told to come again."""
    stalled_s: float = 60.0
    """So long may nothing come of an upload, and nothing be taken of an answer."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages that may call, as "https://example.org"; none by default."""
    allowed_hosts: tuple[str, ...] = ()
    """Names of this machine a caller may use, besides its addresses and `localhost`."""
    uploads_folder: str
    """Uploads lie below it while they are transcribed."""


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
