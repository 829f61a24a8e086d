"""The programs that ours is measured beside: what each is asked for, and its own process to ask in."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from peer_weights import Weights, prepare_weights
from speech_set import Clip

PEER_PYTHON: Final = Path(__file__).parents[2] / ".venv" / "peers" / "bin" / "python"


@dataclass(frozen=True)
class PeerKind:
    """One configuration of another program. `script` speaks of jobs and answers, a line of JSON each."""

    script: str
    weights: Weights
    settings: dict[str, Any] = field(default_factory=dict)
    is_slow: bool = False
    """So much so that it gets the shortest file alone, and once."""


def _faster_whisper(**settings: int) -> PeerKind:
    settings_ = {"compute_type": "int8", "word_timestamps": False, **settings}
    return PeerKind("peer_faster_whisper.py", Weights.CTRANSLATE2, settings_)


PEERS: Final = {
    "fw batched": _faster_whisper(beam_size=1, batch_size=8),
    "fw greedy": _faster_whisper(beam_size=1),
    "fw beam 5": _faster_whisper(beam_size=5),
    "openai": PeerKind("peer_others.py", Weights.OPENAI, {"engine": "openai"}, is_slow=True),
    "transformers": PeerKind(
        "peer_others.py", Weights.TRANSFORMERS, {"engine": "transformers"}, is_slow=True
    ),
    "whisper.cpp": PeerKind("peer_others.py", Weights.GGML, {"engine": "whisper.cpp"}, is_slow=True),
}
EQUAL: Final = {"fast": ("fw batched", "fw greedy"), "best": ("fw beam 5",)}
"""The fastest that follow as many texts at once as ours does in that mode."""
QUICK_PEERS: Final = {"fast": ("fw batched",), "best": ("fw beam 5",)}


class Peer:
    """A peer in its own environment and process; transcribes when asked to."""

    def __init__(self, kind: PeerKind, model_folder: Path) -> None:
        """Raises RuntimeError where its weights cannot be made of ours."""
        weights = prepare_weights(kind.weights, model_folder)
        self._job = {"model": str(weights), "threads": os.cpu_count(), **kind.settings}
        self._process = subprocess.Popen(
            [str(PEER_PYTHON), str(Path(__file__).with_name(kind.script))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def load(self) -> None:
        """Wait until it is ready; only for those of `peer_others.py`. Raises RuntimeError."""
        self._ask([])

    def transcribe(self, clip: Clip) -> str:
        """Return what it hears. Raises RuntimeError where it has died."""
        told = self._ask([[str(clip.path), clip.language]])
        return "".join(segment["text"] for segment in told["segments"])

    def _ask(self, files: list[list[str]]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        job = {**self._job, "files": files}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the peer has died")
        told: dict[str, Any] = json.loads(line)
        return told

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)
