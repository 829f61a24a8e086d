"""Models: the first download, the list of them, and what is chosen."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.ui.models_dialog import ModelsDialog
from engine.protocol.events import JobCancelled, JobDone, JobFailed, ModelList, Progress
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import ModelPhase
from tests.helpers.window_rig import BASE, SMALL, WindowRig, model

MISSING_BASE = model("whisper-base", "Whisper base", ModelPhase.MISSING)


def text(parent: QWidget, name: str) -> str:
    label = parent.findChild(QLabel, name)
    assert label is not None, name
    return label.text()


def button(parent: QWidget, name: str) -> QPushButton:
    found = parent.findChild(QPushButton, name)
    assert found is not None, name
    return found


@pytest.fixture
def bare_rig(qtbot: QtBot, tmp_path: Path):  # type: ignore[no-untyped-def]
    """A window on a computer without any model."""
    made = WindowRig(tmp_path, models=(MISSING_BASE,))
    made.window.show()
    yield made
    made.close()


@pytest.fixture
def dialog(rig: WindowRig, qtbot: QtBot) -> ModelsDialog:
    """The list of models, one of them not downloaded."""
    made = ModelsDialog(rig.shelf)
    qtbot.addWidget(made)
    rig.list_models([BASE, model("whisper-small", "Whisper small", ModelPhase.MISSING)])
    made.show()
    return made


def test_without_a_model_the_download_is_offered_with_size_and_room(bare_rig: WindowRig) -> None:
    assert bare_rig.window.pages.currentWidget() is bare_rig.window.first_run
    facts = text(bare_rig.window, "first_run_facts")
    assert "148 MB" in facts
    assert "50.0 GB" in facts


def test_files_dropped_meanwhile_wait_and_start_with_the_model(bare_rig: WindowRig) -> None:
    bare_rig.add("one.wav", "two.wav")
    assert bare_rig.desk.num_running == 0
    assert "2" in text(bare_rig.window, "first_run_waiting")
    button(bare_rig.window, "first_run_download").click()
    job = bare_rig.engine.last("download").job
    bare_rig.play(Progress(job=job, done=74e6, total=148e6, remaining_s=30.0))
    bar = bare_rig.window.findChild(QProgressBar, "first_run_progress")
    assert bar is not None
    assert bar.value() == 50
    bare_rig.play(JobDone(job=job))
    bare_rig.list_models([BASE])
    assert bare_rig.desk.num_running == 2
    assert bare_rig.window.pages.currentWidget() is not bare_rig.window.first_run


def test_a_cancelled_download_can_be_continued(bare_rig: WindowRig) -> None:
    button(bare_rig.window, "first_run_download").click()
    job = bare_rig.engine.last("download").job
    button(bare_rig.window, "first_run_cancel").click()
    assert bare_rig.engine.cancelled == [job]
    bare_rig.play(JobCancelled(job=job))
    bare_rig.list_models([model("whisper-base", "Whisper base", ModelPhase.PARTIAL)])
    again = button(bare_rig.window, "first_run_download")
    assert again.isVisible()
    assert again.text() == "Continue the download"


def test_a_failed_download_says_why(bare_rig: WindowRig) -> None:
    button(bare_rig.window, "first_run_download").click()
    job = bare_rig.engine.last("download").job
    bare_rig.play(JobFailed(job=job, failure=failure(FailureKind.DISK_FULL, "Whisper base")))
    assert "room on the disk" in text(bare_rig.window, "first_run_state")


def test_a_model_is_downloaded_from_the_list(rig: WindowRig, dialog: ModelsDialog) -> None:
    dialog.select("whisper-small")
    assert not dialog.use.isEnabled()
    dialog.download.click()
    job = rig.engine.last("download").job
    assert not dialog.download.isEnabled()
    rig.play(JobDone(job=job))
    rig.list_models([BASE, SMALL])
    dialog.select("whisper-small")
    assert dialog.use.isEnabled()


def test_verifying_says_what_came_of_it(rig: WindowRig, dialog: ModelsDialog) -> None:
    dialog.select("whisper-base")
    dialog.verify.click()
    rig.play(JobDone(job=rig.engine.last("verify").job))
    assert "as it should be" in text(dialog, "model_facts")
    dialog.verify.click()
    broken = failure(FailureKind.HASH_MISMATCH, "model.bin")
    rig.play(JobFailed(job=rig.engine.last("verify").job, failure=broken))
    assert "model.bin" in text(dialog, "model_facts")


def test_a_cancelled_check_proves_nothing(rig: WindowRig, dialog: ModelsDialog) -> None:
    dialog.select("whisper-base")
    dialog.verify.click()
    dialog.cancel.click()
    rig.play(JobCancelled(job=rig.engine.last("verify").job))
    assert "as it should be" not in text(dialog, "model_facts")


def test_using_a_model_chooses_it(rig: WindowRig, dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.select("whisper-base")
    with qtbot.waitSignal(dialog.model_preferred) as chosen:
        dialog.use.click()
    assert chosen.args == ["whisper-base"]


def test_a_folder_of_the_users_is_a_model_and_is_never_deleted(
    rig: WindowRig, dialog: ModelsDialog, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "my-whisper"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    rig.window.commands.use_folder(str(folder))
    assert rig.keeper.now.model == str(folder)
    dialog.select(str(folder))
    with qtbot.waitSignal(dialog.folder_forgotten):
        dialog.remove.click()
    assert folder.exists()
    assert not [one for one in rig.engine.requests if one.kind == "remove"]


def test_a_folder_without_a_model_is_refused_with_a_sentence(rig: WindowRig, tmp_path: Path) -> None:
    rig.window.commands.use_folder(str(tmp_path))
    assert rig.keeper.now.model == "whisper-base"
    assert rig.window.notices.texts()


def test_a_companion_says_what_it_gives_and_cannot_be_chosen(dialog: ModelsDialog, rig: WindowRig) -> None:
    qwen = model("qwen3-asr-0.6b", "Qwen3-ASR 0.6B", family="Qwen3ASR", memory_bytes=2 * 10**9)
    helper = model(
        "aligner",
        "Aligner",
        family="Qwen3ASR",
        companion_of="Qwen3ASR",
        is_runnable=False,
        memory_bytes=1_800_000_000,
    )
    missing = msgspec.structs.replace(helper, phase=ModelPhase.MISSING)
    rig.list_models([BASE, qwen, missing])
    dialog.select("qwen3-asr-0.6b")
    assert "Aligner would add measured times" in text(dialog, "model_facts")
    dialog.select("aligner")
    assert "measures when each word was said" in text(dialog, "model_facts")
    assert "1.8 GB of memory more" not in text(dialog, "model_facts"), "nobody knows this machine"
    job = rig.engine.last("list").job
    rig.play(ModelList(job=job, models=(qwen, missing), folder="/m", free_bytes=1, memory_bytes=10**10))
    dialog.select("aligner")
    assert "1.8 GB of memory more" in text(dialog, "model_facts")
    assert button(dialog, "model_download").isEnabled()
    rig.list_models([BASE, qwen, helper])
    assert not button(dialog, "model_use").isEnabled()
    assert helper not in rig.shelf.installed
    dialog.select("qwen3-asr-0.6b")
    assert "would add" not in text(dialog, "model_facts")
    dialog.select("whisper-base")
    assert "would add" not in text(dialog, "model_facts")


@pytest.mark.parametrize(("machine", "says"), [(16 * 10**9, "16.0 GB"), (5 * 10**9, "too much")])
def test_a_model_says_what_it_takes_of_this_machine(
    dialog: ModelsDialog, rig: WindowRig, machine: int, says: str
) -> None:
    job = rig.engine.last("list").job
    large = model("large", "Large", memory_bytes=4_800_000_000)
    rig.play(ModelList(job=job, models=(large,), folder="/m", free_bytes=1, memory_bytes=machine))
    dialog.select("large")
    assert says in text(dialog, "model_facts")
    assert "4.8 GB" in text(dialog, "model_facts")
