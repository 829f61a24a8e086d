"""Takes a multipart form apart while it arrives: the recording goes to the disk, the rest is small."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from engine.server.errors import ApiError

FILE_FIELD: Final = "file"
MAX_FIELD_BYTES: Final = 64 * 1024
MAX_FIELDS: Final = 100
_OVERHEAD_BYTES: Final = 1 << 20
"""Of a body that holds a recording: names, boundaries and the other fields."""


@dataclass(frozen=True)
class Form:
    """What was sent. The file is the caller's to use until the `with` block of `receive_form` ends."""

    path: Path
    fields: dict[str, list[str]]
    num_bytes: int
    """Of the recording."""


@contextlib.asynccontextmanager
async def receive_form(
    request: Request, folder: Path, max_bytes: int, *, stalled_s: float
) -> AsyncIterator[Form]:
    """Receive a form with one recording; at the end of the block nothing of it is left on the disk.

    Raises ApiError where it is too large, stalls or is no such form, ClientDisconnect.
    """
    boundary = _boundary(request)
    if int(request.headers.get("content-length", "0")) > max_bytes + _OVERHEAD_BYTES:
        raise _too_large(max_bytes)
    # A name of ours: what the caller calls its file is no path here.
    path = folder / uuid.uuid4().hex
    try:
        with path.open("xb") as file:
            parts = _Parts(file, max_bytes)
            parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": parts.begin,
                    "on_header_field": parts.header_name,
                    "on_header_value": parts.header_value,
                    "on_header_end": parts.end_header,
                    "on_part_data": parts.data,
                    "on_part_end": parts.end,
                    "on_end": parts.close,
                },
            )
            num_left = max_bytes + _OVERHEAD_BYTES
            try:
                async for chunk in _steadily(request.stream(), stalled_s):
                    # What is around the recording has no end of its own where no length was told.
                    num_left -= len(chunk)
                    if num_left < 0:
                        raise _too_large(max_bytes)
                    parser.write(chunk)
                parser.finalize()
            except FormParserError as error:
                raise ApiError(400, "The multipart form is damaged.", code="bad_form") from error
        yield parts.form(path)
    finally:
        # Where an open file cannot be removed, the folder goes with the server.
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


async def _steadily(chunks: AsyncGenerator[bytes, None], stalled_s: float) -> AsyncIterator[bytes]:
    """Yield chunks for as long as they keep coming: who stalls would hold a place for ever."""
    while True:
        try:
            async with asyncio.timeout(stalled_s):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise ApiError(408, "The upload has stalled.", code="upload_stalled") from None
        if chunk is None:
            return
        yield chunk


def _boundary(request: Request) -> bytes:
    kind, parameters = parse_options_header(request.headers.get("content-type", ""))
    boundary = parameters.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise ApiError(400, "Send the recording as multipart/form-data.", code="bad_form")
    return boundary


def _too_large(max_bytes: int) -> ApiError:
    return ApiError(
        413,
        f"The file is larger than the {max_bytes} bytes this server takes.",
        code="file_too_large",
        param="file",
    )


@contextlib.contextmanager
def _disk_full_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ApiError(507, "There is no room on the server's disk.", code="disk_full") from error


@dataclass
class _Parts:
    """Hears the parser; raises ApiError out of it."""

    file: BinaryIO
    max_bytes: int
    fields: dict[str, list[str]] = field(default_factory=dict)
    num_bytes: int = 0
    num_fields: int = 0
    has_file: bool = False
    is_complete: bool = False
    _name: str = ""
    _is_file: bool = False
    _value: bytearray = field(default_factory=bytearray)
    _header: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))

    def begin(self) -> None:
        self.num_fields += 1
        if self.num_fields > MAX_FIELDS:
            raise ApiError(400, f"The form has more than {MAX_FIELDS} fields.", code="bad_form")
        self._name, self._is_file, self._value = "", False, bytearray()

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0].extend(data[start:end])

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1].extend(data[start:end])

    def end_header(self) -> None:
        name, value = (bytes(part) for part in self._header)
        self._header = (bytearray(), bytearray())
        if name.lower() != b"content-disposition":
            return
        _, options = parse_options_header(value)
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = self._name == FILE_FIELD
        if self._is_file and self.has_file:
            raise ApiError(400, "Send one recording at a time.", code="bad_form", param=FILE_FIELD)
        self.has_file = self.has_file or self._is_file

    def data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.num_bytes += end - start
            if self.num_bytes > self.max_bytes:
                raise _too_large(self.max_bytes)
            # Into the page cache, which is quicker than handing it to a thread.
            with _disk_full_told():
                self.file.write(data[start:end])
            return
        self._value += data[start:end]
        if len(self._value) > MAX_FIELD_BYTES:
            message = f"The field is longer than {MAX_FIELD_BYTES} bytes."
            raise ApiError(400, message, code="bad_form", param=self._name[:100])

    def end(self) -> None:
        if self._name and not self._is_file:
            # OpenAI writes the names of lists with brackets behind; not everybody does.
            name = self._name.removesuffix("[]")
            self.fields.setdefault(name, []).append(self._value.decode("utf-8", "replace"))

    def close(self) -> None:
        with _disk_full_told():
            self.file.flush()
        self.is_complete = True

    def form(self, path: Path) -> Form:
        if not self.is_complete:
            raise ApiError(400, "The multipart form has no end.", code="bad_form")
        if not self.has_file:
            raise ApiError(400, "The field “file” is missing.", code="missing_file", param=FILE_FIELD)
        return Form(path, self.fields, self.num_bytes)
