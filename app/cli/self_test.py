"""`jamak doctor --self-test`: whether this very program writes down the sentence that ships with it."""

from __future__ import annotations

import re
import tempfile
import time
from difflib import SequenceMatcher
from typing import Final

import msgspec

from app.cli.console import Console
from app.cli.session import Session
from app.paths import resource
from app.ports import ClientMaker
from engine.config import EngineConfig
from engine.protocol.events import Confirmed, Event, JobDone, JobFailed
from engine.protocol.transcript import Options

ENOUGH: Final = 0.8
"""Of the sample's words in their order; the smallest models here hear all of them or all but one."""


def run_self_test(config: EngineConfig, make_client: ClientMaker, console: Console) -> int:
    """Transcribe the sample with the default model, and say how it went: 0 or 1.

    By an engine of our own, even where a window's engine runs: it is this program that is tested.
    """
    with tempfile.TemporaryDirectory(prefix="jamak-", ignore_cleanup_errors=True) as folder:
        apart = msgspec.structs.replace(config, runtime_folder=folder)
        return _test(Session(apart, make_client), console)


def shared_words(expected: str, heard: str) -> float:
    """Return which share of the words of `expected` is in `heard` in the same order, 0 to 1."""
    wanted, got = _words(expected), _words(heard)
    matches = SequenceMatcher(None, wanted, got, autojunk=False).get_matching_blocks()
    return sum(block.size for block in matches) / max(1, len(wanted))


def _test(session: Session, console: Console) -> int:
    began_s = time.monotonic()
    heard: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Confirmed):
            heard.append(event.delta)

    with session:
        job = session.client.transcribe(str(resource("sample.flac")), Options())
        ending = session.finish(job, listen)
    if isinstance(ending, JobFailed):
        console.result(f"self-test: failed: {ending.failure.message}\n{ending.failure.detail}\n")
        return 1
    text = "".join(heard).strip()
    share = shared_words(resource("sample.txt").read_text(encoding="utf-8"), text)
    is_right = isinstance(ending, JobDone) and share >= ENOUGH
    console.result(f"heard: {text}\n")
    console.result(
        f"self-test: {'passed' if is_right else 'failed'}, {share:.0%} of the sample's words "
        f"in {time.monotonic() - began_s:.1f} s\n"
    )
    return 0 if is_right else 1


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
