"""Every way a job can fail, with the sentence and the remedy a person reads."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class FailureKind(StrEnum):
    """Why something could not be done; stable names, stored in the library."""

    NOT_FOUND = "not_found"
    NOT_READABLE = "not_readable"
    BAD_MEDIA = "bad_media"
    NO_AUDIO = "no_audio"
    EMPTY_AUDIO = "empty_audio"
    REFUSED_MEDIA = "refused_media"
    DAMAGED_MEDIA = "damaged_media"
    UNFINISHED_MEDIA = "unfinished_media"
    MODEL_MISSING = "model_missing"
    MODEL_UNKNOWN = "model_unknown"
    MODEL_BROKEN = "model_broken"
    MODEL_INCOMPLETE = "model_incomplete"
    MODEL_UNSUPPORTED = "model_unsupported"
    MODEL_VOCABULARY = "model_vocabulary"
    MODEL_IS_ALIGNER = "model_is_aligner"
    MODEL_NO_ALIGNER = "model_no_aligner"
    MODEL_SHIPPED = "model_shipped"
    LANGUAGE_UNKNOWN = "language_unknown"
    TASK_UNSUPPORTED = "task_unsupported"
    DOWNLOAD_FAILED = "download_failed"
    HASH_MISMATCH = "hash_mismatch"
    DISK_FULL = "disk_full"
    OUT_OF_MEMORY = "out_of_memory"
    LOST_STATE = "lost_state"
    NO_SOUND_SOURCE = "no_sound_source"
    POISON = "poison"
    WORKER_DIED = "worker_died"
    ENGINE_DIED = "engine_died"
    PROTOCOL_MISMATCH = "protocol_mismatch"
    NO_KEYRING = "no_keyring"
    REMOTE_ADDRESS = "remote_address"
    REMOTE_UNREACHABLE = "remote_unreachable"
    REMOTE_TLS = "remote_tls"
    REMOTE_KEY = "remote_key"
    REMOTE_MODEL = "remote_model"
    REMOTE_TOO_LARGE = "remote_too_large"
    REMOTE_BUSY = "remote_busy"
    REMOTE_REFUSED = "remote_refused"
    REMOTE_BROKEN = "remote_broken"
    REMOTE_NOT_UNDERSTOOD = "remote_not_understood"
    LIBRARY_DAMAGED = "library_damaged"
    INTERNAL = "internal"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, in words a person can act on.

    `subject` is what it went wrong with (a file's name, a model's name) and is already part of
    `message`; translations put it in again. `detail` is for a bug report, never shown by default.
    """

    kind: FailureKind
    message: str
    hint: str
    subject: str = ""
    detail: str = ""


