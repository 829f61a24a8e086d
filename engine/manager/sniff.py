"""What the first bytes of a file give away before any demuxer sees it; pure but for reading."""

from __future__ import annotations

import re
from typing import BinaryIO, Final

HEAD_BYTES: Final = 65_536
_MAX_BOXES: Final = 10_000

# Each of these texts names other files or addresses. FFmpeg would follow most of them.
_POINTERS: Final = re.compile(
    rb"""
      \A\#EXTM3U | ^\#EXT-X-                       # M3U, HLS
    | \A(?:ffconcat|ffc)\b | \A\s*file\s+\S        # concat lists
    | \A\[playlist\] | \A\[reference\]             # PLS, ASX in its old form
    | \A(?:<\?xml.{0,4096}?\?>)?\s*(?:<!--.{0,4096}?-->\s*)*(?:<!doctype[^>]*>\s*)?
        <(?:\w+:)?(?:mpd|asx|smil|playlist|wpl|zpl|compositionplaylist|smoothstreamingmedia|rss|b4s)\b
    | \Av=0\r?\n(?:.*\r?\n)*?[mc]=                 # SDP
    | \Artsptext | \ASMILtext
    | ^[ \t]*FILE[ ]+.+[ ](?:WAVE|MP3|AIFF|BINARY|MOTOROLA|FLAC)[ \t]*\r?$   # cue sheets
    | \A(?:[a-z][a-z0-9+.-]{1,15}:)?//\S+\s*$      # a bare address
    | \A\[InternetShortcut\] | \A\[Desktop\ Entry\]
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE | re.DOTALL,
)


def points_elsewhere(head: bytes) -> bool:
    """Return whether a file that begins with `head` is a playlist, a manifest or a link.

    Such a file is never handed to FFmpeg: it would open what the text names.
    """
    text = _as_utf8(head).lstrip(b"\x00\t\r\n ")
    if b"\x00" in text[:512]:
        return False
    return _POINTERS.search(text) is not None


def sound_start(file: BinaryIO) -> int:
    """Return where the content of `file` begins: behind its ID3 tags.

    A cover picture of megabytes there hides the content from FFmpeg, which then goes by the file's name.
    """
    position = 0
    while True:
        file.seek(position)
        header = file.read(10)
        if len(header) < 10 or header[:3] != b"ID3" or max(header[6:]) > 127:
            return position
        size = 0
        for digit in header[6:]:
            size = size << 7 | digit
        has_footer = bool(header[5] & 0x10)
        position += 10 + size + (10 if has_footer else 0)


def lacks_index(file: BinaryIO) -> bool:
    """Return whether `file` is an MP4 or QuickTime recording that ended before its index was written.

    Walks the top-level boxes: there are samples (`mdat`) or a type (`ftyp`), and neither `moov` nor a
    fragment (`moof`).
    """
    kinds: set[bytes] = set()
    position = 0
    for _ in range(_MAX_BOXES):
        file.seek(position)
        header = file.read(16)
        if len(header) < 8:
            break
        size, kind = int.from_bytes(header[:4], "big"), header[4:8]
        kinds.add(kind)
        if size == 1:
            size = int.from_bytes(header[8:16], "big")
        if size < 8:
            break
        position += size
    return bool(kinds & {b"ftyp", b"mdat"}) and not kinds & {b"moov", b"moof"}


def _as_utf8(head: bytes) -> bytes:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2].decode("utf-16", "replace").encode("utf-8")
    return head.removeprefix(b"\xef\xbb\xbf")
