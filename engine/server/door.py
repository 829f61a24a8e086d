"""What every endpoint of the door shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.server.bridge import Bridge
from engine.server.config import ServerConfig
from engine.server.places import Places


@dataclass(frozen=True)
class Door:
    """Made once when the server starts, handed to each group of routes."""

    config: ServerConfig
    bridge: Bridge
    places: Places
    uploads: Path
    """A folder of this run's own."""
