"""What the user has chosen, kept in one small JSON file: typed, frozen, saved whole or not at all."""

from __future__ import annotations

import logging
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from app.durable_file import write_durably
from app.set_aside import set_aside
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Mode, Options, Task
from engine.server.config import DEFAULT_PORT

log = logging.getLogger(__name__)

SETTINGS_VERSION: Final = 1


class Theme(StrEnum):
    """The window's colours."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class UiLanguage(StrEnum):
    """The window's language."""

    SYSTEM = "system"
    ENGLISH = "en"
    KOREAN = "ko"


class RecordFrom(StrEnum):
    """What a recording hears."""

    MICROPHONE = "microphone"
    COMPUTER = "computer"
    """What the computer plays."""
    BOTH = "both"


class CaptionStyle(msgspec.Struct, frozen=True, kw_only=True):
    """How the caption window looks and behaves. Colours are written "#rrggbb"."""

    family: str = ""
    """Of the font; empty = the system's."""
    size_pt: int = 24
    is_bold: bool = False
    num_lines: int = 3
    text_colour: str = "#ffffff"
    outline_px: int = 2
    """How far the outline reaches beyond the letters; 0 = none."""
    outline_colour: str = "#000000"
    background: str = "#101114"
    opacity_percent: int = 75
    """Of the background; without a compositor it is opaque anyway."""
    fades: bool = True
    """Goes out of the way after some seconds of silence."""
    is_click_through: bool = False
    """Clicks go to the window below."""


class CaptionPlace(msgspec.Struct, frozen=True):
    """Where the caption window was on a screen: points from the screen's corner."""

    left: int
    top: int
    width: int


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every choice with its default. A new field needs a default; a changed meaning, a new version."""

    version: int = SETTINGS_VERSION
    model: str = "whisper-base"
    """A catalogue key, or the absolute path of a checkpoint folder."""
    mode: Mode = Mode.FAST
    language: str | None = None
    """None = detect."""
    task: Task = Task.TRANSCRIBE
    word_timestamps: bool = True
    initial_prompt: str = ""
    hotwords: str = ""
    vad: bool = True
    theme: Theme = Theme.SYSTEM
    ui_language: UiLanguage = UiLanguage.SYSTEM
    text_zoom_percent: int = 100
    playback_rate: float = 1.0
    follow_playback: bool = True
    notify_when_done: bool = True
    keep_awake: bool = True
    export_format: str = "txt"
    export_folder: str = ""
    """Empty = beside the recording."""
    open_folder: str = ""
    """Where the Open dialog was last."""
    model_dialog_folder: str = ""
    """Where a folder with a model was looked for last."""
    recent_files: tuple[str, ...] = ()
    """What was opened last, newest first."""
    queue_is_paused: bool = False
    recordings_folder: str = ""
    """Where the window and `jamak live` record to; empty = the default of `app.paths.recordings_folder`."""
    model_folders: tuple[str, ...] = ()
    """Checkpoint folders the user pointed at."""
    engine_server: str = ""
    """A server elsewhere that may transcribe (`Elsewhere.server`); its key is in the keyring."""
    engine_models: tuple[str, ...] = ()
    """The names of its models when it was asked last."""
    record_from: RecordFrom = RecordFrom.MICROPHONE
    microphone: str | None = None
    """A device's id; None = the system's choice."""
    computer_sound: str | None = None
    captions: CaptionStyle = CaptionStyle()
    captions_with_recording: bool = False
    """The caption window opens when a recording begins."""
    caption_places: dict[str, CaptionPlace] = {}
    """By the screen's name; the one used last comes last."""
    serves: bool = False
    """`jamak serve` runs beside the window."""
    server_port: int = DEFAULT_PORT
    window_geometry: str = ""
    """Qt's saved geometry and splitter state, base64."""
    window_state: str = ""

    def options(self) -> Options:
        """Return what a file added now is to be transcribed with."""
        return Options(
            model=self.model,
            mode=self.mode,
            language=self.language,
            task=self.task,
            word_timestamps=self.word_timestamps,
            initial_prompt=self.initial_prompt or None,
            hotwords=self.hotwords or None,
            vad=self.vad,
        )


class LoadedSettings(msgspec.Struct, frozen=True):
    """What `load` found."""

    settings: Settings
    set_aside: Path | None = None
    """Where a file that could not be understood was moved to; the user should be told."""


def load(path: Path) -> LoadedSettings:
    """Read the settings at `path`: defaults where there is no file, and where it is damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except OSError as error:
        log.warning("settings cannot be read: %s", error.strerror)
        return LoadedSettings(Settings())
    try:
        return LoadedSettings(_upgrade(content))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        log.info("settings are damaged: %s", error)
        return LoadedSettings(Settings(), set_aside(path))


def save(settings: Settings, path: Path) -> None:
    """Write `settings` to `path`, whole or not at all. Raises FailureError (disk_full, not_readable)."""
    content = msgspec.json.format(msgspec.json.encode(settings), indent=2)
    try:
        write_durably(path, content)
    except OSError as error:
        kind = FailureKind.NOT_READABLE if isinstance(error, PermissionError) else FailureKind.DISK_FULL
        raise FailureError(failure(kind, path.name, str(error))) from error


def _upgrade(content: bytes) -> Settings:
    """Decode any version so far. Values of a later version that we do not know raise ValidationError."""
    settings = msgspec.json.decode(content, type=Settings)
    return msgspec.structs.replace(settings, version=SETTINGS_VERSION)
