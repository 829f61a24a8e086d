"""Forms as they arrive: in any pieces, of any size, broken in any place."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from engine.server.errors import ApiError
from engine.server.uploads import MAX_FIELD_BYTES, receive_form

SOUND = bytes(range(256)) * 4


def part(name: str, content: bytes, file_name: str | None = None) -> bytes:
    called = f'; filename="{file_name}"' if file_name is not None else ""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{called}\r\n\r\n'
    return head.encode() + content + b"\r\n"


WHOLE = (
    part("model", b"whisper-1")
    + part("timestamp_granularities[]", b"word")
    + part("timestamp_granularities[]", b"segment")
    + part("file", SOUND, "../../etc/passwd")
    + part("prompt", "안녕".encode())
    + b"--b--\r\n"
)


def receive(
    folder: Path,
    pieces: list[bytes],
    *,
    max_bytes: int = 10_000,
    content_type: str | None = None,
    **headers: str,
) -> tuple[dict[str, list[str]], bytes]:
    """Return the fields and what lay on the disk while the form was being used."""
    messages: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": index + 1 < len(pieces)}
        for index, piece in enumerate(pieces)
    ]
    if not pieces:
        messages.append({"type": "http.disconnect"})

    async def next_message() -> Message:
        return messages.pop(0)

    named = {"content-type": content_type or "multipart/form-data; boundary=b", **headers}
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]
    request = Request({"type": "http", "method": "POST", "headers": raw}, next_message)

    async def use() -> tuple[dict[str, list[str]], bytes]:
        async with receive_form(request, folder, max_bytes, stalled_s=60.0) as form:
            assert form.path.parent == folder
            assert form.num_bytes == len(form.path.read_bytes())
            return form.fields, form.path.read_bytes()

    try:
        return asyncio.run(use())
    finally:
        assert list(folder.iterdir()) == [], "nothing is left on the disk"


@given(st.lists(st.integers(0, len(WHOLE)), max_size=8))
def test_a_form_reads_the_same_in_whatever_pieces_it_comes(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    edges = [0, *sorted(cuts), len(WHOLE)]
    pieces = [WHOLE[start:end] for start, end in pairwise(edges)]
    fields, sound = receive(tmp_path_factory.mktemp("uploads"), pieces)
    assert sound == SOUND
    assert fields == {
        "model": ["whisper-1"],
        "timestamp_granularities": ["word", "segment"],
        "prompt": ["안녕"],
    }


@given(st.binary(max_size=300) | st.integers(0, len(WHOLE) - 1).map(lambda end: WHOLE[:end]))
def test_what_is_no_form_is_refused_and_leaves_nothing(
    tmp_path_factory: pytest.TempPathFactory, body: bytes
) -> None:
    folder = tmp_path_factory.mktemp("uploads")
    try:
        receive(folder, [body])
    except ApiError as error:
        assert error.status == 400
    else:
        assert body[: len(WHOLE) - 2] == WHOLE[:-2], "only what follows the last boundary may be missing"


def test_a_recording_that_is_too_large_is_refused_before_it_is_all_there(tmp_path: Path) -> None:
    pieces = [part("model", b"m"), part("file", b"x" * 6_000, "a"), b"never read"]
    with pytest.raises(ApiError) as refused:
        receive(tmp_path, pieces, max_bytes=5_000)
    assert (refused.value.status, refused.value.param) == (413, "file")


def test_a_recording_that_says_that_it_is_too_large_is_not_even_begun(tmp_path: Path) -> None:
    with pytest.raises(ApiError) as refused:
        receive(tmp_path, [b"never read"], max_bytes=5_000, content_length=str(1 << 40))
    assert refused.value.status == 413


def test_what_follows_a_form_without_an_end_is_refused(tmp_path: Path) -> None:
    """Nobody keeps it, but whoever sends it would hold a place for ever."""
    with pytest.raises(ApiError) as refused:
        receive(tmp_path, [WHOLE, *[bytes(1 << 19)] * 4])
    assert refused.value.status == 413


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("missing_file", part("model", b"m") + b"--b--\r\n"),
        ("bad_form", part("file", b"1", "a") + part("file", b"2", "b") + b"--b--\r\n"),
        ("bad_form", part("prompt", b"x" * (MAX_FIELD_BYTES + 1)) + b"--b--\r\n"),
        ("bad_form", part("x", b"") * 101 + b"--b--\r\n"),
        ("bad_form", part("file", b"sound", "a")),
    ],
)
def test_forms_that_lack_or_repeat_something_are_refused(tmp_path: Path, code: str, body: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        receive(tmp_path, [body])
    assert (refused.value.status, refused.value.code) == (400, code)


def test_another_kind_of_body_is_refused(tmp_path: Path) -> None:
    for kind in ("application/json", "multipart/form-data", "multipart/form-data; boundary="):
        with pytest.raises(ApiError) as refused:
            receive(tmp_path, [b"{}"], content_type=kind)
        assert refused.value.status == 400


def test_a_caller_that_hangs_up_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ClientDisconnect):
        receive(tmp_path, [])


def test_an_upload_that_stalls_gives_its_place_back(tmp_path: Path) -> None:
    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nothing comes")

    headers = [(b"content-type", b"multipart/form-data; boundary=b")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, never)

    async def use() -> None:
        async with receive_form(request, tmp_path, 10_000, stalled_s=0.05):
            pass

    with pytest.raises(ApiError) as refused:
        asyncio.run(use())
    assert refused.value.status == 408
    assert list(tmp_path.iterdir()) == []
