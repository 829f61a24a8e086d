"""Our own recordings as files: WAV parts of at most an hour that read as one, whole at every moment.

The app writes them, the engine reads them; both find the parts and their true length here.
"""

from __future__ import annotations

import io
import os
import struct
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, cast

import msgspec

SAMPLE_BYTES: Final = 2
"""Mono, 16 bit, little-endian."""
HEADER_BYTES: Final = 80
_SIGNATURE: Final = b"Jamak recording".ljust(28, b"\0")
_LARGEST_RIFF: Final = 0xFFFF_FFFF - HEADER_BYTES
_UNKNOWN: Final = 0xFFFF_FFFF


class Part(msgspec.Struct, frozen=True):
    """One file of a recording."""

    path: Path
    num_samples: int
    """By the size of the file: a header may be a moment behind."""


def header(rate_hz: int, num_samples: int) -> bytes:
    """Return the first `HEADER_BYTES` of a WAV file; of an RF64 file where the size needs it.

    A chunk of the size of RF64's is kept free in a WAV file, as EBU Tech 3306 recommends; ours says
    whose recording it is.
    """
    num_bytes = num_samples * SAMPLE_BYTES
    is_large = num_bytes > _LARGEST_RIFF
    riff_bytes = HEADER_BYTES - 8 + num_bytes
    if is_large:
        spare = struct.pack("<4sIQQQI", b"ds64", 28, riff_bytes, num_bytes, num_samples, 0)
    else:
        spare = struct.pack("<4sI", b"JUNK", 28) + _SIGNATURE
    form = struct.pack("<4sI4s", b"RF64" if is_large else b"RIFF", min(riff_bytes, _UNKNOWN), b"WAVE")
    sound = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate_hz, rate_hz * SAMPLE_BYTES, SAMPLE_BYTES, 16)
    return form + spare + sound + struct.pack("<4sI", b"data", _UNKNOWN if is_large else num_bytes)


def part_path(path: Path, number: int) -> Path:
    """Return where part `number` (1, 2, …) of the recording at `path` is; the first is `path` itself."""
    return path if number == 1 else path.with_name(f"{path.stem}.part{number}{path.suffix}")


def rate_of(path: Path) -> int | None:
    """Return the rate in Hz of a recording of ours; None for any other file. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
    if len(head) < HEADER_BYTES or head[20:48] != _SIGNATURE:
        return None
    return cast("int", struct.unpack_from("<I", head, 60)[0])


def part_at(path: Path) -> Part:
    """Return one file of a recording as long as it is now. Raises OSError."""
    return Part(path, max(0, path.stat().st_size - HEADER_BYTES) // SAMPLE_BYTES)


def parts_of(path: Path) -> list[Part]:
    """Return the parts of the recording at `path` in order; none if it is not ours. Raises OSError."""
    rate_hz = rate_of(path)
    parts: list[Part] = []
    while rate_hz is not None:
        one = part_path(path, len(parts) + 1)
        if parts and not (one.is_file() and rate_of(one) == rate_hz):
            break
        parts.append(part_at(one))
    return parts


def num_samples_of(path: Path) -> int:
    """Return the length of the whole recording at `path`. Raises OSError."""
    return sum(part.num_samples for part in parts_of(path))


def open_sound(path: Path) -> BinaryIO:
    """Open a file for reading; a recording of ours as one file, whatever its parts. Raises OSError."""
    parts = parts_of(path)
    if not parts:
        return path.open("rb")
    return cast("BinaryIO", io.BufferedReader(_Joined(parts, rate_of(path) or 0)))


class _Joined(io.RawIOBase):
    """All parts as one WAV file, as long as they were when it was opened."""

    def __init__(self, parts: Sequence[Part], rate_hz: int) -> None:
        super().__init__()
        num_samples = sum(part.num_samples for part in parts)
        self._header = header(rate_hz, num_samples)
        self._size = HEADER_BYTES + num_samples * SAMPLE_BYTES
        self._starts = [HEADER_BYTES]
        for part in parts[:-1]:
            self._starts.append(self._starts[-1] + part.num_samples * SAMPLE_BYTES)
        self._files = [part.path.open("rb", buffering=0) for part in parts]
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._size - self._position)
        if wanted <= 0:
            return 0
        if self._position < HEADER_BYTES:
            data = self._header[self._position : self._position + wanted]
        else:
            data = self._read_part(wanted)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()

    def _read_part(self, wanted: int) -> bytes:
        index = bisect_right(self._starts, self._position) - 1
        end = self._starts[index + 1] if index + 1 < len(self._starts) else self._size
        file = self._files[index]
        file.seek(HEADER_BYTES + self._position - self._starts[index])
        return file.read(min(wanted, end - self._position))
