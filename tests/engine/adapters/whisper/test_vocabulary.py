"""The ids of every generation of Whisper, read from the files a folder happens to have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.adapters import import_families, read_architectures, resolve_family
from engine.adapters.catalog import CATALOG
from engine.adapters.whisper import WhisperFamily
from engine.adapters.whisper.vocabulary import byte_alphabet, read_vocabulary
from engine.protocol.failures import FailureError, FailureKind

LANGUAGES = ("en", "zh", "ko", "yue")
COMMANDS = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")


def write_hugging_face_files(folder: Path) -> None:
    """A tiny byte-level vocabulary as `vocab.json`, `merges.txt` and `added_tokens.json`."""
    tokens = [*byte_alphabet(), "he", "Ġhe"]
    added = ["endoftext", "startoftranscript", *LANGUAGES, *COMMANDS]
    ids = {f"<|{name}|>": len(tokens) + index for index, name in enumerate(added)}
    (folder / "config.json").write_text("{}")
    (folder / "vocab.json").write_text(json.dumps({token: index for index, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\nh e\nĠ he\n", encoding="utf-8")
    (folder / "added_tokens.json").write_text(json.dumps(ids))


@pytest.mark.weights
def test_ids_of_the_multilingual_base_are_those_of_its_files(whisper_base: Path) -> None:
    vocabulary = read_vocabulary(whisper_base)
    special = vocabulary.special
    assert (special.end, special.start, special.first_timestamp) == (50257, 50258, 50364)
    assert (special.translate, special.transcribe, special.previous) == (50358, 50359, 50361)
    assert len(special.languages) == 99
    assert special.languages["ko"] == 50264
    assert vocabulary.timestamp_s(50364 + 1500) == 30.0


@pytest.mark.weights
def test_an_english_only_model_has_no_choice_of_language(whisper_tiny_en: Path) -> None:
    vocabulary = read_vocabulary(whisper_tiny_en)
    assert (vocabulary.special.end, vocabulary.special.first_timestamp) == (50256, 50363)
    assert not vocabulary.is_multilingual


@pytest.mark.weights
def test_a_command_written_in_a_prompt_is_text(whisper_base: Path) -> None:
    vocabulary = read_vocabulary(whisper_base)
    ids = vocabulary.encode(" stop <|endoftext|> 안녕")
    assert not vocabulary.special_ids & set(ids)
    assert b"".join(vocabulary.pieces[id_] for id_ in ids).decode() == " stop <|endoftext|> 안녕"


@pytest.mark.weights
def test_a_folder_with_a_word_list_alone_gives_the_same_ids(whisper_tiny_en: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "vocabulary.txt").write_bytes((whisper_tiny_en / "vocabulary.txt").read_bytes())
    listed, full = read_vocabulary(tmp_path), read_vocabulary(whisper_tiny_en)
    assert listed.special == full.special
    assert listed.pieces == full.pieces
    text = " Whether the unusual names survive: Jamak, O'Neil & 1984?"
    assert listed.encode(text) == full.encode(text)


def test_hugging_face_files_without_tokenizer_json_are_enough(tmp_path: Path) -> None:
    write_hugging_face_files(tmp_path)
    vocabulary = read_vocabulary(tmp_path)
    assert tuple(vocabulary.special.languages) == LANGUAGES
    assert vocabulary.special.no_timestamps + 1 == vocabulary.special.first_timestamp
    assert vocabulary.encode(" he") == [257]
    assert vocabulary.name(vocabulary.special.first_timestamp + 62) == "<|1.24|>"


@pytest.mark.parametrize("broken", ["{}", "[1]", "no json", '{"<|endoftext|>": "x"}'])
def test_a_broken_vocabulary_is_a_failure_that_names_the_model(tmp_path: Path, broken: str) -> None:
    write_hugging_face_files(tmp_path)
    (tmp_path / "added_tokens.json").write_text(broken)
    with pytest.raises(FailureError) as caught:
        read_vocabulary(tmp_path)
    assert caught.value.failure.kind is FailureKind.MODEL_BROKEN
    assert caught.value.failure.subject == tmp_path.name


@pytest.mark.weights
def test_both_kinds_of_folder_resolve_to_whisper(whisper_base: Path) -> None:
    import_families()
    key, family = resolve_family(read_architectures(whisper_base), "base")
    assert key == "Whisper"
    assert resolve_family(["WhisperForConditionalGeneration"], "x")[1] is family
    traits = family.traits(whisper_base)
    assert traits.can_translate
    assert {"en", "ko", "ja"} < set(traits.languages)
    assert traits.max_chunk_s == 30.0


def test_text_of_whisper_is_loaded_without_torch() -> None:
    code = "import engine.adapters as a, sys; a.import_families(); print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


HEADS_OF_BASE = [[3, 1], [4, 2], [5, 6]]
HEADS_OF_LARGE = [[7, 0], [10, 17], [25, 6]]
HEADS_OF_TURBO = [[2, 4], [3, 3], [3, 14]]


@pytest.mark.parametrize(
    ("config", "is_third", "can_translate"),
    [
        ({"encoder_layers": 6, "decoder_layers": 6}, False, True),
        ({"encoder_layers": 32, "decoder_layers": 32}, True, True),
        ({"encoder_layers": 32, "decoder_layers": 4}, True, False),
        ({"alignment_heads": HEADS_OF_BASE}, False, True),
        ({"alignment_heads": HEADS_OF_LARGE}, True, True),
        ({"alignment_heads": HEADS_OF_TURBO}, True, False),
        ({}, False, True),
    ],
)
def test_a_shortened_decoder_does_not_translate(
    whisper_base: Path, tmp_path: Path, config: dict[str, object], is_third: bool, can_translate: bool
) -> None:
    """Turbo was offered as a translator where it lay in a folder of the user's."""
    (tmp_path / "config.json").write_text(json.dumps(config))
    tokens = (whisper_base / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(tokens.replace("<|su|>", "<|yue|>") if is_third else tokens)
    assert WhisperFamily().traits(tmp_path).can_translate is can_translate


def test_the_catalogue_says_of_translating_what_the_files_say(
    whisper_base: Path, whisper_tiny_en: Path
) -> None:
    promised = {model.key: model.can_translate for model in CATALOG}
    assert WhisperFamily().traits(whisper_base).can_translate is promised["whisper-base"] is True
    assert WhisperFamily().traits(whisper_tiny_en).can_translate is promised["whisper-tiny.en"] is False
    assert promised["whisper-large-v3"]
    assert not promised["whisper-large-v3-turbo"]
