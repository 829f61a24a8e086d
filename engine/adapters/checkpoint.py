"""Reads a model folder of either kind, Hugging Face or CTranslate2, without running anything in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from engine.adapters.ctranslate2 import BadModelFile, head_count, read_variables, whisper_tensors
from engine.adapters.small_files import MAX_CONFIG_BYTES, read_object
from engine.adapters.tensors import Tensors, WeightSource
from engine.protocol.failures import FailureError, FailureKind, failure


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An open model folder."""

    folder: Path
    config: Mapping[str, Any]
    """`config.json`; for CTranslate2 with the head counts under their Hugging Face names added."""
    generation: Mapping[str, Any]
    """`generation_config.json`, empty where there is none."""
    tensors: Tensors

    def broken(self, detail: str) -> FailureError:
        """Return the error for a folder whose parts do not fit together."""
        return broken_model(self.folder, detail)


def broken_model(folder: Path, detail: str) -> FailureError:
    """Return the error for a model that is there and cannot be read."""
    return FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, f"{folder}: {detail}"))


class _Incomplete(Exception):
    """A file that the others need is not there."""


def open_checkpoint(folder: Path) -> Checkpoint:
    """Open `folder`: safetensors (one file or shards with an index) or CTranslate2's `model.bin`.

    Nothing is unpickled, and no size in a file is believed before it is checked against the file's own.
    Raises FailureError: model_missing where there is no model, model_incomplete where a file of it is
    missing, model_broken with the reason in `detail`.
    """
    if not (folder / "config.json").is_file():
        raise FailureError(failure(FailureKind.MODEL_MISSING, folder.name, str(folder)))
    try:
        config = read_object(folder / "config.json", MAX_CONFIG_BYTES)
        generation_path = folder / "generation_config.json"
        generation = read_object(generation_path, MAX_CONFIG_BYTES) if generation_path.is_file() else {}
        if (folder / "model.bin").is_file():
            variables = read_variables(folder / "model.bin")
            heads = {
                f"{part}_attention_heads": head_count(variables, part) for part in ("encoder", "decoder")
            }
            return Checkpoint(folder, {**config, **heads}, generation, whisper_tensors(variables))
        return Checkpoint(folder, config, generation, Tensors(_safetensors(folder)))
    except _Incomplete as error:
        reason = failure(FailureKind.MODEL_INCOMPLETE, folder.name, f"{folder}: {error}")
        raise FailureError(reason) from error
    except (OSError, ValueError, BadModelFile, SafetensorError) as error:
        raise broken_model(folder, str(error)) from error


def _safetensors(folder: Path) -> dict[str, WeightSource]:
    """Return the weights of all shards. The library checks that a header fits its file exactly."""
    sources: dict[str, WeightSource] = {}
    for path in _shards(folder):
        shard: Any = safe_open(path, framework="pt")
        for name in shard.keys():  # noqa: SIM118 - the handle is no mapping
            shape = tuple(shard.get_slice(name).get_shape())
            sources[name] = WeightSource(shape, partial(_read_weight, shard, name))
    return sources


def _read_weight(shard: Any, name: str) -> Tensor:
    tensor: Tensor = shard.get_tensor(name)
    return tensor


def _shards(folder: Path) -> list[Path]:
    index_path = folder / "model.safetensors.index.json"
    if not index_path.is_file():
        path = folder / "model.safetensors"
        if not path.is_file():
            raise _Incomplete("no model.safetensors and no model.bin; pickled weights are never opened")
        return [path]
    weight_map = read_object(index_path, MAX_CONFIG_BYTES).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ValueError(f"{index_path.name} names no shards")
    names = sorted({str(name) for name in weight_map.values()})
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise ValueError(f"{index_path.name} points to {name!r}")
        if not (folder / name).is_file():
            raise _Incomplete(f"{name} is missing")
    return [folder / name for name in names]
