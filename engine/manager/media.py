"""Turns any audio or video file into blocks of 16 kHz mono, never more of it in memory than a second.

FFmpeg reads from a Python file object without a name: the container is told by its content, and
nothing but this one file can be opened, whatever the file says.
"""

from __future__ import annotations

import functools
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, cast

import av
import av.container
import av.error
import av.logging
import numpy as np
from av.audio.stream import AudioStream

from engine.manager.downmix import Downmixer, Limiter, Samples
from engine.manager.resample import Clock, Converter
from engine.manager.sniff import HEAD_BYTES, lacks_index, points_elsewhere, sound_start
from engine.manager.tracks import choose_track
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import AudioTrack, MediaInfo
from engine.recording import open_sound

log = logging.getLogger(__name__)

BLOCK_SAMPLES: Final = SAMPLE_RATE_HZ // 2

# Demuxers that open what a file names, or run it as a script; those that read devices are told by a flag.
_REFUSED_FORMATS: Final = frozenset(
    {"hls", "applehttp", "dash", "webm_dash_manifest", "concat", "concatf", "sdp", "imf", "vobsub"}
    | {"avisynth", "vapoursynth", "libgme", "tty"}
)
_PROBING: Final = {"probesize": "50000000", "analyzeduration": "30000000"}
"""In some streams the sound begins late."""
_READ_BYTES: Final = 256 * 1024
_LONGEST_DURATION_S: Final = 1000 * 3600.0
_MAX_READ_FAULTS: Final = 100


def open_media(path: str, track: int | None = None) -> Media:
    """Open the media file at `path` for reading its audio `track` (None = the one that carries sound).

    Raises FailureError naming the file.
    """
    name = display_name(path)
    file = _open_file(Path(path), name)
    try:
        _check_content(file, name)
        return _choose_and_open(file, name, track)
    except BaseException:
        file.close()
        raise


def display_name(path: str) -> str:
    """Return the file's name as it can be shown and sent: bytes that are no text become "?"."""
    return Path(path).name.encode("utf-8", "replace").decode()


class Media:
    """One audio track of an open file. Made by `open_media`; used by one thread."""

    def __init__(self, file: BinaryIO, name: str, container: av.container.InputContainer, track: int) -> None:
        self._file = file
        self._name = name
        self._container = container
        self._stream = container.streams.audio[track]
        self._zero_s = (container.start_time or 0) / av.time_base
        self.info = _describe(container, self._stream)
        # In these the demuxer itself drops what is damaged; elsewhere a gap may be a pause of the recorder.
        self._is_gapless = container.format.name in ("flac", "ogg")
        self._promised_s = _promised_s(container, self._stream)
        self.num_damaged = 0
        """Places that could not be read and were skipped; grows while `blocks` is read."""
        self.num_decoded = 0
        """Frames that could be decoded."""

    def blocks(self) -> Iterator[Samples]:
        """Yield the whole track once: mono float32 blocks of half a second, the last one shorter.

        The first sample is the container's zero: a track that starts later begins with silence, and
        lost stretches are silence too, so times fit the picture. Raises FailureError.
        """
        limiter = Limiter()
        for mono in self._mono():
            yield limiter.limit(mono)

    def close(self) -> None:
        """Close the file; harmless when repeated."""
        self._container.close()
        self._file.close()

    def _mono(self) -> Iterator[Samples]:
        pending: list[Samples] = []
        downmixer: Downmixer | None = None
        names: tuple[str, ...] = ()
        for planes, channel_names in self._planes():
            if names != channel_names:
                if downmixer is not None and pending:
                    yield downmixer.mix(np.concatenate(pending, axis=1))
                    pending = []
                names, downmixer = channel_names, Downmixer(channel_names)
            assert downmixer is not None
            pending.append(planes)
            while sum(piece.shape[1] for piece in pending) >= BLOCK_SAMPLES:
                joined = np.concatenate(pending, axis=1)
                yield downmixer.mix(joined[:, :BLOCK_SAMPLES])
                pending = [joined[:, BLOCK_SAMPLES:]]
        if downmixer is not None and pending and sum(piece.shape[1] for piece in pending):
            yield downmixer.mix(np.concatenate(pending, axis=1))

    def _planes(self) -> Iterator[tuple[Samples, tuple[str, ...]]]:
        """Yield (channels, samples) pieces at 16 kHz with the channels' names, gaps filled with zeros."""
        clock = Clock(self._zero_s, self.info.duration)
        converter: Converter | None = None
        for frame in self._frames():
            if converter is None or not converter.fits(frame):
                if converter is not None:
                    for planes in converter.rest():
                        clock.advance(planes.shape[1])
                        yield planes, converter.channel_names
                converter = Converter(frame)
            gap = clock.gap_before(frame)
            if gap and self.num_decoded > 1 and self._is_gapless:
                self.num_damaged += 1
            for size in _pieces(gap):
                clock.advance(size)
                yield np.zeros((len(converter.channel_names), size), np.float32), converter.channel_names
            for planes in converter.convert(frame):
                clock.advance(planes.shape[1])
                yield planes, converter.channel_names
        if converter is not None:
            for planes in converter.rest():
                clock.advance(planes.shape[1])
                yield planes, converter.channel_names
        if self._promised_s is not None and clock.position_s < 0.98 * self._promised_s - 1.0:
            log.debug("the end is missing: %.1f of %.1f s", clock.position_s, self._promised_s)
            self.num_damaged += 1

    def _frames(self) -> Iterator[av.AudioFrame]:
        for packet in self._packets():
            try:
                frames = cast(list[av.AudioFrame], packet.decode())
            except av.error.FFmpegError as error:
                if not _is_comfort_noise(packet):
                    log.debug("packet skipped: %s", error)
                    self.num_damaged += 1
                continue
            for frame in frames:
                if frame.samples:
                    self.num_decoded += 1
                    yield frame

    def _packets(self) -> Iterator[av.Packet[Any]]:
        """Yield the track's packets; a fault between two of them is counted and passed over."""
        num_faults = 0
        while num_faults < _MAX_READ_FAULTS:
            try:
                for packet in self._container.demux(self._stream):
                    num_faults = 0
                    yield packet
                return
            except av.error.FFmpegError as error:
                log.debug("read fault: %s", error)
                self.num_damaged += 1
                num_faults += 1
            except OSError as error:
                _fail(FailureKind.NOT_READABLE, self._name, str(error))


