"""How much there is to do and how fast it goes: what a person who runs a server watches."""

from __future__ import annotations

import msgspec


class ModelWork(msgspec.Struct, frozen=True, kw_only=True):
    """What a loaded model has done since it was loaded."""

    num_steps: int = 0
    """Passes of the decoder by which all that runs generates one token each."""
    num_prefills: int = 0
    """Passes that take newcomers in, however many at a time."""
    num_tokens: int = 0
    """Generated, those of attempts that were given up included."""
    num_drafted: int = 0
    """Of them, drafted ones that proved right: they cost no pass of their own."""
    num_windows: int = 0
    """Stretches of audio that had to be heard for what was answered …"""
    num_windows_known: int = 0
    """… and those of them that were still in a cache."""
    audio_s: float = 0.0
    """Answered."""
    busy_s: float = 0.0
    """Time with something to do."""


class ModelLoad(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded model and what it is asked for."""

    model: str
    """As the jobs call it."""
    num_waiting: int = 0
    """Chunks in its process that do not run yet."""
    num_running: int = 0
    num_slots: int = 0
    backlog_s: float = 0.0
    """Audio handed over and not answered."""
    tokens_per_s: float = 0.0
    """While it was busy lately, as is the next."""
    real_time_factor: float = 0.0
    """Seconds of work for a second of audio."""
    work: ModelWork = ModelWork()
