"""No file can make the program open another one, or an address."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import av
import pytest

from engine.manager.media import open_media
from engine.manager.sniff import points_elsewhere
from engine.protocol.failures import FailureError, FailureKind
from tests.helpers.sounds import tone, write_media

ADDRESS = "http://127.0.0.1:{port}/voice.wav"

PLAYLISTS = {
    "list.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{target}\n#EXT-X-ENDLIST\n",
    "list.m3u": "#EXTM3U\n#EXTINF:10,Voice\n{target}\n",
    "hidden.mp3": "\n\n#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{target}\n#EXT-X-ENDLIST\n",
    "bom.mp3": "\ufeff#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{target}\n#EXT-X-ENDLIST\n",
    "list.ffconcat": "ffconcat version 1.0\nfile '{target}'\n",
    "list.txt": "file '{target}'\n",
    "list.pls": "[playlist]\nFile1={target}\nNumberOfEntries=1\n",
    "list.mpd": '<?xml version="1.0"?>\n<MPD type="static"><BaseURL>{target}</BaseURL></MPD>',
    "list.xspf": '<?xml version="1.0"?><playlist version="1"><location>{target}</location></playlist>',
    "list.asx": '<asx version="3.0"><entry><ref href="{target}"/></entry></asx>',
    "list.smil": '<smil><body><audio src="{target}"/></body></smil>',
    "call.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nt=0 0\nm=audio 5004 RTP/AVP 0\na={target}\n",
    "disc.cue": 'PERFORMER "x"\nFILE "{target}" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n',
    "link.wav": "{target}\n",
    "shortcut.url": "[InternetShortcut]\nURL={target}\n",
}


class _Witness(http.server.BaseHTTPRequestHandler):
    """Notes that somebody came."""

    visits: list[str]

    def do_GET(self) -> None:
        self.visits.append(self.path)
        self.send_error(404)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def visits() -> Iterator[tuple[int, list[str]]]:
    """A local server's port and the paths it was asked for."""
    paths: list[str] = []
    handler = type("Witness", (_Witness,), {"visits": paths})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server.server_address[1], paths
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("name", PLAYLISTS)
def test_a_list_of_addresses_is_refused_and_nobody_is_called(
    name: str, tmp_path: Path, visits: tuple[int, list[str]]
) -> None:
    port, paths = visits
    path = tmp_path / name
    path.write_text(PLAYLISTS[name].format(target=ADDRESS.format(port=port)), encoding="utf-8")
    with pytest.raises(FailureError) as caught:
        open_media(str(path))
    assert caught.value.failure.kind is FailureKind.REFUSED_MEDIA
    assert name in caught.value.failure.message
    assert paths == []


@pytest.mark.parametrize("name", PLAYLISTS)
def test_a_list_of_files_is_refused(name: str, tmp_path: Path) -> None:
    voice = write_media(tmp_path / "voice.wav", [tone(1.0)])
    path = tmp_path / name
    path.write_text(PLAYLISTS[name].format(target=voice.as_uri()), encoding="utf-8")
    with pytest.raises(FailureError) as caught:
        open_media(str(path))
    assert caught.value.failure.kind is FailureKind.REFUSED_MEDIA


@pytest.mark.parametrize("name", ["list.m3u8", "list.ffconcat", "call.sdp", "list.mpd"])
def test_a_list_that_is_not_recognised_meets_a_closed_door(
    name: str, tmp_path: Path, visits: tuple[int, list[str]]
) -> None:
    """Behind the look at the first bytes stands a second line: the demuxers themselves are forbidden."""
    port, paths = visits
    text = PLAYLISTS[name].format(target=ADDRESS.format(port=port))
    path = tmp_path / name
    path.write_bytes(b"\x00" + text.encode())
    with pytest.raises(FailureError):
        open_media(str(path))
    path.write_bytes(b" " * 100 + b"\x00" * 10 + text.encode())
    with pytest.raises(FailureError):
        open_media(str(path))
    assert paths == []


@pytest.mark.parametrize(
    "head",
    [b"RIFF\x24\x00\x00\x00WAVEfmt ", b"ID3\x04\x00\x00file", b"OggS\x00\x02", b"fLaC\x00\x00\x00\x22", b""],
)
def test_recordings_are_not_taken_for_lists(head: bytes) -> None:
    assert not points_elsewhere(head)


def test_a_transcript_that_speaks_of_files_is_not_a_list_but_no_media_either(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("We put the file on http://example.org/ and the FILE was gone.\n" * 20)
    with pytest.raises(FailureError) as caught:
        open_media(str(path))
    assert caught.value.failure.kind is FailureKind.BAD_MEDIA


def test_the_demuxers_that_follow_names_are_not_allowed() -> None:
    from engine.manager.media import _allowed_formats

    allowed = set(_allowed_formats().split(","))
    assert not allowed & {"hls", "dash", "concat", "sdp", "rtsp", "image2", "lavfi", "alsa", "imf"}
    assert {"wav", "mp3", "mov", "matroska", "ogg", "flac", "mpegts"} <= allowed
    assert "hls" in av.formats_available
