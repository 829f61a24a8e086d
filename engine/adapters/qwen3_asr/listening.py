"""Lets a row hear its audio: what was heard before, by this or another session, is not heard again.

Audio is read in parts that are always cut alike: what stands in front of it, then each whole window of
eight seconds. A part's keys and values depend on what stands before it and on nothing else, so they are
kept under a digest of both. With or without that memory the same parts go through the network in the
same way, which is why the memory changes no bit of the result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.adapters.growing_kv import GrowingKV, Remembered
from engine.adapters.qwen3_asr.features import log_mel_windows, within_full_scale
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.recent import Recent


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """How much may be kept of what was heard; 0 keeps nothing."""

    encoded_bytes: int
    """Of the encoder's windows."""
    read_bytes: int
    """Of the text model's keys and values."""


@dataclass(slots=True)
class Work:
    """What was computed so far, for measurements."""

    num_mel_frames: int = 0
    """Frames that went through the encoder."""
    num_read: int = 0
    """Tokens read before an answer: prompt, audio, prefix and draft."""
    num_steps: int = 0
    """Tokens generated one at a time."""
    num_recalled: int = 0
    """Tokens that were remembered instead of read."""


class Listener:
    """The ears of one network, and what they remember."""

    def __init__(self, network: Qwen3Asr, cache: GrowingKV, limits: MemoryLimits) -> None:
        self.work = Work()
        self._network = network
        self._cache = cache
        self._encoded: Recent[bytes, Tensor] = Recent(limits.encoded_bytes, lambda states: states.nbytes)
        self._read: Recent[bytes, Remembered] = Recent(limits.read_bytes, lambda part: part.num_bytes)

    @property
    def num_kept_bytes(self) -> int:
        """What is remembered takes so much memory."""
        return self._encoded.total + self._read.total

    def listen(self, row: int, head: Sequence[int], pcm: np.ndarray, *, is_growing: bool) -> Tensor:
        """Let `row` read `head` and the whole windows of `pcm`, mono float32 at 16 kHz.

        Returns the audio tokens of what is left, (tokens, width), none if nothing is: they belong in front
        of what is read next. `is_growing` says that the same audio will come again, with more behind it.
        Raises OutOfMemory.
        """
        windows = log_mel_windows(within_full_scale(pcm), self._network.config.audio.window_frames)
        whole = [mel for mel in windows if mel.shape[1] == self._network.config.audio.window_frames]
        keys = _keys(head, whole)
        num_known = self._recall(row, keys)
        self._prefer_first(keys[:num_known])
        for index, key in enumerate(keys[num_known:], start=num_known):
            if index == 0:
                part = self._network.embed(head)
            else:
                part = self._encode(whole[index - 1], is_growing=is_growing)
            self._network.read(self._cache, row, part)
            self.work.num_read += len(part)
            if is_growing or index == 0:
                length = self._cache.length(row)
                self._read.put(key, self._cache.copy_out(row, length - len(part), length))
                self._prefer_first(keys[: index + 1])
        rest = windows[len(whole) :]
        if not rest:
            return self._network.embed(())
        self.work.num_mel_frames += rest[0].shape[1]
        return self._network.encode(rest[0])

    def read(self, row: int, audio: Tensor, ids: Sequence[int]) -> Tensor:
        """Let `row` read what is left of its audio and then `ids`; return their states, (tokens, width).

        Raises OutOfMemory.
        """
        x = torch.cat([audio.to(self._network.runtime.formats.text), self._network.embed(ids)])
        self.work.num_read += len(x)
        return self._network.read(self._cache, row, x)

    def forget(self) -> None:
        """Remember nothing any more."""
        self._encoded.clear()
        self._read.clear()

    def _recall(self, row: int, keys: Sequence[bytes]) -> int:
        """Let the empty `row` remember as many parts as are known, and return how many."""
        for index, key in enumerate(keys):
            part = self._read.get(key)
            if part is None:
                return index
            self._cache.copy_in(row, part)
            self.work.num_recalled += part.num_tokens
        return len(keys)

    def _prefer_first(self, keys: Sequence[bytes]) -> None:
        """Keep the parts in front longer than those behind, which are of no use without them."""
        for key in reversed(keys):
            self._read.get(key)

    def _encode(self, mel: Tensor, *, is_growing: bool) -> Tensor:
        key = _digest(mel.numpy().tobytes())
        states = self._encoded.get(key)
        if states is None:
            self.work.num_mel_frames += mel.shape[1]
            states = self._network.encode(mel)
            if is_growing:
                self._encoded.put(key, states)
        return states


def _keys(head: Sequence[int], windows: Sequence[Tensor]) -> list[bytes]:
    """Return a digest for each part, of it and all that stands in front of it.

    The audio's own numbers are digested, not its samples: louder sound that comes later changes them, and
    then the window is another one.
    """
    keys = [_digest(np.asarray(head, dtype=np.int64).tobytes())]
    for mel in windows:
        keys.append(_digest(keys[-1] + mel.numpy().tobytes()))
    return keys


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
