"""How one engine is set up, and where its files are."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import msgspec
import platformdirs

APP_NAME = "jamak"


def data_folder() -> Path:
    """Models, library: what the user would miss. `JAMAK_DATA_DIR` overrides it."""
    return Path(os.environ.get("JAMAK_DATA_DIR") or platformdirs.user_data_path(APP_NAME))


def cache_folder() -> Path:
    """What can be made again. `JAMAK_CACHE_DIR` overrides it."""
    return Path(os.environ.get("JAMAK_CACHE_DIR") or platformdirs.user_cache_path(APP_NAME))


def log_folder() -> Path:
    """Rotating logs without audio or text. `JAMAK_LOG_DIR` overrides it."""
    return Path(os.environ.get("JAMAK_LOG_DIR") or platformdirs.user_log_path(APP_NAME))


def runtime_folder() -> Path:
    """Sockets and the lock files, mode 0700. `JAMAK_RUNTIME_DIR` overrides it."""
    if folder := os.environ.get("JAMAK_RUNTIME_DIR"):
        return Path(folder)
    with warnings.catch_warnings():
        # Without XDG_RUNTIME_DIR it warns of its fallback; we make ours private wherever it is.
        warnings.simplefilter("ignore")
        return platformdirs.user_runtime_path(APP_NAME)


def shipped_models_folder() -> Path | None:
    """Models that came with the program and are never written to; None where none did.

    `JAMAK_SHIPPED_MODELS_DIR` overrides it.
    """
    program = getattr(sys, "_MEIPASS", None)
    named = os.environ.get("JAMAK_SHIPPED_MODELS_DIR") or (program and str(Path(program) / "models"))
    return Path(named) if named and Path(named).is_dir() else None


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything an engine is started with; sent to its processes on stdin."""

    models_folder: str
    shipped_models_folder: str | None = None
    """Read-only; a model of the user's own folder goes before the same model here."""
    cache_folder: str
    log_folder: str
    runtime_folder: str
    families: tuple[str, ...] = ("engine.adapters.whisper", "engine.adapters.qwen3_asr")
    device: str | None = None
    dtype: str | None = None
    num_threads: int | None = None
    num_slots: int | None = None
    max_loaded_models: int = 1
    idle_unload_s: float = 600.0
    window_bytes: int = 64 * 1024 * 1024
    """Audio on its way between the loops; the media readers wait beyond it."""
    max_detokenizer_states: int = 65_536
    hang_s: float = 60.0
    loading_hang_s: float = 300.0
    remote_patience_s: float = 60.0
    """So long a server elsewhere may be in trouble, without one good answer, before jobs fail."""
    log_level: str = "INFO"
    loops: dict[str, str] = {}
    """Other loops for a role, as "module:function": fakes in tests."""


class ManagerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine's front is started with."""

    config: EngineConfig
    address: str
    """Bind the inbox here; others connect to `Inbox.address`."""
    owner: str
    """The client that started the engine. The end of our stdin arrives as its `Goodbye`."""
    worker: str = "manager"


class SchedulerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduler is started with: one loaded model."""

    config: EngineConfig
    worker: str = ""
    """Unique for ever: `scheduler-3`. Filled in by `Workers.start`."""
    address: str = ""
    """Bind the inbox here. Filled in by `Workers.start`."""
    manager_address: str = ""
    """Filled in by `Workers.start`."""
    detokenizer_address: str
    model_key: str
    """Names the model in messages (`BatchTokenIDOutput.model`, `LoadText.model`)."""
    family: str
    folder: str
    companion_folder: str | None = None
    """`RuntimeOptions.companion_folder`"""


class DetokenizerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the detokenizer is started with."""

    config: EngineConfig
    worker: str = ""
    """Filled in by `Workers.start`, as are the addresses."""
    address: str = ""
    manager_address: str = ""


class RemoteSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a remote loop is started with: one model of a server elsewhere."""

    config: EngineConfig
    worker: str = ""
    """Filled in by `Workers.start`, as are the addresses."""
    address: str = ""
    manager_address: str = ""
    server: str
    """`Elsewhere.key`."""


Settings = ManagerSettings | SchedulerSettings | DetokenizerSettings | RemoteSettings


def default_config() -> EngineConfig:
    """Return the configuration from the platform's folders and the environment."""
    max_states = os.environ.get("JAMAK_DETOKENIZER_MAX_STATES")
    shipped = shipped_models_folder()
    return EngineConfig(
        models_folder=str(data_folder() / "models"),
        shipped_models_folder=str(shipped) if shipped else None,
        cache_folder=str(cache_folder()),
        log_folder=str(log_folder()),
        runtime_folder=str(runtime_folder()),
        device=os.environ.get("JAMAK_DEVICE") or None,
        max_detokenizer_states=int(max_states) if max_states else 65_536,
    )
