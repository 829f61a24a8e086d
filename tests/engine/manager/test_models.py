"""The store knows what is on disk, finds it, checks it, and deletes only what is its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from engine.adapters import import_families
from engine.adapters.catalog import CATALOG, CatalogEntry, Hub, ModelFile, Wheels
from engine.manager.checksums import digest_file, is_digest
from engine.manager.model_choice import choose_model
from engine.manager.models import ModelStore
from engine.protocol.failures import FailureError, FailureKind
from engine.protocol.transcript import ModelPhase, Options
from tests.helpers.tiny_aligner import TINY, make_native_aligner, make_original_aligner

CONTENT = {"config.json": b"{}", "model.bin": b"weights" * 1000}
MODEL = CatalogEntry(
    key="tiny-model",
    name="Tiny model",
    family="Whisper",
    source=Hub("someone/tiny"),
    files=tuple(ModelFile(n, len(c), hashlib.sha256(c).hexdigest()) for n, c in CONTENT.items()),
    languages=("en",),
    can_translate=False,
    note="Small.",
    download_bytes=8000,
)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", (MODEL,))


def install(store: ModelStore, **changes: bytes) -> Path:
    folder = store.folder / MODEL.key
    folder.mkdir(parents=True)
    for name, content in {**CONTENT, **changes}.items():
        (folder / name).write_bytes(content)
    return folder


def verify(store: ModelStore, model: str = MODEL.key) -> None:
    store.verify(model, lambda _done, _total: None)


def kind_of(action: object, *arguments: object) -> FailureKind:
    with pytest.raises(FailureError) as caught:
        action(*arguments)  # type: ignore[operator]
    return caught.value.failure.kind


def test_a_model_is_missing_then_partial_then_installed(store: ModelStore) -> None:
    assert store.list_models()[0].phase is ModelPhase.MISSING
    store.staging(MODEL).mkdir(parents=True)
    assert store.list_models()[0].phase is ModelPhase.PARTIAL
    folder = install(store)
    info = store.list_models()[0]
    assert (info.phase, info.folder, info.note) == (ModelPhase.INSTALLED, str(folder), "Small.")
    (folder / "model.bin").write_bytes(b"half")
    assert store.list_models()[0].phase is ModelPhase.PARTIAL


def test_jobs_find_catalogue_models_by_key_and_others_by_path(store: ModelStore, tmp_path: Path) -> None:
    assert kind_of(store.resolve, "tiny-model") is FailureKind.MODEL_MISSING
    assert kind_of(store.resolve, "no-such-model") is FailureKind.MODEL_UNKNOWN
    assert kind_of(store.resolve, str(tmp_path / "nowhere")) is FailureKind.MODEL_MISSING
    folder = install(store)
    assert store.resolve("tiny-model") == folder
    own = tmp_path / "my own"
    own.mkdir()
    (own / "config.json").write_text("{}")
    assert store.resolve(str(own)) == own


def test_verifying_remembers_what_was_right(store: ModelStore) -> None:
    folder = install(store)
    assert not store.is_checked(MODEL)
    verify(store)
    assert store.is_checked(MODEL)
    (folder / "model.bin").write_bytes(CONTENT["model.bin"])
    assert not store.is_checked(MODEL), "a file that was written again has to be read again"


def test_a_model_that_failed_its_check_is_no_longer_used(store: ModelStore) -> None:
    install(store, **{"model.bin": b"wrong!!" * 1000})
    assert store.list_models()[0].phase is ModelPhase.INSTALLED
    assert kind_of(verify, store) is FailureKind.HASH_MISMATCH
    assert store.list_models()[0].phase is ModelPhase.PARTIAL
    assert kind_of(store.resolve, "tiny-model") is FailureKind.MODEL_MISSING


def test_verifying_tells_progress_up_to_the_end(store: ModelStore) -> None:
    install(store)
    told: list[tuple[int, int]] = []
    store.verify(MODEL.key, lambda done, total: told.append((done, total)))
    assert told[-1] == (7002, 7002)


def test_removing_deletes_the_model_and_what_was_begun(store: ModelStore) -> None:
    folder = install(store)
    store.staging(MODEL).mkdir()
    store.remove(MODEL.key)
    assert not folder.exists()
    assert list(store.folder.iterdir()) == []
    store.remove(MODEL.key)


def test_a_folder_of_the_users_is_never_removed(store: ModelStore, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "config.json").write_text("{}")
    assert kind_of(store.remove, str(own)) is FailureKind.MODEL_UNKNOWN
    store.folder.mkdir()
    (store.folder / MODEL.key).symlink_to(own, target_is_directory=True)
    store.remove(MODEL.key)
    assert (own / "config.json").exists()


def test_what_somebody_put_into_the_folder_is_listed(store: ModelStore) -> None:
    import_families()
    other = store.folder / "mystery"
    other.mkdir(parents=True)
    (other / "config.json").write_text('{"architectures": ["MysteryForSpeech"]}')
    info = store.list_models()[-1]
    assert (info.key, info.name, info.is_runnable) == (str(other), "mystery", False)
    assert info.note


def test_a_family_that_is_not_registered_cannot_run(tmp_path: Path) -> None:
    import_families()
    by_key = {info.key: info for info in ModelStore(tmp_path).list_models()}
    assert by_key["whisper-base"].is_runnable


def test_there_is_room_even_where_the_folder_is_not_made_yet(store: ModelStore) -> None:
    assert store.free_bytes() > 0


def test_the_catalogue_is_sound() -> None:
    assert len({model.key for model in CATALOG}) == len(CATALOG)
    for model in CATALOG:
        names = [file.name for file in model.files]
        assert "config.json" in names and len(set(names)) == len(names)
        assert all(file.digest is None or is_digest(file.digest) for file in model.files)
        assert model.download_bytes > 1_000_000 and model.languages and model.note
        if isinstance(model.source, Wheels):
            assert set(model.source.members) == set(names)
            assert all(file.digest and len(file.digest) == 64 for file in model.files)
    assert {
        "whisper-base",
        "whisper-tiny.en",
        "whisper-large-v3-turbo",
        "qwen3-asr-0.6b",
        "qwen3-asr-1.7b",
    } <= {model.key for model in CATALOG}


def test_git_blob_ids_and_sha256_are_told_apart_by_their_length(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"hello\n")
    read: list[int] = []
    assert digest_file(path, "0" * 40, read.append) == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert digest_file(path, "0" * 64, read.append) == hashlib.sha256(b"hello\n").hexdigest()
    assert read == [6, 6]
    assert not is_digest('W/"abc"') and not is_digest(None)


@pytest.mark.weights
def test_the_default_model_is_what_it_should_be(whisper_base: Path) -> None:
    ModelStore(whisper_base.parent).verify("whisper-base", lambda _done, _total: None)


@pytest.fixture
def store_with_shipped(tmp_path: Path) -> ModelStore:
    """A store whose program brought the model along, in a folder that nobody may write to."""
    shipped = tmp_path / "program"
    install(ModelStore(shipped, (MODEL,))).chmod(0o555)
    return ModelStore(tmp_path / "models", (MODEL,), shipped=shipped)


def test_a_model_that_came_with_the_program_is_there_at_once(
    store_with_shipped: ModelStore, tmp_path: Path
) -> None:
    folder = tmp_path / "program" / MODEL.key
    info = store_with_shipped.list_models()[0]
    assert (info.phase, info.folder, info.is_removable) == (ModelPhase.INSTALLED, str(folder), False)
    assert store_with_shipped.resolve(MODEL.key) == folder
    verify(store_with_shipped)
    assert {path.name for path in folder.iterdir()} == set(CONTENT)
    (folder / "model.bin").write_bytes(b"Weights" * 1000)
    assert kind_of(verify, store_with_shipped) is FailureKind.HASH_MISMATCH


def test_a_model_that_came_with_the_program_is_not_removed(store_with_shipped: ModelStore) -> None:
    assert kind_of(store_with_shipped.remove, MODEL.key) is FailureKind.MODEL_SHIPPED
    assert store_with_shipped.list_models()[0].phase is ModelPhase.INSTALLED


def test_the_users_own_copy_goes_before_the_programs(store_with_shipped: ModelStore) -> None:
    own = install(store_with_shipped)
    info = store_with_shipped.list_models()[0]
    assert (info.folder, info.is_removable) == (str(own), True)
    store_with_shipped.remove(MODEL.key)
    assert store_with_shipped.list_models()[0].phase is ModelPhase.INSTALLED


def test_a_broken_copy_of_the_users_own_does_not_hide_the_programs(store_with_shipped: ModelStore) -> None:
    (install(store_with_shipped) / "model.bin").write_bytes(b"half")
    assert store_with_shipped.resolve(MODEL.key) != store_with_shipped.folder / MODEL.key


COMPANION = CatalogEntry(
    key="tiny-helper",
    name="Tiny helper",
    family="Qwen3ASR",
    source=Hub("someone/helper"),
    files=(ModelFile("config.json"),),
    languages=("en",),
    can_translate=False,
    note="Helps.",
    companion_of="Qwen3ASR",
    download_bytes=10,
)


def test_a_companion_is_found_for_its_family_and_cannot_be_chosen(tmp_path: Path) -> None:
    import_families()
    store = ModelStore(tmp_path, (MODEL, COMPANION))
    info = store.list_models()[1]
    assert (info.companion_of, info.is_runnable) == ("Qwen3ASR", False)
    assert store.companion("Qwen3ASR") == tmp_path / "tiny-helper", "where it would be, so that it may come"
    assert store.companion("Whisper") is None


def test_an_aligner_that_somebody_put_into_the_folder_is_a_companion(tmp_path: Path) -> None:
    """Both layouts: the original files name the recogniser's architecture for both."""
    import_families()
    native = make_native_aligner(tmp_path / "made")
    store = ModelStore(tmp_path / "models", (MODEL, COMPANION))
    folder = make_original_aligner(native, store.folder / "Qwen3-ForcedAligner-0.6B")
    (info,) = store.list_models()[2:]
    assert (info.companion_of, info.is_runnable) == ("Qwen3ASR", False)
    assert store.companion("Qwen3ASR") == folder
    with pytest.raises(FailureError) as refused:
        choose_model(store, Options(model=str(folder)))
    assert refused.value.failure.kind is FailureKind.MODEL_IS_ALIGNER
    source, _ = choose_model(store, Options(model=str(TINY)))
    assert source.companion_folder == str(folder)
