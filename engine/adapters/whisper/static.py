"""The network in passes of a few fixed sizes over fixed tensors, so that they can be recorded.

For a graphics card, where starting hundreds of small kernels one by one takes longer than running them.
Says the same as the ordinary passes, which remain for everything of another shape, and for a device
that cannot record. Nothing in a pass may wait for the device or depend on a value in it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.cross_cache import FloatCross
from engine.adapters.graphs import Recorder, Work
from engine.adapters.kv import KVCache, LayerCache
from engine.adapters.whisper.buckets import (
    BEAMS,
    Bucket,
    Limits,
    choose_bucket,
    place_rows,
    split_batch,
)
from engine.adapters.whisper.groups import NewTokens
from engine.adapters.whisper.layers import Conv, DecoderBlock, EncoderBlock

if TYPE_CHECKING:
    from engine.adapters.whisper.config import WhisperConfig
    from engine.adapters.whisper.model import AudioEncoder, TextDecoder

log = logging.getLogger(__name__)

MAX_ENCODED: Final = 8
"""Windows encoded in one pass: they fill any card, and more would only take more memory."""


class Recordings:
    """What was recorded, by size; where recording fails once, it is never tried again."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._works: dict[Bucket | int, Work] = {}
        self.trouble = ""
        """Why nothing can be recorded; empty while all is well."""

    def get(self, size: Bucket | int, work: Callable[[], None]) -> Work | None:
        """Return the recording of `work`, which is run on the way if it is new; None where that fails."""
        if self.trouble:
            return None
        if size not in self._works:
            try:
                self._works[size] = self._recorder.record(work)
            except RuntimeError as error:  # of torch, CUDA or cuBLAS; out of memory is one of them
                self.trouble = (
                    str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                )
                self._works.clear()
                log.info("nothing can be recorded: %s", self.trouble)
                return None
        return self._works[size]

    def forget(self) -> None:
        """Drop everything: the tensors it was recorded on are gone."""
        self._works.clear()


class StaticEncoder:
    """Encodes windows in batches of 1, 2, 4 and so on."""

    def __init__(self, encoder: AudioEncoder, config: WhisperConfig, recordings: Recordings) -> None:
        """Raises OutOfMemory."""
        dims, like = config.dims, encoder.positional_embedding
        self._encoder = encoder
        self._recordings = recordings
        self._mel = like.new_zeros((MAX_ENCODED, dims.n_mels, 2 * dims.n_audio_ctx))
        self._states = like.new_zeros((MAX_ENCODED, dims.n_audio_ctx, dims.n_audio_state))

    def encode(self, mel: Tensor) -> Tensor | None:
        """Return (batch, frames, width) of `mel`, (batch, mels, 2 × frames), of any device and dtype."""
        states: list[Tensor] = []
        first = 0
        for num_windows, size in split_batch(mel.shape[0], MAX_ENCODED):
            self._mel[:num_windows].copy_(mel[first : first + num_windows])
            work = self._recordings.get(size, lambda size=size: self._pass(size))  # type: ignore[misc]
            if work is None:
                return None
            work()
            states.append(self._states[:num_windows].clone())
            first += num_windows
        return torch.cat(states)

    def _pass(self, size: int) -> None:
        encoder = self._encoder
        x = _convolve(encoder.conv2, _convolve(encoder.conv1, self._mel[:size].transpose(1, 2)), stride=2)
        x = x + encoder.positional_embedding
        for block in encoder.blocks:
            x = _encode_block(block, x)
        self._states[:size].copy_(encoder.ln_post(x))


