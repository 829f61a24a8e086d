"""Checkpoints of both layouts are read; what would be wrong is refused in words a person can act on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.adapters.base import RuntimeOptions
from engine.adapters.quantised import has_bfloat16, is_exact
from engine.adapters.qwen3_asr import Qwen3Family
from engine.adapters.qwen3_asr.config import Kind, Layout, read_config
from engine.adapters.qwen3_asr.load import load_network
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.qwen3_asr.vocabulary import read_vocabulary
from engine.protocol.failures import SENTENCES, FailureError, FailureKind
from tests.helpers.tiny_qwen3 import NATIVE, change_json, copy_native, write_original

_K = FailureKind
CPU = RuntimeOptions(device="cpu", dtype="float32", num_threads=1)


def load(folder: Path) -> Qwen3Asr:
    return load_network(folder, CPU, Kind.RECOGNISER)


def refusal(folder: Path) -> tuple[FailureKind, str]:
    """Return why a folder is refused: by its small files, its vocabulary, or its weights."""
    with pytest.raises(FailureError) as caught:
        Qwen3Family().traits(folder)
        Qwen3Family().text(folder)
        load(folder)
    failure = caught.value.failure
    assert failure.message == SENTENCES[failure.kind][0].format(subject=folder.name)
    return failure.kind, failure.detail


def weights_of(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def test_both_layouts_hold_the_same_network(tmp_path: Path) -> None:
    native, original = load(NATIVE), load(write_original(tmp_path / "original"))
    assert (native.config.layout, original.config.layout) == (Layout.NATIVE, Layout.ORIGINAL)
    assert native.config.audio == original.config.audio
    assert native.config.text == original.config.text
    mel = torch.randn(128, 250, generator=torch.Generator().manual_seed(0))
    states = []
    for network in (native, original):
        cache = network.new_cache(1)
        heard = network.read(cache, cache.allocate(), network.encode(mel))
        states.append(network.head(heard))
    assert torch.equal(*states)


def test_both_layouts_have_the_same_vocabulary(tmp_path: Path) -> None:
    folder = write_original(tmp_path / "original")
    native = read_vocabulary(NATIVE, read_config(NATIVE))
    original = read_vocabulary(folder, read_config(folder))
    assert native.pieces == original.pieces
    assert native.names == original.names
    for text in ("It's 3.5 today,  fine", "오늘 날씨가 좋아요.", "请打开窗户。\n\nend"):
        assert native.encode(text) == original.encode(text)
        assert native.text_of(native.encode(text)) == text


def test_a_recogniser_that_names_no_number_of_labels_is_no_aligner(tmp_path: Path) -> None:
    """Savers write what a checkpoint has none of as null."""
    folder = write_original(tmp_path / "model", thinker_config__classify_num=None)
    assert read_config(folder).kind is Kind.RECOGNISER


def test_shards_are_one_network(tmp_path: Path) -> None:
    folder = copy_native(tmp_path / "sharded")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places = {name: f"model-0000{1 + index % 2}-of-00002.safetensors" for index, name in enumerate(weights)}
    for shard in set(places.values()):
        save_file({name: weights[name] for name in weights if places[name] == shard}, folder / shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    load(folder)
    (folder / places["model.audio_tower.conv2d1.weight"]).unlink()
    kind, detail = refusal(folder)
    assert kind is _K.MODEL_INCOMPLETE
    assert "of-00002.safetensors is missing" in detail


def test_languages_are_those_the_checkpoint_lists_or_all(tmp_path: Path) -> None:
    assert len(Qwen3Family().traits(NATIVE).languages) == 30
    listed = Qwen3Family().traits(write_original(tmp_path / "original")).languages
    assert listed == ("zh", "en", "ko")


@pytest.mark.parametrize(
    ("changes", "kind", "reason"),
    [
        ({"model_type": "qwen2_audio"}, _K.MODEL_UNSUPPORTED, "model_type"),
        ({"audio_config": ...}, _K.MODEL_UNSUPPORTED, "neither"),
        ({"architectures": ["Qwen3ASRForTokenClassification"]}, _K.MODEL_IS_ALIGNER, "aligner"),
        ({"audio_config__n_window": 100}, _K.MODEL_UNSUPPORTED, "n_window"),
        ({"audio_config__n_window_infer": 850}, _K.MODEL_UNSUPPORTED, "n_window_infer"),
        ({"audio_config__num_mel_bins": 80}, _K.MODEL_UNSUPPORTED, "num_mel_bins"),
        ({"text_config__hidden_act": "gelu"}, _K.MODEL_UNSUPPORTED, "hidden_act"),
        ({"text_config__rope_parameters": {"rope_type": "yarn"}}, _K.MODEL_UNSUPPORTED, "rope_type"),
        ({"text_config__rope_parameters": ...}, _K.MODEL_BROKEN, "rope_theta"),
        ({"text_config__vocab_size": 489}, _K.MODEL_BROKEN, "embed_tokens"),
        ({"text_config__hidden_size": 64}, _K.MODEL_BROKEN, "the text model takes 64"),
        ({"text_config__head_dim": ...}, _K.MODEL_BROKEN, "head_dim"),
        ({"audio_config__downsample_hidden_size": 32}, _K.MODEL_BROKEN, "conv2d1"),
        ({"audio_token_id": 454}, _K.MODEL_VOCABULARY, "audio_pad"),
    ],
)
def test_a_native_folder_that_would_run_wrong_is_refused(
    tmp_path: Path, changes: dict[str, object], kind: FailureKind, reason: str
) -> None:
    found, detail = refusal(copy_native(tmp_path / "model", **changes))
    assert found is kind
    assert reason in detail


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        # The original aligner names the recogniser's architecture.
        ({"thinker_config__classify_num": 5000}, _K.MODEL_IS_ALIGNER),
        ({"thinker_config__model_type": "qwen3_forced_aligner"}, _K.MODEL_IS_ALIGNER),
        ({"thinker_config__text_config__rope_theta": ...}, _K.MODEL_BROKEN),
    ],
)
def test_an_original_folder_that_would_run_wrong_is_refused(
    tmp_path: Path, changes: dict[str, object], kind: FailureKind
) -> None:
    assert refusal(write_original(tmp_path / "model", **changes))[0] is kind


def test_the_embedding_is_the_way_out_unless_something_else_is_said(tmp_path: Path) -> None:
    silent = copy_native(tmp_path / "silent", text_config__tie_word_embeddings=..., tie_word_embeddings=...)
    assert load(silent).config.text.is_tied
    untied = copy_native(
        tmp_path / "untied", text_config__tie_word_embeddings=False, tie_word_embeddings=False
    )
    assert refusal(untied) == (_K.MODEL_INCOMPLETE, f"{untied}: lm_head.weight is missing")


def test_another_base_of_positions_is_used_and_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = copy_native(tmp_path / "model")
    change_json(folder / "config.json", text_config__rope_parameters={"rope_theta": 5e5})
    assert read_config(folder).text.rope_theta == 5e5
    assert "rope_theta is 500000.0" in caplog.text


def test_numbers_are_those_the_checkpoint_is_stored_in_where_the_processor_knows_them() -> None:
    network = load_network(NATIVE, RuntimeOptions(device="cpu", num_threads=1), Kind.RECOGNISER)
    expected = "bfloat16" if has_bfloat16() else "int8" if is_exact() else "float32"
    assert network.runtime.formats.name == expected


def test_a_recogniser_is_no_aligner() -> None:
    with pytest.raises(FailureError) as caught:
        load_network(NATIVE, CPU, Kind.ALIGNER)
    assert caught.value.failure.kind is _K.MODEL_NO_ALIGNER


def test_missing_and_surplus_weights_are_named(tmp_path: Path) -> None:
    name = "model.language_model.layers.1.self_attn.k_norm.weight"
    missing = copy_native(tmp_path / "missing")
    weights_of(missing, lambda weights: weights.pop(name))
    assert refusal(missing) == (_K.MODEL_INCOMPLETE, f"{missing}: {name} is missing")
    surplus = copy_native(tmp_path / "surplus")
    weights_of(surplus, lambda weights: weights.update({"model.language_model.extra": torch.zeros(1)}))
    kind, detail = refusal(surplus)
    assert kind is _K.MODEL_BROKEN
    assert "model.language_model.extra" in detail


def test_weights_that_are_no_numbers_are_noticed_before_anybody_speaks(tmp_path: Path) -> None:
    folder = copy_native(tmp_path / "model")
    weights_of(folder, lambda weights: weights["model.language_model.norm.weight"].fill_(float("nan")))
    kind, detail = refusal(folder)
    assert kind is _K.MODEL_BROKEN
    assert "silent second" in detail


def test_a_foreign_vocabulary_is_refused(tmp_path: Path) -> None:
    folder = copy_native(tmp_path / "model")
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))

    def refuse_with(change: Callable[[dict[str, object]], None], reason: str) -> None:
        changed = json.loads(json.dumps(tokenizer))
        change({entry["content"]: entry for entry in changed["added_tokens"]})
        path.write_text(json.dumps(changed), encoding="utf-8")
        kind, detail = refusal(folder)
        assert kind is _K.MODEL_VOCABULARY
        assert reason in detail

    refuse_with(lambda added: added["<asr_text>"].update(special=True), "asr_text")  # type: ignore[attr-defined]
    refuse_with(lambda added: added["<asr_text>"].update(content="<asr>"), "asr_text")  # type: ignore[attr-defined]
    refuse_with(lambda added: added["<blank1>"].update(id=100), "share an id")  # type: ignore[attr-defined]
    refuse_with(lambda added: added["<blank1>"].update(id=5000), "ids up to 5000")  # type: ignore[attr-defined]
    path.unlink()
    kind, detail = refusal(folder)
    assert kind is _K.MODEL_INCOMPLETE
    assert "vocab.json" in detail


def test_another_sampling_rate_is_refused(tmp_path: Path) -> None:
    folder = copy_native(tmp_path / "model")
    change_json(folder / "processor_config.json", feature_extractor__sampling_rate=8000)
    assert refusal(folder)[0] is _K.MODEL_UNSUPPORTED


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    folder = copy_native(tmp_path / "model")
    (folder / "config.json").write_text("[]")
    assert refusal(folder)[0] is _K.MODEL_BROKEN
    (folder / "config.json").unlink()
    assert refusal(folder)[0] is _K.MODEL_MISSING
    folder = copy_native(tmp_path / "cut")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    assert refusal(folder)[0] is _K.MODEL_BROKEN
