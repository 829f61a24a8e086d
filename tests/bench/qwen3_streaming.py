"""Qwen3-ASR live: what a stream costs, hearing what is new beside hearing everything again for each chunk.

    OMP_WAIT_POLICY=PASSIVE .venv/bin/python tests/bench/qwen3_streaming.py [--quick]

Somebody speaks three tokens a second, with a short silence every few seconds. A live session with our
policy hears it by the real code (tiny network: the counts do not depend on its size). The naive stream is
the published recipe: every two seconds all audio is encoded and read anew, with all text but the last
five tokens as a prefix. Operations are counted for streams of 30 to 300 seconds; a stream of 20 seconds
is also timed at the size of Qwen3-ASR-0.6B, with random weights. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from engine.adapters.base import PrefixRollback
from engine.adapters.qwen3_asr import MAX_CHUNK_S
from engine.adapters.qwen3_asr.adapter import MEMORY
from engine.adapters.qwen3_asr.config import CHUNK_FRAMES
from engine.adapters.qwen3_asr.listening import Listener, MemoryLimits
from engine.adapters.qwen3_asr.model import Qwen3Asr, num_audio_tokens
from engine.manager.confirm import Piece, Update
from engine.manager.live import Answer, LiveSession, Plan
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import SAMPLE_RATE_HZ, FinishReason
from tests.helpers.random_qwen3 import published_config, random_network, small_config

STREAMS_S = (30, 60, 120, 300)
CHUNK_S = 2.0
TOKENS_A_SECOND = 3
SPEAK_S, DIP_S = 5.0, 0.4
NUM_HEAD, NUM_TAIL = 11, 10
"""Tokens of the prompt around the audio, without a context, in a forced language."""
UNFIXED_TOKENS = 5
TIMED_S = 20
NOTHING = MemoryLimits(encoded_bytes=0, read_bytes=0)


@dataclass
class Cost:
    """What one chunk took."""

    end_s: float
    mel_s: float
    num_read: int
    num_steps: int
    seconds: float = 0.0
    processor_s: float = 0.0
    """Of all threads: what else runs on the machine does not change it much."""

    @property
    def gflop(self) -> float:
        """Operations at the size of the 0.6B model; attention, a few percent, left out."""
        return ENCODE_GFLOP * self.mel_s + READ_GFLOP * self.num_read + STEP_GFLOP * self.num_steps


def _gflops() -> tuple[float, float, float]:
    """Return what a second of mel, a token read, and a token said cost."""
    config = published_config()
    audio, text = config.audio, config.text
    conv = 9 * audio.num_channels * (64 * 50 + audio.num_channels * (32 * 25 + 16 * 13))
    block = audio.num_layers * audio.width * (4 * audio.width + 2 * audio.num_hidden)
    encode = conv + 13 * (16 * audio.num_channels * audio.width + block + 2 * audio.width * audio.num_out)
    heads = (2 * text.num_heads + 2 * text.num_kv_heads) * text.head_dim
    read = text.num_layers * text.width * (heads + 3 * text.num_hidden)
    return 2e-9 * encode, 2e-9 * read, 2e-9 * (read + text.num_vocab * text.width)


ENCODE_GFLOP, READ_GFLOP, STEP_GFLOP = _gflops()


@dataclass
class Stream:
    """Somebody who speaks, a live session, and a network that hears what the session plans."""

    network: Qwen3Asr
    memory: MemoryLimits
    is_timed: bool = False
    costs: list[Cost] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cache = self.network.new_cache(1)
        self.listener = Listener(self.network, self.cache, self.memory)
        self.num_confirmed = 0

    def play(self, seconds: int) -> None:
        """Hear a stream of so many seconds, to its end."""
        self.pcm = _sound(seconds)
        session = LiveSession(
            first_sample=0,
            max_window=round((MAX_CHUNK_S - 1) * SAMPLE_RATE_HZ),
            confirmation=PrefixRollback(pace_s=CHUNK_S),
            language="en",
        )
        step = SAMPLE_RATE_HZ // 10
        for first in range(0, len(self.pcm), step):
            num_frames = (first + step) // FRAME_SAMPLES - first // FRAME_SAMPLES
            frames = Frames(np.full(num_frames, _speaks(first)), np.zeros(num_frames, np.float32))
            session.hearing.hear(frames, step)
            self._answer_all(session)
        session.flush()
        self._answer_all(session)
        assert session.is_settled and self.num_confirmed == len(_said(len(self.pcm)))

    def _answer_all(self, session: LiveSession) -> None:
        while (found := session.next()) is not None:
            if isinstance(found, Update):
                self._count(found)
                continue
            pieces = self._hear(found)
            answer = Answer(found.index, pieces, FinishReason.STOP, False, "en", 1.0)
            if (update := session.answer(answer)) is not None:
                self._count(update)

    def _count(self, update: Update) -> None:
        self.num_confirmed += len(update.confirmed)

    def _hear(self, plan: Plan) -> tuple[Piece, ...]:
        """Return what is said behind the prefix; what is drafted is right as far as it goes."""
        said = [piece for piece in _said(plan.end) if piece.start >= plan.start]
        pieces = tuple(said[len(plan.prefix) :])
        draft = tuple(piece.id for piece in plan.draft)
        new = [piece.id for piece in pieces[len(draft) :]]
        prefix = [piece.id for piece in plan.prefix]
        self.costs.append(self.decode(plan.start, plan.end, [*prefix, *draft], new))
        return pieces

    def decode(self, start: int, end: int, known: Sequence[int], new: Sequence[int]) -> Cost:
        """Let the network hear audio, read what is `known` of its text and say what is `new`."""
        work = self.listener.work
        mel, read = work.num_mel_frames, work.num_read
        begun_s, worked_s = time.perf_counter(), time.process_time()
        row = self.cache.allocate()
        rest = self.listener.listen(row, range(NUM_HEAD), self.pcm[start:end], is_growing=True)
        states = self.listener.read(row, rest, (*range(NUM_TAIL), *(id_ % 400 for id_ in known)))
        self.network.head(states[-1:])
        for id_ in new if self.is_timed else ():
            self.network.step(self.cache, [row], [id_ % 400])
        self.cache.free([row])
        seconds, processor_s = time.perf_counter() - begun_s, time.process_time() - worked_s
        mel_s = (work.num_mel_frames - mel) / CHUNK_FRAMES
        return Cost(end / SAMPLE_RATE_HZ, mel_s, work.num_read - read, len(new), seconds, processor_s)


def naive_costs(seconds: int) -> list[Cost]:
    """Return what the published recipe takes, by arithmetic."""
    return [_naive_cost(end) for end in _chunk_ends(seconds)]


def _naive_cost(end: int) -> Cost:
    num_frames = end // 160
    num_said = len(_said(end))
    num_prefix = _naive_prefix(end)
    num_read = NUM_HEAD + num_audio_tokens(num_frames) + NUM_TAIL + num_prefix
    return Cost(end / SAMPLE_RATE_HZ, num_frames / 100, num_read, num_said - num_prefix)


def _naive_prefix(end: int) -> int:
    before = end - round(CHUNK_S * SAMPLE_RATE_HZ)
    is_unfixed = end <= 2 * CHUNK_S * SAMPLE_RATE_HZ
    return 0 if is_unfixed else max(0, len(_said(before)) - UNFIXED_TOKENS)


def _chunk_ends(seconds: int) -> list[int]:
    step = round(CHUNK_S * SAMPLE_RATE_HZ)
    return list(range(step, seconds * SAMPLE_RATE_HZ + 1, step))


def _speaks(sample: int) -> bool:
    return (sample / SAMPLE_RATE_HZ) % (SPEAK_S + DIP_S) < SPEAK_S


def _said(end: int) -> list[Piece]:
    """Return the tokens that are said by then; half of the last one's sound is enough to hear it."""
    length = SAMPLE_RATE_HZ // TOKENS_A_SECOND
    starts = (first for first in range(0, end - length // 2, length) if _speaks(first))
    return [
        Piece(start // length, f" w{start // length}".encode(), start, start + length, start + length)
        for start in starts
    ]


def _sound(seconds: int) -> np.ndarray:
    """Return noise that is as loud as speech while somebody speaks, loudest at its beginning."""
    noise = np.random.default_rng(0).normal(size=seconds * SAMPLE_RATE_HZ).astype(np.float32)
    speaks = np.array([_speaks(first) for first in range(0, len(noise), 1600)])
    noise *= np.repeat(np.where(speaks, 0.1, 0.001), 1600)[: len(noise)]
    noise[:1600] *= 5.0
    return np.clip(noise, -1.0, 1.0).astype(np.float32)


def count(seconds: int) -> dict[str, float]:
    """Return totals of both for a stream, and how the cost of a chunk grows."""
    stream = Stream(random_network(small_config(width=64, num_layers=1)), MEMORY["cpu"])
    stream.play(seconds)
    ours, naive = stream.costs, naive_costs(seconds)
    report: dict[str, float] = {}
    for name, costs in (("cached", ours), ("naive", naive)):
        report[f"{name}_chunks"] = len(costs)
        report[f"{name}_mel_s"] = round(sum(cost.mel_s for cost in costs), 1)
        report[f"{name}_read"] = sum(cost.num_read for cost in costs)
        report[f"{name}_steps"] = sum(cost.num_steps for cost in costs)
        report[f"{name}_gflop"] = round(sum(cost.gflop for cost in costs))
        if seconds >= 180:
            report[f"{name}_growth"] = round(_growth(costs, seconds), 3)
    for name in ("mel_s", "read", "steps", "gflop"):
        report[f"{name}_ratio"] = round(report[f"naive_{name}"] / max(1, report[f"cached_{name}"]), 2)
    return report


def _growth(costs: Sequence[Cost], seconds: int) -> float:
    """Return how much more a second of audio costs in the last minute than in the second."""
    early = sum(cost.gflop for cost in costs if 60 < cost.end_s <= 120)
    late = sum(cost.gflop for cost in costs if seconds - 60 < cost.end_s <= seconds)
    return late / early


def check_arithmetic() -> None:
    """Count a naive stream by the real code once, so that the arithmetic can be believed."""
    stream = Stream(random_network(small_config(width=64, num_layers=1)), NOTHING)
    stream.pcm = _sound(30)
    for end in _chunk_ends(30)[::4]:
        said, num_prefix = [piece.id for piece in _said(end)], _naive_prefix(end)
        real, expected = stream.decode(0, end, said[:num_prefix], said[num_prefix:]), _naive_cost(end)
        assert (real.mel_s, real.num_read) == (expected.mel_s, expected.num_read), (real, expected)


def measure(dtype: str, num_threads: int) -> dict[str, object]:
    """Time a stream at the real size, and the naive decoding of its last chunks."""
    network = random_network(published_config(), dtype=dtype, num_threads=num_threads)
    stream = Stream(network, MEMORY["cpu"], is_timed=True)
    stream.play(TIMED_S)
    naive = Stream(network, NOTHING, is_timed=True)
    naive.pcm = stream.pcm
    rows = [
        {"end_s": one.end_s, "naive": _times(one), "cached": _times(_nearest(stream.costs, one.end_s))}
        for one in _naive_at(naive, (TIMED_S // 2, TIMED_S))
    ]
    per_s = {
        "seconds": round(sum(cost.seconds for cost in stream.costs) / TIMED_S, 3),
        "processor_s": round(sum(cost.processor_s for cost in stream.costs) / TIMED_S, 3),
    }
    return {"runtime": str(network.runtime), "cached_per_second_of_audio": per_s, "chunks": rows}


def _times(cost: Cost) -> dict[str, float]:
    return {
        "seconds": round(cost.seconds, 2),
        "processor_s": round(cost.processor_s, 2),
        "num_steps": cost.num_steps,
    }


def _nearest(costs: Sequence[Cost], end_s: float) -> Cost:
    """Return the dearest of the chunks around a moment: short ones come in between."""
    near = [cost for cost in costs if abs(cost.end_s - end_s) <= CHUNK_S]
    return max(near, key=lambda cost: cost.processor_s)


def _naive_at(stream: Stream, moments_s: Sequence[int]) -> Iterator[Cost]:
    for end in (second * SAMPLE_RATE_HZ for second in moments_s):
        said, num_prefix = [piece.id for piece in _said(end)], _naive_prefix(end)
        yield stream.decode(0, end, said[:num_prefix], said[num_prefix:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="count only, no times")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    check_arithmetic()
    counts = {seconds: count(seconds) for seconds in STREAMS_S}
    for seconds, report in counts.items():
        print(f"{seconds} s: {json.dumps(report)}", file=sys.stderr)
    result: dict[str, object] = {
        f"{short}_ratio_{seconds}s": counts[seconds][f"{name}_ratio"]
        for seconds in (60, 120)
        for short, name in (("encode", "mel_s"), ("prefill", "read"))
    }
    result["per_chunk_growth"] = counts[300]["cached_growth"]
    result["naive_per_chunk_growth"] = counts[300]["naive_growth"]
    if not arguments.quick:
        result["timed"] = measure(arguments.dtype, arguments.threads)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
