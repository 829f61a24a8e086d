"""How far the network is from what this processor could do at best: operations and bytes against its peaks.

The peaks are measured in the same run: the largest matrix product in the encoder's numbers, and reading
memory that fits no cache. The floor takes both as reached, all the time and by every part.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.adapters.base import Admission, RuntimeOptions
from engine.adapters.whisper.adapter import WhisperAdapter, load_adapter
from engine.adapters.whisper.model import Whisper
from engine.manager.cutter import Cutter, Cutting, Piece
from engine.manager.media import open_media
from engine.messages import Chunk, ChunkKind, DecodingOptions, RequestKey

WINDOW_S = 30.0
NEWCOMERS = 4
PRODUCT_SIZE = 2048
READ_BYTES = 1 << 28
ROUNDS = 5


@dataclass
class Work:
    """What the decoding of some files took."""

    windows: int = 0
    steps: int = 0
    row_steps: int = 0
    encode_s: float = 0.0
    """Encoding, and the prompts' passes; `step_s` all the others."""
    step_s: float = 0.0


def measure_floor(folder: Path, files: Sequence[tuple[Path, str]], cache_folder: str) -> dict[str, Any]:
    """Decode `files`, each with its language, in this process alone, and return it beside the floor."""
    adapter = load_adapter(folder, RuntimeOptions(cache_folder=cache_folder))
    network = adapter._network
    chunks = [chunk for path, language in files for chunk in _chunks(path, language)]
    decode(adapter, chunks[:NEWCOMERS])
    work = decode(adapter, chunks)
    operations_per_s, bytes_per_s = measure_peaks(network.runtime.formats.encoder)
    encode_s = work.windows * encoder_operations(network) / operations_per_s
    step_s = (work.steps * step_bytes(network) + work.row_steps * row_bytes(network)) / bytes_per_s
    return {
        "floor_s": encode_s + step_s,
        "network_s": work.encode_s + work.step_s,
        "encode_s": work.encode_s,
        "floor_encode_s": encode_s,
        "step_s": work.step_s,
        "floor_step_s": step_s,
        "peak_gflops": operations_per_s / 1e9,
        "peak_gb_per_s": bytes_per_s / 1e9,
        "windows": work.windows,
        "steps": work.steps,
        "row_steps": work.row_steps,
    }


def decode(adapter: WhisperAdapter, chunks: Sequence[Chunk]) -> Work:
    """Let the adapter decode `chunks`, its slots as full as they can be."""
    work, waiting, running = Work(windows=len(chunks)), deque(chunks), []
    while waiting or running:
        room = min(NEWCOMERS, adapter.slots - len(running), len(waiting))
        begun_s = time.perf_counter()
        if room:
            running += adapter.admit([Admission(waiting.popleft()) for _ in range(room)])
        admitted_s = time.perf_counter()
        stepping = [item for item in running if item.outcome is None]
        if stepping:
            adapter.step(stepping)
            work.steps += 1
            work.row_steps += len(stepping)
        work.encode_s += admitted_s - begun_s
        work.step_s += time.perf_counter() - admitted_s
        adapter.release([item for item in running if item.outcome is not None])
        running = [item for item in running if item.outcome is None]
    return work


def measure_peaks(dtype: torch.dtype) -> tuple[float, float]:
    """Return operations and bytes a second, each the best of some tries with all threads."""
    kind = dtype if dtype.is_floating_point else torch.float32
    left, right = (
        torch.ones(PRODUCT_SIZE, PRODUCT_SIZE, dtype=kind),
        torch.ones(PRODUCT_SIZE, PRODUCT_SIZE, dtype=kind),
    )
    much = torch.ones(READ_BYTES // 4)
    operations = 2 * PRODUCT_SIZE**3
    return operations / _best_s(lambda: left @ right), READ_BYTES / _best_s(much.sum)


def _best_s(call: Callable[[], object]) -> float:
    call()
    times = []
    for _ in range(ROUNDS):
        begun_s = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun_s)
    return min(times)


def encoder_operations(network: Whisper) -> float:
    """Return the operations of one window: convolutions, blocks, and what the decoder hears it by."""
    dims = network.config.dims
    frames, width = dims.n_audio_ctx, dims.n_audio_state
    convs = 2 * 3 * width * frames * (2 * dims.n_mels + width)
    projections = 2 * frames * width * width * 12
    attention = 4 * frames * frames * width
    heard = 2 * frames * width * dims.n_text_state * 2 * dims.n_text_layer
    return convs + dims.n_audio_layer * (projections + attention) + heard


def step_bytes(network: Whisper) -> float:
    """Return the bytes of all decoder weights, which each step reads once."""
    dims, formats = network.config.dims, network.runtime.formats
    square = dims.n_text_state**2
    other = 1 if formats.is_quantised else formats.text.itemsize
    layer = 4 * square * formats.remembered.itemsize + 10 * square * other
    return dims.n_text_layer * layer + dims.n_vocab * dims.n_text_state * other


def row_bytes(network: Whisper) -> float:
    """Return the bytes of audio that a row reads in each step; its own text is little beside them."""
    shape = network.slot_shape
    return shape.num_layers * shape.window.num_bytes(network.runtime.formats.cross)


def _chunks(path: Path, language: str) -> list[Chunk]:
    media = open_media(str(path))
    try:
        pieces = [
            piece
            for piece in Cutter(media, Cutting(max_chunk_s=WINDOW_S)).pieces()
            if isinstance(piece, Piece)
        ]
    finally:
        media.close()
    options = DecodingOptions(language=language, temperatures=(0.0,))
    return [
        Chunk(
            key=RequestKey(path.name, index),
            kind=ChunkKind.FILE,
            start_sample=piece.range.start,
            pcm=piece.samples.astype("<f4").tobytes(),
            options=options,
        )
        for index, piece in enumerate(pieces)
    ]
