"""A Qwen3-ASR adapter driven as the scheduler does it, and chunks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.adapters.base import Admission, Decode, Retry, RuntimeOptions
from engine.adapters.qwen3_asr.adapter import MEMORY, Qwen3Adapter
from engine.adapters.qwen3_asr.config import Kind
from engine.adapters.qwen3_asr.listening import MemoryLimits
from engine.adapters.qwen3_asr.load import load_network
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.qwen3_asr.text import Qwen3Text
from engine.adapters.qwen3_asr.vocabulary import Vocabulary, read_vocabulary
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey
from tests.helpers.tiny_qwen3 import Samples

NO_MEMORY = MemoryLimits(encoded_bytes=0, read_bytes=0)


@dataclass(frozen=True)
class Engine:
    """An adapter with its text."""

    network: Qwen3Asr
    adapter: Qwen3Adapter
    vocabulary: Vocabulary
    text: Qwen3Text

    def answer(self, *chunks: Chunk) -> list[Decode]:
        """Decode chunks together, each attempt after attempt."""
        decodes = self._run([Admission(chunk) for chunk in chunks])
        for index, decode in enumerate(decodes):
            attempt = 0
            while isinstance(decodes[index].outcome, Retry):
                attempt += 1
                assert attempt <= max(1, len(decode.chunk.options.temperatures)), "retried for ever"
                decodes[index] = self._run([Admission(decode.chunk, attempt)])[0]
        return decodes

    def hear(self, pcm: Samples, **options: object) -> str:
        """Return what is said of some audio."""
        return self.words(self.answer(chunk_of(pcm, **options))[0])

    def words(self, decode: Decode) -> str:
        return self.text.decode([decode.ids], skip_special=True)[0]

    def _run(self, admissions: Sequence[Admission]) -> list[Decode]:
        decodes = self.adapter.admit(admissions)
        while running := [decode for decode in decodes if decode.outcome is None]:
            self.adapter.step(running)
        self.adapter.release(decodes)
        return decodes


def load_engine(
    folder: Path,
    *,
    slots: int = 13,
    dtype: str = "float32",
    device: str = "cpu",
    memory: MemoryLimits = MEMORY["cpu"],
) -> Engine:
    """Load a checkpoint exactly, on one thread of the processor."""
    runtime = RuntimeOptions(device=device, dtype=dtype, num_threads=1)
    network = load_network(folder, runtime, Kind.RECOGNISER)
    vocabulary = read_vocabulary(folder, network.config)
    adapter = Qwen3Adapter(network, vocabulary, folder.name, slots, memory)
    return Engine(network, adapter, vocabulary, Qwen3Text(vocabulary))


def with_memory(engine: Engine, memory: MemoryLimits) -> Engine:
    """Return the same network with another memory of what it heard."""
    adapter = Qwen3Adapter(engine.network, engine.vocabulary, "tiny", engine.adapter.slots, memory)
    return Engine(engine.network, adapter, engine.vocabulary, engine.text)


def chunk_of(
    pcm: Samples,
    *,
    kind: ChunkKind = ChunkKind.FILE,
    index: int = 0,
    prefix: Sequence[int] = (),
    draft: Sequence[int] = (),
    **options: object,
) -> Chunk:
    return Chunk(
        key=RequestKey("job", index),
        kind=kind,
        start_sample=0,
        pcm=pcm.astype("<f4").tobytes(),
        options=DecodingOptions(**options),  # type: ignore[arg-type]
        prefix_ids=tuple(prefix),
        draft_ids=tuple(draft),
    )


def finished(decode: Decode) -> Finished:
    assert isinstance(decode.outcome, Finished)
    return decode.outcome
