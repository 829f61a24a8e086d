"""Model folders of both kinds are read alike, and broken ones are refused with a reason."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.adapters.checkpoint import open_checkpoint
from engine.protocol.failures import FailureError, FailureKind
from tests.helpers.checkpoints import (
    ctranslate2_variables,
    write_ctranslate2_folder,
    write_large_v3_shaped,
    write_model_bin,
)


@pytest.fixture(scope="module")
def hugging_face(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_large_v3_shaped(tmp_path_factory.mktemp("models") / "hugging-face", width=32)


@pytest.fixture
def ctranslate2(hugging_face: Path, tmp_path: Path) -> Path:
    return write_ctranslate2_folder(tmp_path / "ctranslate2", ctranslate2_variables(hugging_face))


def refusal(folder: Path, kind: FailureKind = FailureKind.MODEL_BROKEN) -> str:
    """Return why `folder` is refused, from opening it to reading its last weight."""
    with pytest.raises(FailureError) as caught:
        dict(open_checkpoint(folder).tensors)
    assert caught.value.failure.kind is kind
    assert caught.value.failure.subject == folder.name
    return caught.value.failure.detail


def test_both_kinds_of_folder_give_the_same_weights(hugging_face: Path, ctranslate2: Path) -> None:
    ours, theirs = open_checkpoint(ctranslate2).tensors, open_checkpoint(hugging_face).tensors
    assert set(ours) == set(theirs) | {"proj_out.weight"}
    for name, weight in theirs.items():
        assert torch.equal(ours[name], weight), name
        assert ours.shape(name) == theirs.shape(name) == tuple(weight.shape)


def test_shards_are_read_as_one(hugging_face: Path, tmp_path: Path) -> None:
    sharded = write_large_v3_shaped(tmp_path / "sharded", width=32, shard_size="3MB")
    assert len(list(sharded.glob("*.safetensors"))) > 1
    whole = open_checkpoint(hugging_face).tensors
    parts = open_checkpoint(sharded).tensors
    assert set(parts) == set(whole)
    assert all(torch.equal(parts[name], whole[name]) for name in whole)


def test_int8_weights_are_multiplied_out(hugging_face: Path, tmp_path: Path) -> None:
    variables = ctranslate2_variables(hugging_face)
    name = "decoder/layer_0/self_attention/linear_0/weight"
    weight = variables[name]
    scale = 127.0 / weight.abs().amax(dim=1)
    variables[name] = (weight * scale[:, None]).round().to(torch.int8)
    variables[name + "_scale"] = scale
    tensors = open_checkpoint(write_ctranslate2_folder(tmp_path / "int8", variables)).tensors
    parts = [tensors[f"model.decoder.layers.0.self_attn.{part}_proj.weight"] for part in "qkv"]
    error = (torch.cat(parts) - weight).abs()
    assert bool((error <= 0.5001 / scale[:, None]).all())


def test_int16_weights_with_one_scale_are_multiplied_out(hugging_face: Path, tmp_path: Path) -> None:
    variables = ctranslate2_variables(hugging_face)
    name = "encoder/layer_1/ffn/linear_0/weight"
    weight = variables[name]
    variables[name] = (weight * 1000.0).round().to(torch.int16)
    variables[name + "_scale"] = torch.tensor(1000.0)
    tensors = open_checkpoint(write_ctranslate2_folder(tmp_path / "int16", variables)).tensors
    assert (tensors["model.encoder.layers.1.fc1.weight"] - weight).abs().max() <= 0.000_51


def test_integers_without_a_scale_are_not_guessed_at(hugging_face: Path, tmp_path: Path) -> None:
    variables = ctranslate2_variables(hugging_face)
    name = "encoder/layer_0/ffn/linear_0/weight"
    variables[name] = variables[name].to(torch.int8)
    assert "without a scale" in refusal(write_ctranslate2_folder(tmp_path / "int8", variables))


@pytest.mark.weights
def test_the_default_model_has_every_weight_of_the_reference(whisper_base: Path) -> None:
    tensors = open_checkpoint(whisper_base).tensors
    assert len(tensors) == 246
    assert tensors["model.decoder.embed_tokens.weight"].dtype == torch.float16
    assert tensors.shape("model.decoder.layers.5.encoder_attn.v_proj.weight") == (512, 512)


def test_a_folder_without_a_model_is_missing_not_broken(tmp_path: Path) -> None:
    with pytest.raises(FailureError) as caught:
        open_checkpoint(tmp_path / "nothing")
    assert caught.value.failure.kind is FailureKind.MODEL_MISSING


def test_pickled_weights_are_never_opened(hugging_face: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((hugging_face / "config.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    assert "pickled" in refusal(tmp_path, FailureKind.MODEL_INCOMPLETE)


@pytest.mark.parametrize("text", ["", "{", "[1]", "\0\xff"])
def test_a_config_that_is_no_object_is_refused(ctranslate2: Path, text: str) -> None:
    (ctranslate2 / "config.json").write_bytes(text.encode("latin-1"))
    refusal(ctranslate2)


@pytest.mark.parametrize("share", [0.0, 0.000_001, 0.3, 0.999_999])
def test_a_truncated_model_bin_is_refused(ctranslate2: Path, share: float) -> None:
    path = ctranslate2 / "model.bin"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    refusal(ctranslate2)


def test_bytes_behind_the_end_are_refused(ctranslate2: Path) -> None:
    with (ctranslate2 / "model.bin").open("ab") as file:
        file.write(b"\0")
    assert "too many" in refusal(ctranslate2)


def test_another_version_or_model_is_refused(ctranslate2: Path) -> None:
    write_model_bin(ctranslate2 / "model.bin", {}, version=1_179_993_927)
    assert "binary version 1179993927" in refusal(ctranslate2)
    write_model_bin(ctranslate2 / "model.bin", {}, specification="TransformerSpec")
    assert "TransformerSpec" in refusal(ctranslate2)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (struct.pack("<I", 0xFFFF_FFFF), "entries declared"),
        (struct.pack("<IH", 1, 0) + bytes(64), "a name of 0 bytes"),
        (struct.pack("<IH", 1, 0xFFFF) + bytes(64), "a name of 65535 bytes"),
        (struct.pack("<IH2sB", 1, 2, b"a\0", 255) + bytes(64), "255 dimensions"),
        (
            struct.pack("<IH2sBIBI", 1, 2, b"a\0", 1, 0xFFFF_FFFF, 0, 0xFFFF_FFFC) + bytes(64),
            "bytes declared",
        ),
        (struct.pack("<IH2sBIBI", 1, 2, b"a\0", 1, 1 << 29, 0, 1 << 31) + bytes(64), "bytes wanted"),
        (struct.pack("<IH2sBIBI", 1, 2, b"a\0", 1, 0, 0, 0) + bytes(64), "bytes declared"),
        (struct.pack("<IH2sBIBI", 1, 2, b"a\0", 1, 1, 9, 4) + bytes(64), "number format 9"),
        (struct.pack("<IIH2sH2s", 0, 1, 2, b"a\0", 2, b"b\0"), "stands for"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_sizes_in_the_file_are_not_believed(ctranslate2: Path, body: bytes, reason: str) -> None:
    head = struct.pack("<IH", 6, 12) + b"WhisperSpec\0" + struct.pack("<I", 3)
    (ctranslate2 / "model.bin").write_bytes(head + body)
    assert reason in refusal(ctranslate2)


@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(at=st.integers(0, 4095), value=st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused_and_never_a_crash(
    hugging_face: Path, tmp_path: Path, at: int, value: int
) -> None:
    small = {
        name: tensor
        for name, tensor in ctranslate2_variables(hugging_face).items()
        if "layer_0" in name or "num_heads" in name
    }
    folder = write_ctranslate2_folder(
        tmp_path / "changed", {"decoder/embeddings/weight": torch.ones(8, 4), **small}
    )
    path = folder / "model.bin"
    data = bytearray(path.read_bytes())
    data[at] = value
    path.write_bytes(data)
    try:
        dict(open_checkpoint(folder).tensors)
    except FailureError as error:
        assert error.failure.kind is FailureKind.MODEL_BROKEN


def copy_of(folder: Path, target: Path) -> Path:
    target.mkdir()
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


def test_a_truncated_safetensors_file_is_refused(hugging_face: Path, tmp_path: Path) -> None:
    folder = copy_of(hugging_face, tmp_path / "cut")
    data = (folder / "model.safetensors").read_bytes()
    for length in (0, 7, 100, len(data) - 1):
        (folder / "model.safetensors").write_bytes(data[:length])
        refusal(folder)


def test_a_huge_safetensors_header_is_refused(hugging_face: Path, tmp_path: Path) -> None:
    folder = copy_of(hugging_face, tmp_path / "huge")
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 62) + bytes(64))
    refusal(folder)
    header = json.dumps({"a": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    refusal(folder)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = write_large_v3_shaped(tmp_path / "sharded", width=32, shard_size="3MB")
    shard = min(folder.glob("*.safetensors"))
    shard.unlink()
    assert f"{shard.name} is missing" in refusal(folder, FailureKind.MODEL_INCOMPLETE)


@pytest.mark.parametrize("target", ["../outside.safetensors", "/etc/hostname", "shard.bin"])
def test_an_index_points_only_into_its_folder(hugging_face: Path, tmp_path: Path, target: str) -> None:
    folder = copy_of(hugging_face, tmp_path / "pointing")
    index = {"weight_map": {"model.encoder.conv1.weight": target}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "points to" in refusal(folder)
