"""Makes one channel of many without losing the voice; numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

# How loud each named loudspeaker is in the mix, after ITU-R BS.775: voices are in the centre, the
# surrounds are 3 dB down and the subwoofer carries no speech.
_WEIGHTS: Final = {
    "FC": 2**0.5, "LFE": 0.0, "LFE2": 0.0, "BL": 0.5**0.5, "BR": 0.5**0.5, "BC": 0.5**0.5,
    "SL": 0.5**0.5, "SR": 0.5**0.5,
}  # fmt: skip
_FADE_SAMPLES: Final = 160
_MEMORY: Final = 0.7
_CANCELS_BELOW: Final = 0.1
_MIXES_ABOVE: Final = 0.2
_OUTDONE: Final = 4.0
_NOTABLE: Final = 0.01
_SILENT: Final = 1e-9
_LOUD: Final = 1.5
_RELEASE: Final = 0.5


class Downmixer:
    """Mixes the channels of one stream, block by block.

    Where the channels cancel each other (a swapped wire, "surround" effects), their mix holds less
    than a tenth of a channel's energy: then the loudest channel is taken alone until the mix is sound
    again. Two channels of unrelated sound keep a quarter, so nothing else comes near.
    """

    def __init__(self, channel_names: Sequence[str]) -> None:
        """`channel_names` are FFmpeg's (FL, FR, FC …); unknown ones weigh 1."""
        num_channels = len(channel_names)
        weights = np.array([_WEIGHTS.get(name, 1.0) for name in channel_names], dtype=np.float32)
        if not weights.any():
            weights[:] = 1.0
        # Halved however many there are: of more than two seldom all speak, and a mean would bury the one
        # that does. The limiter takes care of the rest.
        self._mix: Samples = weights / np.float32(2.0)
        self._gains = self._mix
        self._channel_energy = np.zeros(num_channels)
        self._mix_energy = 0.0

    def mix(self, block: Samples) -> Samples:
        """Return the mono samples of `block`, (channels, samples); about half a second at a time."""
        if len(block) == 1:
            return np.asarray(block[0])
        target = self._choose(block)
        mono = target @ block
        if target is not self._gains:
            fade = np.linspace(0.0, 1.0, min(_FADE_SAMPLES, block.shape[1]), dtype=np.float32)
            head = block[:, : len(fade)]
            mono[: len(fade)] = (self._gains @ head) * (1 - fade) + mono[: len(fade)] * fade
            self._gains = target
        return np.asarray(mono, dtype=np.float32)

    def _choose(self, block: Samples) -> Samples:
        varying = block - block.mean(axis=1, keepdims=True)
        energy_here = np.square(varying).sum(axis=1)
        mix_energy_here = float(np.square(self._mix @ varying).sum())
        self._channel_energy = _MEMORY * self._channel_energy + energy_here
        self._mix_energy = _MEMORY * self._mix_energy + mix_energy_here
        loudest = int(self._channel_energy.argmax())
        if self._gains is self._mix:
            # At once: until the mix is given up, what is said in it is lost.
            is_loud = energy_here[loudest] > max(_SILENT, _NOTABLE * self._channel_energy[loudest])
            cancels = is_loud and mix_energy_here < _CANCELS_BELOW * energy_here[loudest]
            return _alone(loudest, len(block)) if cancels else self._mix
        share = self._mix_energy / max(float(self._channel_energy[loudest]), _SILENT)
        if share > _MIXES_ABOVE:
            return self._mix
        chosen = int(self._gains.argmax())
        is_outdone = self._channel_energy[loudest] > _OUTDONE * self._channel_energy[chosen]
        return _alone(loudest, len(block)) if is_outdone else self._gains


def _alone(channel: int, num_channels: int) -> Samples:
    gains: Samples = np.zeros(num_channels, dtype=np.float32)
    gains[channel] = 1.0
    return gains


class Limiter:
    """Brings samples far over full scale (float recordings) back to it, without clicks.

    The gain follows the loudness of the last seconds; single wild samples are cut off instead, so they
    bury nothing. Whatever a codec's own overshoot can explain passes bit for bit.
    """

    def __init__(self) -> None:
        self._loudness = 0.0
        self._gain = 1.0

    def limit(self, block: Samples) -> Samples:
        """Return `block`, (samples,), scaled where it is too loud."""
        if not len(block):
            return block
        magnitude = np.abs(block)
        is_tame = float(magnitude.max()) <= _LOUD
        here = float(magnitude.max() if is_tame else np.percentile(magnitude, 99))
        self._loudness = max(here, self._loudness * _RELEASE)
        gain = 1.0 / self._loudness if self._loudness > _LOUD else 1.0
        if is_tame and gain == 1.0 and self._gain == 1.0:
            return block
        ramp = np.full(len(block), gain, dtype=np.float32)
        fade = min(_FADE_SAMPLES, len(block))
        ramp[:fade] = np.linspace(self._gain, gain, fade, dtype=np.float32)
        self._gain = gain
        return np.asarray(np.clip(block * ramp, -_LOUD, _LOUD))
