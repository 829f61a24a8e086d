"""Decides which models may be loaded, which make way, and how many chunks each is given; pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from engine.manager.served_model import ServedModel

SPARE_CHUNKS: Final = 4
"""Sent beyond what a model can run, so that a free slot never waits for us."""


@dataclass(frozen=True)
class Room:
    """Whether a model may be started, and which one has to go first."""

    is_there: bool
    leaving: ServedModel | None = None


def room_for(model: ServedModel, models: Collection[ServedModel], max_loaded: int) -> Room:
    """Find room among `models`: what is elsewhere needs none, and who is listened to does not wait for it."""
    if model.source.is_elsewhere:
        return Room(True)
    loaded = [one for one in models if one.is_loaded_here]
    if len(loaded) < max_loaded:
        return Room(True)
    idle = [one for one in loaded if not one.jobs]
    if idle:
        return Room(True, min(idle, key=lambda one: one.idle_since_s))
    return Room(bool(model.live_jobs))


def num_sendable(model: ServedModel, models: Collection[ServedModel]) -> int:
    """Return how many chunks of a model may be on their way: one beside a live session of another's."""
    is_live = any(one.live_jobs for one in models if not one.source.is_elsewhere)
    if is_live and not model.live_jobs and not model.source.is_elsewhere:
        return 1
    return model.num_slots + SPARE_CHUNKS


def has_had_its_time(model: ServedModel, now_s: float, idle_unload_s: float) -> bool:
    """Say whether a loaded model has been idle for so long that it goes."""
    return model.worker is not None and not model.jobs and now_s - model.idle_since_s > idle_unload_s