def _pieces(num_samples: int) -> Iterator[int]:
    while num_samples > 0:
        yield min(num_samples, BLOCK_SAMPLES)
        num_samples -= BLOCK_SAMPLES


def _is_comfort_noise(packet: av.Packet[Any]) -> bool:
    """AMR says "nothing is spoken" in packets of at most seven bytes, which FFmpeg cannot decode."""
    return packet.stream.codec_context.name in ("amrnb", "amrwb") and packet.size <= 7


def _open_file(path: Path, name: str) -> BinaryIO:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            _fail(FailureKind.BAD_MEDIA, name, "not a regular file")
        return open_sound(path)
    except FileNotFoundError as error:
        _fail(FailureKind.NOT_FOUND, name, str(error))
    except (OSError, ValueError) as error:
        _fail(FailureKind.NOT_READABLE, name, str(error))


def _check_content(file: BinaryIO, name: str) -> None:
    try:
        file.seek(sound_start(file))
        head = file.read(HEAD_BYTES)
    except OSError as error:
        _fail(FailureKind.NOT_READABLE, name, str(error))
    if not head:
        _fail(FailureKind.EMPTY_AUDIO, name, "0 bytes")
    if points_elsewhere(head):
        _fail(FailureKind.REFUSED_MEDIA, name, repr(head[:40]))


def _choose_and_open(file: BinaryIO, name: str, track: int | None) -> Media:
    container = _open_container(file, name)
    num_tracks = len(container.streams.audio)
    if num_tracks == 0 or (track is not None and not 0 <= track < num_tracks):
        container.close()
        _fail(FailureKind.NO_AUDIO, name, f"{num_tracks} audio tracks, wanted {track}")
    if track is None and num_tracks > 1:
        track = choose_track(container)
        container.close()
        container = _open_container(file, name)
    if container.streams.audio[track or 0].codec_context is None:
        container.close()
        _fail(FailureKind.BAD_MEDIA, name, "no decoder for its sound")
    return Media(file, name, container, track or 0)


def _open_container(file: BinaryIO, name: str) -> av.container.InputContainer:
    try:
        return av.open(
            _Nameless(file),
            "r",
            options={**_PROBING, "format_whitelist": _allowed_formats(), "protocol_whitelist": "none"},
            buffer_size=_READ_BYTES,
            io_open=_refuse,
            metadata_errors="replace",
        )
    except av.error.FFmpegError as error:
        kind = FailureKind.UNFINISHED_MEDIA if lacks_index(file) else FailureKind.BAD_MEDIA
        _fail(kind, name, str(error))
    except OSError as error:
        _fail(FailureKind.NOT_READABLE, name, str(error))


@functools.cache
def _allowed_formats() -> str:
    names = []
    for name in av.formats_available - _REFUSED_FORMATS:
        try:
            reads_device = av.ContainerFormat(name, "r").no_file
        except ValueError:
            continue  # It can only be written.
        if not reads_device:
            names.append(name)
    return ",".join(names)


class _Nameless:
    """A file's content without its name: an extension must not decide, and some would open it again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = sound_start(file)
        file.seek(self._start)

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = self._start if whence == os.SEEK_SET else 0
        return self._file.seek(start + offset, whence) - self._start

    def tell(self) -> int:
        return self._file.tell() - self._start


def _refuse(url: str, _flags: int, _options: dict[str, str]) -> NoReturn:
    log.info("refused to open what a media file names")
    log.debug("it names %s", url)
    raise PermissionError("a media file may not open another")


def _describe(container: av.container.InputContainer, stream: AudioStream) -> MediaInfo:
    duration_s = (container.duration or 0) / av.time_base
    offset_s = 0.0
    if stream.start_time is not None and stream.time_base is not None and container.start_time is not None:
        offset_s = float(stream.start_time * stream.time_base) - container.start_time / av.time_base
    return MediaInfo(
        duration=duration_s if 0 < duration_s < _LONGEST_DURATION_S else None,
        tracks=tuple(_describe_track(n, s) for n, s in enumerate(container.streams.audio)),
        start_offset=max(0.0, offset_s),
    )


def _promised_s(container: av.container.InputContainer, stream: AudioStream) -> float | None:
    """Return how long the track is by an index or header, or None where that is only an estimate."""
    if not {"mov", "matroska", "flac", "ogg", "wav"} & set(container.format.name.split(",")):
        return None
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    is_alone = len(container.streams) == 1
    return container.duration / av.time_base if is_alone and container.duration else None


def _describe_track(index: int, stream: AudioStream) -> AudioTrack:
    context = stream.codec_context
    return AudioTrack(
        index=index,
        codec=context.name if context else "",
        channels=context.channels if context else 0,
        sample_rate_hz=context.sample_rate if context else 0,
        language=stream.metadata.get("language"),
        title=stream.metadata.get("title"),
    )


def _fail(kind: FailureKind, name: str, detail: str) -> NoReturn:
    raise FailureError(failure(kind, name, detail))