class FailureError(Exception):
    """Carries a `Failure` up to the place that can answer with it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


_K = FailureKind

# kind → (sentence, remedy); `{subject}` is the file or model. The only home of the English texts.
SENTENCES: Final[dict[FailureKind, tuple[str, str]]] = {
    _K.NOT_FOUND: (
        "“{subject}” is not there any more.",
        "If it was moved or renamed, choose it again.",
    ),
    _K.NOT_READABLE: (
        "“{subject}” may not be read.",
        "Check the file's permissions, or copy it to a folder of your own.",
    ),
    _K.BAD_MEDIA: (
        "“{subject}” is not an audio or video file that can be read, or it is damaged.",
        "Play it in another program; if that fails too, get the file again.",
    ),
    _K.NO_AUDIO: (
        "“{subject}” has no sound in it.",
        "Choose a file with an audio track.",
    ),
    _K.EMPTY_AUDIO: (
        "“{subject}” is empty: there is no sound to listen to.",
        "Check that the recording was saved completely.",
    ),
    _K.REFUSED_MEDIA: (
        "“{subject}” only points to other files or to the network, and is not opened.",
        "Open the recording itself instead.",
    ),
    _K.DAMAGED_MEDIA: (
        "Parts of “{subject}” are damaged and were skipped.",
        "The text is complete except for the damaged places.",
    ),
    _K.UNFINISHED_MEDIA: (
        "“{subject}” was never finished: the index at its end (“moov atom”) is missing.",
        "Open it once in the program that recorded it, which may repair it, or get the whole file.",
    ),
    _K.MODEL_MISSING: (
        "The model “{subject}” is not on this computer.",
        "Download it under Models, or choose another model.",
    ),
    _K.MODEL_UNKNOWN: (
        "“{subject}” is not a model that Jamak knows.",
        "Choose one from the list, or a folder that holds a Whisper or Qwen3-ASR model.",
    ),
    _K.MODEL_BROKEN: (
        "The model “{subject}” cannot be loaded.",
        "Verify it under Models; if it is damaged, download it again.",
    ),
    _K.MODEL_SHIPPED: (
        "The model “{subject}” is part of the program.",
        "It goes when Jamak is uninstalled.",
    ),
    _K.MODEL_INCOMPLETE: (
        "Parts of the model “{subject}” are missing.",
        "Download it again; if you copied its folder, copy every file in it.",
    ),
    _K.MODEL_UNSUPPORTED: (
        "“{subject}” is a kind of model that Jamak cannot run.",
        "Choose another model; the details say what is unusual about this one.",
    ),
    _K.MODEL_VOCABULARY: (
        "The model “{subject}” and its vocabulary do not belong together.",
        "Download it again, with its own tokenizer files.",
    ),
    _K.MODEL_IS_ALIGNER: (
        "“{subject}” finds the times of words that are known; it cannot recognise speech.",
        "Choose a recogniser, such as Qwen3-ASR; word times come from the aligner by themselves.",
    ),
    _K.MODEL_NO_ALIGNER: (
        "“{subject}” recognises speech; it cannot find the times of given words.",
        "Choose the folder of Qwen3-ForcedAligner.",
    ),
    _K.LANGUAGE_UNKNOWN: (
        "The model “{subject}” does not know the chosen language.",
        "Choose another language, or a multilingual model.",
    ),
    _K.TASK_UNSUPPORTED: (
        "The model “{subject}” cannot translate.",
        "Choose Transcribe, or a multilingual model.",
    ),
    _K.DOWNLOAD_FAILED: (
        "“{subject}” could not be downloaded.",
        "Check the connection and try again; what has arrived is kept.",
    ),
    _K.HASH_MISMATCH: (
        "“{subject}” is not the file it should be, so it was not used.",
        "Download it again; if it happens again, the source is at fault.",
    ),
    _K.DISK_FULL: (
        "There is not enough room on the disk for “{subject}”.",
        "Free some space and try again; nothing recognised so far is lost.",
    ),
    _K.OUT_OF_MEMORY: (
        "There is not enough memory for “{subject}”.",
        "Close other programs, or choose a smaller model.",
    ),
    _K.LOST_STATE: (
        "The text of “{subject}” could not be put together.",
        "Try again; if too much runs at once, raise JAMAK_DETOKENIZER_MAX_STATES.",
    ),
    _K.NO_SOUND_SOURCE: (
        "There is nothing to record: no {subject} was found.",
        "Plug one in or choose another, then start again.",
    ),
    _K.POISON: (
        "A part of “{subject}” makes the recogniser fail every time.",
        "Try another model; what was recognised before it is kept.",
    ),
    _K.WORKER_DIED: (
        "The recogniser stopped while working on “{subject}”.",
        "Try again; what was recognised so far is kept.",
    ),
    _K.ENGINE_DIED: (
        "The speech engine stopped while working on “{subject}”.",
        "Try again; what was recognised so far is kept.",
    ),
    _K.PROTOCOL_MISMATCH: (
        "Another version of Jamak is running.",
        "Close it and start Jamak again.",
    ),
    _K.NO_KEYRING: (
        "The key cannot be kept: this computer has no keyring that works.",
        "Set JAMAK_ENGINE_KEY before starting Jamak instead; until it is closed the key is used anyway.",
    ),
    _K.REMOTE_ADDRESS: (
        "“{subject}” is not a server's address.",
        "Write it like http://host:8000/v1, without a key or password in it.",
    ),
    _K.REMOTE_UNREACHABLE: (
        "The server “{subject}” cannot be reached.",
        "Check its address and the connection, then try again; what was recognised so far is kept.",
    ),
    _K.REMOTE_TLS: (
        "The connection to “{subject}” is not safe: its certificate is not trusted.",
        "Ask who runs the server; nothing was sent to it.",
    ),
    _K.REMOTE_KEY: (
        "The server “{subject}” does not accept the key.",
        "Enter the right key in Settings, or set JAMAK_ENGINE_KEY.",
    ),
    _K.REMOTE_MODEL: (
        "The server has no model “{subject}” for speech.",
        "Choose one that it offers, in Settings or with --model.",
    ),
    _K.REMOTE_TOO_LARGE: (
        "The server “{subject}” does not take uploads so large.",
        "Ask who runs it to allow at least 2 MB.",
    ),
    _K.REMOTE_BUSY: (
        "The server “{subject}” has been too busy for too long.",
        "Try again later; what was recognised so far is kept.",
    ),
    _K.REMOTE_REFUSED: (
        "The server “{subject}” refuses to transcribe this.",
        "The details say why; another model or language may do.",
    ),
    _K.REMOTE_BROKEN: (
        "Something went wrong on the server “{subject}”.",
        "Try again later; what was recognised so far is kept.",
    ),
    _K.REMOTE_NOT_UNDERSTOOD: (
        "What “{subject}” answers is not OpenAI's transcription interface.",
        "Check the address; it usually ends in /v1.",
    ),
    _K.LIBRARY_DAMAGED: (
        "The library “{subject}” is damaged.",
        "Start Jamak again: it takes over everything that can still be read.",
    ),
    _K.INTERNAL: (
        "Something went wrong inside Jamak with “{subject}”.",
        "Try again; if it stays, report it with the details.",
    ),
}


def failure(kind: FailureKind, subject: str, detail: str = "") -> Failure:
    """Return the `Failure` of `kind` about `subject`, worded in English."""
    message, hint = SENTENCES[kind]
    return Failure(
        kind=kind,
        message=message.format(subject=subject),
        hint=hint,
        subject=subject,
        detail=detail,
    )
