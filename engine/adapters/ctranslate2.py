"""Reads CTranslate2's `model.bin` (binary version 6) and gives its Whisper weights their Hugging Face names.

The layout is CTranslate2's `python/ctranslate2/specs/model_spec.py`; everything is little-endian.
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from engine.adapters.tensors import Tensors, WeightSource

BINARY_VERSION: Final = 6
DTYPES: Final = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
"""By the number that stands in the file."""

_MAX_RANK: Final = 4
_MAX_NAME_BYTES: Final = 1024
_MIN_VARIABLE_BYTES: Final = 8


class BadModelFile(Exception):
    """The file is not what it should be; the text says where."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A named array within the file."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    data: memoryview

    def read(self) -> Tensor:
        """Return a copy: offsets in the file are not aligned, and the map should not be kept alive."""
        raw = torch.frombuffer(self.data, dtype=torch.uint8).clone()
        return raw.view(self.dtype).reshape(self.shape)


class _Cursor:
    """Takes values from the file one after another and never trusts a length beyond its end."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.offset = 0

    def take(self, num_bytes: int) -> memoryview:
        if num_bytes > len(self.data) - self.offset:
            raise BadModelFile(f"{num_bytes} bytes wanted at {self.offset}, the file has {len(self.data)}")
        piece = self.data[self.offset : self.offset + num_bytes]
        self.offset += num_bytes
        return piece

    def number(self, code: str) -> int:
        (value,) = struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))
        return int(value)

    def text(self) -> str:
        length = self.number("H")
        if not 1 <= length <= _MAX_NAME_BYTES:
            raise BadModelFile(f"a name of {length} bytes at {self.offset}")
        return bytes(self.take(length)[:-1]).decode("utf-8", "replace")

    def count(self, least_bytes: int) -> int:
        """Take a number of things that are at least `least_bytes` long each."""
        number = self.number("I")
        if number * least_bytes > len(self.data) - self.offset:
            raise BadModelFile(f"{number} entries declared at {self.offset} do not fit the file")
        return number

    def variable(self) -> Variable:
        rank = self.number("B")
        if rank > _MAX_RANK:
            raise BadModelFile(f"an array of {rank} dimensions at {self.offset}")
        shape = tuple(self.number("I") for _ in range(rank))
        dtype_number = self.number("B")
        if dtype_number >= len(DTYPES):
            raise BadModelFile(f"number format {dtype_number} at {self.offset}")
        dtype = DTYPES[dtype_number]
        num_bytes = self.number("I")
        if num_bytes != prod(shape) * dtype.itemsize or num_bytes == 0:
            raise BadModelFile(f"{num_bytes} bytes declared for {shape} of {dtype} at {self.offset}")
        return Variable(shape, dtype, self.take(num_bytes))


def read_variables(path: Path) -> dict[str, Variable]:
    """Return all variables of a WhisperSpec `model.bin`, aliases included, as views of the mapped file.

    Raises BadModelFile, OSError.
    """
    with path.open("rb") as file:
        try:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        except ValueError as error:
            raise BadModelFile("the file is empty") from error
    cursor = _Cursor(data)
    if (version := cursor.number("I")) != BINARY_VERSION:
        raise BadModelFile(f"binary version {version}, only {BINARY_VERSION} can be read")
    if (specification := cursor.text()) != "WhisperSpec":
        raise BadModelFile(f"a {specification!r}, not a Whisper model")
    cursor.number("I")  # the revision of the specification: 3 since 2023, and nothing we read changed in it
    variables: dict[str, Variable] = {}
    for _ in range(cursor.count(_MIN_VARIABLE_BYTES)):
        name = cursor.text()
        variables[name] = cursor.variable()
    for _ in range(cursor.count(2)):
        alias, name = cursor.text(), cursor.text()
        if name not in variables:
            raise BadModelFile(f"{alias!r} stands for {name!r}, which is not there")
        variables[alias] = variables[name]
    if cursor.offset != len(data):
        raise BadModelFile(f"{len(data) - cursor.offset} bytes too many at the end")
    return variables


def head_count(variables: dict[str, Variable], part: str) -> int:
    """Return the number of attention heads of `part` ("encoder" or "decoder"). Raises BadModelFile."""
    variable = variables.get(f"{part}/num_heads")
    if variable is None or variable.shape:
        raise BadModelFile(f"{part}/num_heads is missing")
    return int(variable.read())


_LAYER_PARTS: Final = {
    "self_attention/linear_0": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention/linear_1": ("self_attn.out_proj",),
    "self_attention/layer_norm": ("self_attn_layer_norm",),
    "attention/linear_0": ("encoder_attn.q_proj",),
    "attention/linear_1": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "attention/linear_2": ("encoder_attn.out_proj",),
    "attention/layer_norm": ("encoder_attn_layer_norm",),
    "ffn/linear_0": ("fc1",),
    "ffn/linear_1": ("fc2",),
    "ffn/layer_norm": ("final_layer_norm",),
}
_TOP_PARTS: Final = {
    "encoder/conv1": "model.encoder.conv1",
    "encoder/conv2": "model.encoder.conv2",
    "encoder/layer_norm": "model.encoder.layer_norm",
    "encoder/position_encodings": "model.encoder.embed_positions",
    "decoder/embeddings": "model.decoder.embed_tokens",
    "decoder/layer_norm": "model.decoder.layer_norm",
    "decoder/position_encodings": "model.decoder.embed_positions",
    "decoder/projection": "proj_out",
}
_LEAVES: Final = {
    "weight": "weight",
    "bias": "bias",
    "gamma": "weight",
    "beta": "bias",
    "encodings": "weight",
}
_LAYER_NAME: Final = re.compile(r"(encoder|decoder)/layer_(\d+)/(.+)")


def hugging_face_names(name: str) -> tuple[str, ...]:
    """Return the names of the equal parts that the variable `name` stacks; empty for what is no weight."""
    stem, _, leaf = name.rpartition("/")
    if leaf not in _LEAVES:
        return ()
    if stem in _TOP_PARTS:
        return (f"{_TOP_PARTS[stem]}.{_LEAVES[leaf]}",)
    match = _LAYER_NAME.fullmatch(stem)
    if match is None or match[3] not in _LAYER_PARTS:
        return ()
    prefix = f"model.{match[1]}.layers.{match[2]}"
    return tuple(f"{prefix}.{part}.{_LEAVES[leaf]}" for part in _LAYER_PARTS[match[3]])


def whisper_tensors(variables: dict[str, Variable]) -> Tensors:
    """Return the weights under their Hugging Face names, fused ones unstacked. Raises BadModelFile."""
    sources: dict[str, WeightSource] = {}
    for name, variable in variables.items():
        parts = hugging_face_names(name)
        if not parts:
            continue
        scale = _scale(variables, name)
        if not variable.shape or variable.shape[0] % len(parts):
            raise BadModelFile(f"{name} of shape {variable.shape} cannot hold {len(parts)} parts")
        shape = (variable.shape[0] // len(parts), *variable.shape[1:])
        for index, part in enumerate(parts):
            # Whisper's keys have no bias; the stacked form carries zeros in its place.
            if not part.endswith("k_proj.bias"):
                sources[part] = WeightSource(shape, partial(_read_part, variable, scale, index, shape[0]))
    return Tensors(sources)


def _scale(variables: dict[str, Variable], name: str) -> Variable | None:
    """Return what the integers of a quantised weight are to be divided by: one number, or one a row."""
    variable, scale = variables[name], variables.get(f"{name}_scale")
    if variable.dtype.is_floating_point:
        return None
    if scale is None or not scale.dtype.is_floating_point or scale.shape not in ((), variable.shape[:1]):
        raise BadModelFile(f"{name} holds {variable.dtype} without a scale that fits")
    return scale


def _read_part(variable: Variable, scale: Variable | None, index: int, num_rows: int) -> Tensor:
    rows = slice(index * num_rows, (index + 1) * num_rows)
    num_bytes = len(variable.data) // variable.shape[0]
    data = variable.data[rows.start * num_bytes : rows.stop * num_bytes]
    weight = Variable((num_rows, *variable.shape[1:]), variable.dtype, data).read()
    if scale is None:
        return weight
    divisor = scale.read().to(torch.float32)
    if divisor.ndim:
        divisor = divisor[rows].reshape(-1, *[1] * (weight.ndim - 1))
    return weight.to(torch.float32) / divisor
