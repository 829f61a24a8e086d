"""After a real transcription neither the logs nor the report know a word of it, nor whose it was."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path

import msgspec

from app.library import Library
from app.paths import resource
from app.report import Known, make_report
from app.settings import Settings, load
from tests.helpers.jamak_program import JamakProgram, wait_for


def test_what_was_said_is_in_no_log_and_in_no_report(tmp_path: Path, whisper_base: Path) -> None:
    program = JamakProgram(tmp_path, whisper_base)
    settings_path = tmp_path / "data" / "settings.json"
    own = {"initial_prompt": "Zugangsschlüssel", "hotwords": "sk-0123456789", "model": whisper_base.name}
    settings_path.write_bytes(msgspec.json.encode(msgspec.structs.replace(Settings(), **own)))
    spoken = tmp_path / "vertrauliches Gespräch.flac"
    shutil.copy(resource("sample.flac"), spoken)
    program.start(spoken)
    try:
        wait_for(lambda: program.state() == "done", "the transcript")
    finally:
        program.kill()
    words = re.findall(r"\w+", " ".join(program.texts()))
    # Two at a time: single ones are names of settings, too.
    pairs = {f"{first} {second}" for first, second in itertools.pairwise(words)}
    assert len(pairs) > 15
    written = "\n".join(path.read_text(errors="replace") for path in (tmp_path / "log").iterdir())
    library = Library(tmp_path / "data" / "library.db")
    report = make_report(
        Known(
            settings=load(settings_path).settings,
            recordings=library.recordings(),
            log_folder=tmp_path / "log",
            home=tmp_path,
        )
    )
    library.close()
    assert "window.log" in {path.name for path in (tmp_path / "log").iterdir()}
    everything = written + json.dumps([entry.text for entry in report], ensure_ascii=False)
    private = {*pairs, spoken.stem, "Zugangsschlüssel", "sk-0123456789"}
    assert {word for word in private if word in everything} == set()
