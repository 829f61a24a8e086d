"""The report of a problem: what helps, and nothing that is the person's own."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from app.library_rows import Recording, RowState
from app.report import MAX_LOG_BYTES, Entry, Known, make_report, report_name, write_report
from app.settings import CaptionPlace, Settings
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options
from tests.helpers.fake_sound import MIC, SPEAKERS

HOME = Path("/home/mina")
SECRETS = ("hunter2", "신메뉴", "Ostermann", "interview with Kim", "/home/mina", "DP-secret")


def recording(name: str, **fields: object) -> Recording:
    path = f"/home/mina/work/{name}"
    made = Recording(
        id=1, path=path, name=name, state=RowState.DONE, position=1, options=Options(), added_at=1.0
    )
    return msgspec.structs.replace(made, **fields)


@pytest.fixture
def known(tmp_path: Path) -> Known:
    broken = failure(
        FailureKind.BAD_MEDIA,
        "interview with Kim.mp4",
        "[Errno 1] '/home/mina/work/interview with Kim.mp4' has no moov",
    )
    settings = Settings(
        initial_prompt="신메뉴 회의",
        hotwords="Ostermann",
        open_folder="/home/mina/work",
        microphone="hunter2 headset",
        model="/home/mina/models/mine",
        caption_places={"DP-secret": CaptionPlace(1, 2, 3)},
        queue_is_paused=True,
    )
    log = "2026-11-30 INFO read /home/mina/work/interview with Kim.mp4\n"
    (tmp_path / "window.log").write_text("x" * MAX_LOG_BYTES + log, encoding="utf-8")
    (tmp_path / "empty.log").touch()
    return Known(
        settings=settings,
        recordings=(
            recording("interview with Kim.mp4", state=RowState.FAILED, failure=broken, ended_at=9.0),
            recording("b.wav", duration=7200.0),
        ),
        devices=(MIC, SPEAKERS),
        engine_facts=(("device", "cpu"), ("numpy", "another")),
        log_folder=tmp_path,
        home=HOME,
        library_bytes=1234,
    )


def by_name(known: Known) -> dict[str, str]:
    return {entry.name: entry.text for entry in make_report(known)}


def test_it_holds_versions_devices_settings_library_failures_and_logs(known: Known) -> None:
    report = by_name(known)
    assert list(report) == [
        *("versions.txt", "devices.txt", "settings.json", "library.txt", "failures.txt"),
        "logs/window.log",
    ]
    assert "device: cpu\n" in report["versions.txt"]
    assert "numpy (engine): another\n" in report["versions.txt"]
    assert "microphone: Built-in Microphone, 16000 Hz, 1 channels, default\n" in report["devices.txt"]
    assert "recordings: 2\n" in report["library.txt"]
    assert "hours: 2.0\n" in report["library.txt"]
    assert "what: bad_media\n" in report["failures.txt"]
    assert report["logs/window.log"].endswith("INFO read (recording)\n")


def test_nothing_of_the_persons_own_is_in_it(known: Known) -> None:
    everything = "\n".join(by_name(known).values())
    assert [secret for secret in SECRETS if secret in everything] == []


def test_a_setting_that_is_a_choice_is_told_and_text_is_only_counted(known: Known) -> None:
    settings = json.loads(by_name(known)["settings.json"])
    assert settings["queue_is_paused"] is True
    assert settings["theme"] == "system"
    assert settings["hotwords"] == "(9 characters)"
    assert settings["caption_places"] == {"#0": {"left": 1, "top": 2, "width": 3}}


def test_a_setting_nobody_thought_of_is_not_told(known: Known) -> None:
    class Later(Settings, frozen=True, kw_only=True):
        server_key: str = "hunter2"

    later = msgspec.structs.replace(known, settings=Later())
    assert json.loads(by_name(later)["settings.json"])["server_key"] == "(7 characters)"


def test_a_removed_recordings_name_is_not_told_either(known: Known) -> None:
    (known.log_folder / "manager.log").write_text("cannot read gone.wav", encoding="utf-8")
    removed = msgspec.structs.replace(known, paths=("/home/mina/gone.wav",))
    assert by_name(removed)["logs/manager.log"] == "cannot read (recording)"


def test_of_a_long_log_the_end_is_told(known: Known) -> None:
    assert len(by_name(known)["logs/window.log"]) <= MAX_LOG_BYTES


def test_an_engine_that_does_not_answer_is_said(known: Known) -> None:
    silent = msgspec.structs.replace(known, engine_facts=())
    assert "engine: does not answer\n" in by_name(silent)["versions.txt"]


def test_the_zip_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / report_name(datetime(2026, 11, 30, 9, 5))
    write_report([Entry("a.txt", "가")], path)
    assert path.name == "jamak-report-2026-11-30-0905.zip"
    with zipfile.ZipFile(path) as file:
        assert file.read("a.txt").decode() == "가"
    with pytest.raises(OSError, match="gone"):
        write_report([], tmp_path / "gone" / "b.zip")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
