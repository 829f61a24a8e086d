"""How times, sizes, languages and the state of a row are written for people."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

from app.desk import Row
from app.library import RowState
from app.texts import duration, failure_text
from app.ui.clock import clock_text
from engine.protocol.failures import Failure
from engine.protocol.transcript import ModelInfo, TimeSource

translate = QCoreApplication.translate

_MNEMONIC: Final = re.compile(r"\s?\(&\w\)")
# Whisper's codes that Qt's locale data names differently or not at all.
_CODES: Final = {"jw": "jv"}
_NAMES: Final = {
    "ba": ("Bashkir", "Башҡортса"),
    "haw": ("Hawaiian", "ʻŌlelo Hawaiʻi"),
    "ht": ("Haitian Creole", "Kreyòl ayisyen"),
    "ka": ("Georgian", "ქართული"),
    "la": ("Latin", "Latina"),
    "no": ("Norwegian", "Norsk"),
    "oc": ("Occitan", "Occitan"),
    "sa": ("Sanskrit", "संस्कृतम्"),
    "tl": ("Tagalog", "Tagalog"),
    "tt": ("Tatar", "Татарча"),
    "yue": ("Cantonese", "粵語"),
    "zh": ("Chinese", "中文"),
    "pt": ("Portuguese", "Português"),
    "en": ("English", "English"),
    "es": ("Spanish", "Español"),
    "he": ("Hebrew", "עברית"),
    "my": ("Burmese", "မြန်မာဘာသာ"),
}


def language_names(code: str) -> tuple[str, str]:
    """Return the English and the native name of a language code; the code itself where unknown."""
    if code in _NAMES:
        return _NAMES[code]
    locale = QLocale(_CODES.get(code, code))
    if locale.language() == QLocale.Language.C:
        return code, code
    native = locale.nativeLanguageName()
    return QLocale.languageToString(locale.language()), native[:1].upper() + native[1:]


def language_label(code: str) -> str:
    """Return "한국어 – Korean", or one name where both are the same."""
    english, native = language_names(code)
    return native if native == english or not native else f"{native} – {english}"


def remaining(seconds: float) -> str:
    """Return a duration still to wait, as precise as a guess may be."""
    return translate("Wording", "%1 left").replace("%1", duration(seconds))


def plain(text: str) -> str:
    """Return a command's name without its mnemonic ("열기(&O)…" and "&Open…" alike) and dots."""
    return _MNEMONIC.sub("", text).replace("&", "").rstrip("…")


def model_note(model: ModelInfo) -> str:
    """Return the catalogue's sentence about a model in the language in use (`translations/models_*.ts`)."""
    return translate("Models", model.note) if model.note else ""


def time_source_text(source: TimeSource) -> str:
    """Return where a segment's times come from."""
    match source:
        case TimeSource.ALIGNED:
            return translate("Wording", "Time measured word by word")
        case TimeSource.MODEL:
            return translate("Wording", "Time given by the recogniser")
        case TimeSource.VAD:
            return translate("Wording", "Time of the speech that this text was found in")
        case TimeSource.INTERPOLATED:
            return translate("Wording", "Estimated time")


def state_line(row: Row) -> str:
    """Return the second line of a row: what it is doing, or how it ended."""
    recording = row.recording
    match recording.state:
        case RowState.RECORDING:
            return translate("Wording", "Recording")
        case RowState.QUEUED:
            return translate("Wording", "Waiting")
        case RowState.RUNNING:
            return _running(row)
        case RowState.DONE:
            return _done(row)
        case RowState.FAILED:
            if recording.failure is None:
                return translate("Wording", "Failed")
            return _reason(recording.failure, recording.name)
        case RowState.CANCELLED:
            if recording.stored_until:
                return translate("Wording", "Stopped at %1").replace("%1", clock_text(recording.stored_until))
            return translate("Wording", "Cancelled")


def spoken(row: Row) -> str:
    """Return the whole row for a screen reader."""
    return f"{row.recording.name}, {state_line(row)}"


def _reason(failure: Failure, name: str) -> str:
    """Return why it failed without the file's name, which stands right above."""
    sentence = failure_text(failure)[0].removeprefix(f"“{name}” ")
    return sentence[:1].upper() + sentence[1:]


def _running(row: Row) -> str:
    if row.fraction is None or (row.fraction == 0 and row.recording.language is None):
        return translate("Wording", "Starting…")
    parts = [translate("Wording", "%1 %").replace("%1", str(int(row.fraction * 100)))]
    if row.remaining_s is not None:
        parts.append(remaining(row.remaining_s))
    return " · ".join(parts)


def _done(row: Row) -> str:
    recording = row.recording
    parts = []
    if recording.duration is not None:
        parts.append(clock_text(recording.duration))
    if recording.language:
        parts.append(language_names(recording.language)[1])
    return " · ".join(parts) or translate("Wording", "Done")
