"""Which dropped paths are worth transcribing: folders are searched, what cannot be media is refused."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from app.texts import tr
from engine.protocol.failures import Failure, FailureKind, failure

_MEDIA: Final = """.3g2 .3ga .3gp .aa .aac .ac3 .adts .aif .aifc .aiff .alac .amr .ape .asf .au .avi .awb .caf
    .dff .dsf .dts .dv .eac3 .f4v .flac .flv .g722 .gsm .m1v .m2a .m2ts .m2v .m4a .m4b .m4r .m4v .mka .mkv
    .mov .mp1 .mp2 .mp3 .mp4 .mpa .mpc .mpe .mpeg .mpg .mpga .mts .mxf .nut .oga .ogg .ogm .ogv .opus .qcp
    .qt .ra .rf64 .rm .rmvb .snd .spx .tak .tta .ts .vob .voc .w64 .wav .wave .weba .webm .wma .wmv .wtv
    .wv"""
_POINTING: Final = ".asx .cue .m3u .m3u8 .mpd .pls .ram .wax .wpl .xspf"
_OTHER: Final = """.7z .app .ass .bat .bz2 .csv .db .deb .dll .dmg .doc .docx .ds_store .epub .exe .gz .hwp
    .hwpx .iso .jar .json .key .md .msi .numbers .odp .ods .odt .pages .pdf .ppt .pptx .py .rar .rpm .rtf .sh
    .so .sqlite .srt .ssa .sub .tar .tgz .torrent .vtt .xls .xlsx .xml .xz .yaml .yml .zip .zst"""

MEDIA_SUFFIXES: Final = frozenset(_MEDIA.split())
"""What FFmpeg reads and people have; the Open dialog's filter."""
_POINTERS: Final = frozenset(_POINTING.split())
_NOT_MEDIA_SUFFIXES: Final = frozenset(_OTHER.split())
_NOT_MEDIA: Final = frozenset({"text", "image", "font", "model", "message"})
_MAX_FILES: Final = 10_000
"""More than anybody means by one drop."""
_HEAD_BYTES: Final = 4096


class Refusal(msgspec.Struct, frozen=True):
    """A path that was not taken, and why."""

    path: str
    failure: Failure


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """What is worth trying, as absolute paths in the order they were given, and what is not."""

    files: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()


def take_in(paths: Iterable[str]) -> Intake:
    """Look at every path; reads folders, so large ones are better looked at on a helper thread.

    A file named by hand is refused only when it surely is something else; in a folder only media
    are picked up, without a word about the rest.
    """
    files: list[str] = []
    refused: list[Refusal] = []
    for given in paths:
        path = Path(given).absolute()
        found = list(_in_folder(path)) if path.is_dir() else [path]
        problem = _nothing_in(path) if not found else (None if path.is_dir() else _refusal(path))
        if problem is not None:
            refused.append(Refusal(str(path), problem))
        else:
            files.extend(str(one) for one in found if _is_text(one))
            refused.extend(_unnameable(one) for one in found if not _is_text(one))
    return Intake(files=tuple(dict.fromkeys(files)), refused=tuple(refused))


def _refusal(path: Path) -> Failure | None:
    suffix = path.suffix.lower()
    if not path.exists():
        return failure(FailureKind.NOT_FOUND, path.name)
    if not path.is_file():
        return failure(FailureKind.BAD_MEDIA, path.name, "not a regular file")
    if suffix in MEDIA_SUFFIXES or not suffix:
        return None
    if suffix in _POINTERS:
        return failure(FailureKind.REFUSED_MEDIA, path.name)
    kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
    if suffix in _NOT_MEDIA_SUFFIXES or kind in _NOT_MEDIA:
        return failure(FailureKind.BAD_MEDIA, path.name, f"a {suffix} file")
    return None


def _is_text(path: Path) -> bool:
    """Whether a path can be stored and sent: on Linux a name may be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _unnameable(path: Path) -> Refusal:
    name = os.fsencode(path.name).decode(errors="replace")
    message, hint = tr("name_is_not_text", name=name), tr("name_is_not_text_hint")
    return Refusal(name, Failure(kind=FailureKind.BAD_MEDIA, message=message, hint=hint, subject=name))


def _nothing_in(folder: Path) -> Failure:
    return Failure(
        kind=FailureKind.BAD_MEDIA,
        message=tr("no_media_in_folder", name=folder.name),
        hint=tr("no_media_in_folder_hint"),
        subject=folder.name,
    )


def _in_folder(folder: Path) -> Iterator[Path]:
    """Media below `folder`, in the order of names; links to folders are not followed."""
    num_found = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith(".") and _is_media(path):
                yield path
                num_found += 1
                if num_found >= _MAX_FILES:
                    return


def _is_media(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix:
        # MPEG streams and TypeScript share a suffix; sources are text.
        return suffix in MEDIA_SUFFIXES and path.is_file() and (suffix != ".ts" or _is_binary(path))
    return path.is_file() and _is_binary(path)


def _is_binary(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"\0" in file.read(_HEAD_BYTES)
    except OSError:
        return False
