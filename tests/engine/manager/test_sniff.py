"""The first bytes tell lists from recordings, tags from sound, and unfinished files from broken ones."""

from __future__ import annotations

import io

import pytest

from engine.manager.sniff import lacks_index, points_elsewhere, sound_start


def box(kind: bytes, size: int) -> bytes:
    return size.to_bytes(4, "big") + kind + bytes(size - 8)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_playlist_is_one_in_any_encoding(encoding: str) -> None:
    head = "#EXTM3U\nhttp://example.org/a.ts\n".encode(encoding)
    if encoding == "utf-16-be":
        head = b"\xfe\xff" + head
    assert points_elsewhere(head)


def test_text_behind_zeros_is_not_read() -> None:
    assert not points_elsewhere(b"some\x00binary #EXTM3U\n#EXT-X-VERSION:3")


def test_tags_one_after_another_are_passed_over() -> None:
    tag = b"ID3\x04\x00\x00\x00\x00\x00\x05hello"
    with_footer = b"ID3\x04\x00\x10\x00\x00\x00\x05hello" + bytes(10)
    assert sound_start(io.BytesIO(tag + with_footer + b"sound is here")) == 15 + 25
    assert sound_start(io.BytesIO(b"RIFFxxxxWAVE")) == 0
    assert sound_start(io.BytesIO(b"ID3\x04\x00\x00\xff\xff\xff\xff")) == 0
    assert sound_start(io.BytesIO(b"ID3")) == 0


def test_samples_without_an_index_are_an_unfinished_recording() -> None:
    finished = box(b"ftyp", 24) + box(b"mdat", 100) + box(b"moov", 50)
    assert not lacks_index(io.BytesIO(finished))
    assert lacks_index(io.BytesIO(finished[:-50]))
    assert lacks_index(io.BytesIO(box(b"ftyp", 24) + b"\x00\x00\x00\x01mdat" + (10**9).to_bytes(8, "big")))
    assert not lacks_index(io.BytesIO(box(b"ftyp", 24) + box(b"moof", 50)))
    assert not lacks_index(io.BytesIO(b"RIFF1234WAVEfmt "))
    assert not lacks_index(io.BytesIO(b""))
    assert lacks_index(io.BytesIO(box(b"ftyp", 24) + b"\x00\x00\x00\x00mdat rest of file"))
