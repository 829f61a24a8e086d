"""What callers send as sound, in any of the three formats of the realtime API, becomes 16 kHz samples."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import av
import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ: Final = 16_000
"""Of everything the engine hears."""

Samples = npt.NDArray[np.float32]


class AudioFormat(StrEnum):
    """Mono, as OpenAI names them."""

    PCM = "audio/pcm"
    """16 bits, little-endian, 24 kHz."""
    PCMU = "audio/pcmu"
    """G.711 µ-law, 8 kHz."""
    PCMA = "audio/pcma"
    """G.711 A-law, 8 kHz."""


RATES_HZ: Final = {AudioFormat.PCM: 24_000, AudioFormat.PCMU: 8_000, AudioFormat.PCMA: 8_000}
SAMPLE_BYTES: Final = {AudioFormat.PCM: 2, AudioFormat.PCMU: 1, AudioFormat.PCMA: 1}


class Decoder:
    """One stretch of sound in one format, in the order it was sent; pieces may end anywhere."""

    def __init__(self, format_: AudioFormat) -> None:
        self.format = format_
        self._rest = b""
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)

    def decode(self, data: bytes) -> Samples:
        """Return what is ready of the sound so far; a few milliseconds stay behind for the filter."""
        data = self._rest + data
        num_whole = len(data) // SAMPLE_BYTES[self.format] * SAMPLE_BYTES[self.format]
        self._rest = data[num_whole:]
        if not num_whole:
            return np.zeros(0, np.float32)
        return self._resample(_linear(data[:num_whole], self.format))

    def _resample(self, samples: npt.NDArray[np.int16]) -> Samples:
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATES_HZ[self.format]
        pieces = [piece.to_ndarray().ravel() for piece in self._resampler.resample(frame)]
        return np.concatenate([np.zeros(0, np.float32), *pieces]).astype(np.float32)


def _linear(data: bytes, format_: AudioFormat) -> npt.NDArray[np.int16]:
    if format_ is AudioFormat.PCM:
        return np.frombuffer(data, "<i2").astype(np.int16)
    table = _MU_LAW if format_ is AudioFormat.PCMU else _A_LAW
    return table[np.frombuffer(data, np.uint8)]


def _mu_law() -> npt.NDArray[np.int16]:
    """Return the 16-bit value of each code (ITU-T G.711, table 2a): bits inverted, bias 33, 8 segments."""
    code = ~np.arange(256) & 0xFF
    magnitude = ((((code & 0x0F) << 1) + 33) << (code >> 4 & 7)) - 33
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16) * np.int16(4)


def _a_law() -> npt.NDArray[np.int16]:
    """Return the 16-bit value of each code (ITU-T G.711, table 1a): even bits inverted, 7 segments."""
    code = np.arange(256) ^ 0x55
    step, segment = code & 0x0F, code >> 4 & 7
    magnitude = np.where(segment == 0, (step << 1) + 1, ((step << 1) + 33) << np.maximum(segment - 1, 0))
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16) * np.int16(8)


_MU_LAW: Final = _mu_law()
_A_LAW: Final = _a_law()