def _convolve(conv: Conv, x: Tensor, *, stride: int = 1) -> Tensor:
    """Return (batch, frames // stride, out) of `x`, (batch, frames, in): `Conv` for several windows."""
    num_windows, frames, width = x.shape
    padded = F.pad(x, (0, 0, 1, 1)).contiguous()
    shape = (num_windows, frames // stride, 3 * width)
    return conv.projection.window(padded.as_strided(shape, ((frames + 2) * width, stride * width, 1)))


def _encode_block(block: EncoderBlock, x: Tensor) -> Tensor:
    """Return (batch, frames, width) of `x`, (batch, frames, width): `EncoderBlock` for several windows."""
    num_windows, frames, width = x.shape
    qkv = block.qkv.window(block.attn_ln(x))
    q, k, v = qkv.view(num_windows, frames, 3, block.n_head, -1).permute(2, 0, 3, 1, 4)
    attended = F.scaled_dot_product_attention(q, k, v, scale=1.0)
    x = x + block.out.window(attended.transpose(1, 2).reshape(num_windows, frames, width))
    return x + block.mlp_out.window(block.mlp_in.window(block.mlp_ln(x)))


class StaticDecoder:
    """Steps over the rows of one cache: each window with its rows, places without one with a spare row."""

    def __init__(
        self, decoder: TextDecoder, config: WhisperConfig, cache: KVCache, recordings: Recordings
    ) -> None:
        """Raises OutOfMemory."""
        dims, device = config.dims, decoder.positional_embedding.device
        self.cache = cache
        self._decoder = decoder
        self._heads = config.alignment_heads
        self._recordings = recordings
        self._storage = cache.storage
        num_rows = cache.num_windows * max(BEAMS)
        # Ids, positions, slots, and where the rows that are asked for lie.
        self._inputs = torch.zeros((4, num_rows), dtype=torch.int64, device=device)
        self._staging = torch.zeros((4, num_rows), dtype=torch.int64, pin_memory=device.type == "cuda")
        self._logits = torch.zeros((num_rows, dims.n_vocab), device=device)
        self._attention = torch.zeros((num_rows, len(self._heads), dims.n_audio_ctx), device=device)

    def step(self, rows: Sequence[NewTokens], tokens: Sequence[int]) -> tuple[Tensor, Tensor] | None:
        """Read one of `tokens` in each of `rows`, and return logits and attention; None where it cannot.

        (rows, vocabulary) and (rows, alignment heads, frames), both float32.
        """
        if self._storage != self.cache.storage:
            self._storage = self.cache.storage
            self._recordings.forget()
        bucket = choose_bucket(rows, Limits(self.cache.num_windows, self.cache.shape.max_tokens))
        if bucket is None:
            return None
        self._fill(bucket, rows, tokens)
        work = self._recordings.get(bucket, lambda: self._pass(bucket))
        if work is None:
            return None
        work()
        asked = self._inputs[3, : len(rows)]
        return self._logits[asked], self._attention[asked]

    def _fill(self, bucket: Bucket, rows: Sequence[NewTokens], tokens: Sequence[int]) -> None:
        """Bring the rows to the device in one go. The last step's results were read, so its copy is done."""
        ids, positions, slots, asked = self._staging
        ids[: bucket.num_rows] = 0
        positions[: bucket.num_rows] = 0
        slots[: bucket.num_rows] = self.cache.spare_row
        places = place_rows(rows, bucket)
        asked[: len(rows)] = torch.tensor(places)
        ids[places] = torch.tensor(tokens)
        positions[places] = torch.tensor([row.past for row in rows])
        slots[places] = torch.tensor([row.row for row in rows])
        self._inputs.copy_(self._staging, non_blocking=True)

    def _pass(self, bucket: Bucket) -> None:
        decoder, num_rows = self._decoder, bucket.num_rows
        ids, positions, slots = self._inputs[:3, :num_rows]
        x = decoder.token_embedding[ids] + decoder.positional_embedding[positions]
        behind = torch.arange(bucket.num_positions, device=x.device) > positions[:, None]
        mask = torch.zeros_like(behind, dtype=x.dtype).masked_fill_(behind, -torch.inf)[:, None, None, :]
        for index, (block, layer) in enumerate(zip(decoder.blocks, self.cache.layers, strict=True)):
            x = x + block.out.rows(_recall(block, x, layer, (slots, positions), mask))
            heard, weights = _listen(block, x, layer, bucket)
            x = x + block.cross_out.rows(heard)
            x = x + block.mlp_out.rows(block.mlp_in.rows(block.mlp_ln(x)))
            for place, (of_layer, head) in enumerate(self._heads):
                if of_layer == index:
                    self._attention[:num_rows, place].copy_(weights[:, :, head].flatten(0, 1))
        self._logits[:num_rows].copy_(decoder.logits.rows(decoder.ln(x)))


def _recall(
    block: DecoderBlock, x: Tensor, layer: LayerCache, where: tuple[Tensor, Tensor], mask: Tensor
) -> Tensor:
    """Return what each row, (rows, width), remembers, after it remembered its new token.

    `where` are slots and positions; `mask` is (rows, 1, 1, positions).
    """
    slots, positions = where
    num_rows, num_positions = x.shape[0], mask.shape[-1]
    q, k, v = block.qkv.rows(block.attn_ln(x)).view(num_rows, 3, block.n_head, -1).unbind(1)
    layer.self_keys[slots, :, positions] = k
    layer.self_values[slots, :, positions] = v
    keys = layer.self_keys[:, :, :num_positions].index_select(0, slots)
    values = layer.self_values[:, :, :num_positions].index_select(0, slots)
    scores = torch.matmul(q[:, :, None], keys.transpose(2, 3)) + mask
    return torch.matmul(scores.softmax(-1), values).reshape(num_rows, -1)


def _listen(block: DecoderBlock, x: Tensor, layer: LayerCache, bucket: Bucket) -> tuple[Tensor, Tensor]:
    """Return what each row, (rows, width), hears, and where: (windows, beams, heads, frames)."""
    shape = (bucket.num_windows, bucket.num_beams, block.n_head, -1)
    q = block.cross_q.rows(block.cross_attn_ln(x)).view(shape).transpose(1, 2)
    assert isinstance(layer.cross, FloatCross), "bytes are for a CPU"
    keys = layer.cross.keys[: bucket.num_windows]
    values = layer.cross.values[: bucket.num_windows]
    weights = torch.matmul(q.to(keys.dtype), keys.transpose(2, 3)).softmax(-1)
    heard = torch.matmul(weights, values).transpose(1, 2).reshape(x.shape[0], -1)
    return heard.to(x.dtype), weights.transpose(1, 2)


class StaticNetwork:
    """Encoder and decoder of one network, recorded by one recorder."""

    def __init__(
        self, config: WhisperConfig, encoder: AudioEncoder, decoder: TextDecoder, recorder: Recorder
    ) -> None:
        """Raises OutOfMemory."""
        self._config = config
        self._decoder = decoder
        self._recorder = recorder
        self._recordings = [Recordings(recorder)]
        self._encoder = StaticEncoder(encoder, config, self._recordings[0])
        self._steps: StaticDecoder | None = None

    @property
    def trouble(self) -> str:
        """Why something is not recorded; empty while all is well."""
        return next((recordings.trouble for recordings in self._recordings if recordings.trouble), "")

    def serve(self, cache: KVCache) -> None:
        """Take the steps of this cache from now on, and record the smallest one. Raises OutOfMemory."""
        self._recordings[1:] = [Recordings(self._recorder)]
        self._steps = StaticDecoder(self._decoder, self._config, cache, self._recordings[1])
        self._steps.step(
            [NewTokens(cache.spare_row, window=0, past=0, count=1, num_frames=cache.shape.num_frames)], [0]
        )

    def encode(self, mel: Tensor) -> Tensor | None:
        """Return (batch, frames, width) of `mel`, (batch, mels, 2 × frames); None where it cannot."""
        return self._encoder.encode(mel)

    def step(
        self, cache: KVCache, rows: Sequence[NewTokens], tokens: Sequence[int]
    ) -> tuple[Tensor, Tensor] | None:
        """Return logits and attention of one token a row; None where it cannot."""
        if self._steps is None or self._steps.cache is not cache:
            return None
        return self._steps.step(rows, tokens)
