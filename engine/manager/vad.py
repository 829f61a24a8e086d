"""Hears where somebody speaks: Silero's network over 32 ms frames, on one thread that never spins.

`silero_vad.onnx` has the weights of the `silero-vad` package, laid out by `packaging/vad_network.py` for
all frames of a block at once: files are heard three times as fast, in time that their decoding lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import onnxruntime

FRAME_SAMPLES: Final = 512
"""What the network judges at a time, at 16 kHz."""

_CONTEXT_SAMPLES: Final = 64
_STATE_SHAPE: Final = (1, 1, 128)
_NETWORK: Final = Path(__file__).with_name("silero_vad.onnx")
_BEGINS_AT: Final = 0.5
_HYSTERESIS: Final = 0.15
"""Silero's own: speech ends that much below where it begins …"""
_LOWEST_END: Final = 0.01
"""… but it must be able to end."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Consecutive frames of `FRAME_SAMPLES`, each judged."""

    has_speech: npt.NDArray[np.bool_]
    loudness: npt.NDArray[np.float32]
    """Root mean square of the samples."""

    def __len__(self) -> int:
        return len(self.has_speech)


class SpeechDetector:
    """Listens to one recording from its first sample on; used by one thread.

    What it says of a frame depends on all before it, so the same recording is always heard the same
    way, and only when read from its start.
    """

    def __init__(self, threshold: float = _BEGINS_AT) -> None:
        """Speech begins where the network is as sure of it as `threshold`."""
        self._begins_at = threshold
        self._ends_below = max(_LOWEST_END, threshold - _HYSTERESIS)
        self._session = open_session(_NETWORK)
        self._hidden = np.zeros(_STATE_SHAPE, np.float32)
        self._cell = np.zeros(_STATE_SHAPE, np.float32)
        self._context = np.zeros(_CONTEXT_SAMPLES, np.float32)
        self._pending = np.zeros(0, np.float32)
        self._is_speaking = False

    def feed(self, block: npt.NDArray[np.float32]) -> Frames:
        """Judge all frames that `block`, (samples,), completes."""
        samples = np.concatenate([self._pending, block])
        num_frames = len(samples) // FRAME_SAMPLES
        self._pending = samples[num_frames * FRAME_SAMPLES :]
        return self._judge(samples[: num_frames * FRAME_SAMPLES])

    def finish(self) -> Frames:
        """Judge what is left, filled up with silence to a whole frame."""
        missing = -len(self._pending) % FRAME_SAMPLES
        samples = np.pad(self._pending, (0, missing))
        self._pending = self._pending[:0]
        return self._judge(samples)

    def _judge(self, samples: npt.NDArray[np.float32]) -> Frames:
        if not len(samples):
            return Frames(np.zeros(0, np.bool_), np.zeros(0, np.float32))
        with_context = np.concatenate([self._context, samples])
        self._context = samples[-_CONTEXT_SAMPLES:]
        windows = np.lib.stride_tricks.sliding_window_view(with_context, _CONTEXT_SAMPLES + FRAME_SAMPLES)
        probabilities, self._hidden, self._cell = self._session.run(
            None,
            {"input": np.ascontiguousarray(windows[::FRAME_SAMPLES]), "h": self._hidden, "c": self._cell},
        )
        return Frames(self._with_hysteresis(probabilities.ravel()), measure_loudness(samples))

    def _with_hysteresis(self, probabilities: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
        has_speech = np.empty(len(probabilities), np.bool_)
        for index, probability in enumerate(probabilities.tolist()):
            self._is_speaking = probability >= (self._ends_below if self._is_speaking else self._begins_at)
            has_speech[index] = self._is_speaking
        return has_speech


def measure_loudness(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the root mean square of every frame in `samples`, a whole number of frames."""
    frames = samples.reshape(-1, FRAME_SAMPLES)
    return np.sqrt(np.mean(np.square(frames), axis=1, dtype=np.float32))


def open_session(network: Path) -> onnxruntime.InferenceSession:
    """Load a network for one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
