"""Each process holds only what it needs: heavy libraries stay out of those that do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QT = ("PySide6", "shiboken6")
TORCH = ("torch", "transformers", "torchaudio", "silero_vad")


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        (
            "engine.client.client",
            (*TORCH, *QT, "numpy", "av", "onnxruntime", "tokenizers", "huggingface_hub"),
        ),
        ("engine.protocol.events", (*TORCH, *QT, "numpy", "zmq")),
        ("engine.__main__", (*TORCH, *QT, "numpy", "av", "onnxruntime")),
        ("engine.workers", (*TORCH, *QT, "numpy", "av", "onnxruntime")),
        ("engine.manager.manager", (*TORCH, *QT)),
        ("engine.detokenizer.manager", (*TORCH, *QT, "av", "onnxruntime")),
        ("engine.scheduler.scheduler", (*TORCH, *QT, "av", "onnxruntime")),
        ("engine.adapters", (*TORCH, *QT)),
        ("engine.adapters.base", (*TORCH, *QT)),
        ("engine.adapters.whisper", (*TORCH, *QT)),
        ("engine.adapters.qwen3_asr", (*TORCH, *QT)),
        ("engine.server.run", (*TORCH, *QT, "onnxruntime", "tokenizers")),
        ("app.cli.run", (*TORCH, *QT, "starlette", "uvicorn", "python_multipart", "websockets")),
        ("app.wiring", (*TORCH, "starlette", "uvicorn", "python_multipart", "websockets")),
    ],
)
def test_a_module_brings_nothing_heavy(module: str, unwanted: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*sorted(set(sys.modules) & {set(unwanted)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60.0
    )
    assert done.stdout.split() == []
