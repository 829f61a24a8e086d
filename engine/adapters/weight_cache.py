"""Weights in the form a processor wants them, made once for each model and mapped at every later start.

A cache can only save time: one that is damaged, foreign or cannot be written is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

log = logging.getLogger(__name__)

VERSION: Final = "2"
"""Of how weights are quantised and laid out: another one makes all caches anew."""
_FOLDER: Final = "weights"
_SAMPLE_BYTES: Final = 1 << 16
_NUM_SAMPLES: Final = 64
"""Pieces of a weight file that are read to know it again; all of a large one would take seconds."""


class WeightCache:
    """The tensors of one model in one form. `path` None keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        """Map the file if it is there and whole."""
        self._path = path
        self._made: dict[str, Tensor] = {}
        self._is_complete = True
        self._file: Any = None
        self._checksums: dict[str, str] = {}
        if path:
            self._file, self._checksums = _open(path)

    def take(self, name: str, make: Callable[[], Tensor]) -> Tensor:
        """Return the tensor of that name, made only where the cache lacks it."""
        tensor = self._read(name)
        if tensor is None:
            tensor = make()
            self._is_complete = False
        if self._path:
            self._made[name] = tensor
        return tensor

    def look_up(self, name: str, make: Callable[[], Tensor]) -> Tensor:
        """As `take`, for a table of which a few rows are read now and then: only those take memory."""
        tensor = self._read(name)
        if tensor is None or self._path is None:
            return self.take(name, make)
        self._made[name] = tensor
        # Checking it has read all pages of the first mapping; of another none.
        again, _ = _open(self._path)
        table: Tensor = tensor if again is None else again.get_tensor(name)
        return table

    def save(self) -> None:
        """Write what was taken, if it was not all in the file, and drop this model's older files.

        A full disk or a folder that may not be written costs nothing but time at the next start.
        """
        if self._path and not self._is_complete:
            try:
                _write(self._path, self._made)
            except (OSError, SafetensorError) as error:
                log.info("the weight cache was not written: %s", error)
        self._made = {}

    def _read(self, name: str) -> Tensor | None:
        if name not in self._checksums:
            return None
        try:
            tensor: Tensor = self._file.get_tensor(name)
        except (SafetensorError, OSError):
            return None
        if _checksum(tensor) != self._checksums[name]:
            log.info("the weight cache is damaged and made anew")
            return None
        return tensor


def cache_path(cache_folder: str | None, model_folder: Path, form: str) -> Path | None:
    """Return the file for the weights of `model_folder` in `form`; None without a cache folder."""
    if not cache_folder:
        return None
    return (
        Path(cache_folder) / _FOLDER / f"{model_folder.name}-{_fingerprint(model_folder, form)}.safetensors"
    )


def _fingerprint(model_folder: Path, form: str) -> str:
    """Return a name for the weights, from their files' sizes, times and samples of their content."""
    digest = hashlib.blake2b(f"{VERSION} {form}".encode(), digest_size=16)
    for path in sorted([*model_folder.glob("*.bin"), *model_folder.glob("*.safetensors*")]):
        status = path.stat()
        digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns}".encode())
        for sample in _samples(path, status.st_size):
            digest.update(sample)
    return digest.hexdigest()


def _samples(path: Path, num_bytes: int) -> Iterator[bytes]:
    last = max(0, num_bytes - _SAMPLE_BYTES)
    with path.open("rb") as file:
        for index in range(_NUM_SAMPLES):
            file.seek(last * index // (_NUM_SAMPLES - 1))
            yield file.read(_SAMPLE_BYTES)


def _open(path: Path) -> tuple[Any, dict[str, str]]:
    """Return the mapped file and its checksums; nothing where it cannot be read."""
    try:
        file: Any = safe_open(path, framework="pt")
        checksums = file.metadata() or {}
        return file, {name: checksums[name] for name in file.keys() if name in checksums}  # noqa: SIM118
    except (OSError, SafetensorError):
        return None, {}


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    checksums = {name: _checksum(tensor) for name, tensor in tensors.items()}
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    os.close(descriptor)
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, checksums)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    model = path.name.rsplit("-", 1)[0]
    for older in path.parent.glob(f"{model}-*.safetensors"):
        if older != path and older.name.rsplit("-", 1)[0] == model:
            # Another process may have it mapped, which some systems do not allow to be removed.
            with contextlib.suppress(OSError):
                older.unlink()


def _checksum(tensor: Tensor) -> str:
    content: Any = tensor.contiguous().reshape(-1).view(torch.uint8).numpy()
    return str(zlib.crc32(content))
