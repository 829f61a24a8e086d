"""What every endpoint of the door shares."""

from __future__ import annotations

from dataclasses import dataclass

from engine.server.bridge import Bridge
from engine.server.config import ServerConfig


@dataclass(frozen=True)
class Door:
    """Made once when the server starts, handed to each group of routes."""

    config: ServerConfig
    bridge: Bridge
