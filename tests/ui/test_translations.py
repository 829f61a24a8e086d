"""Every text of the window is there in Korean, and plurals are right in English."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from pytestqt.qtbot import QtBot

from app import texts
from app.paths import resource
from app.settings import UiLanguage
from app.ui.translation import Translation
from engine.adapters.catalog import CATALOG
from tests.helpers.window_rig import WindowRig

ROOT = Path(__file__).parents[2]
FOLDER = resource("translations")
_PLACES = re.compile(r"%\d|%n|\{\w+\}")


def messages(path: Path) -> list[tuple[str, str, list[str]]]:
    """Return context, source and translations of every message; unfinished ones have none."""
    found = []
    for context in ET.parse(path).getroot().iter("context"):
        name = context.findtext("name") or ""
        for message in context.iter("message"):
            translation = message.find("translation")
            assert translation is not None
            forms = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
            is_finished = translation.get("type") is None and all(forms)
            found.append((name, message.findtext("source") or "", forms if is_finished else []))
    return found


@pytest.fixture
def korean(qtbot: QtBot):  # type: ignore[no-untyped-def]
    """The application in Korean; English again afterwards."""
    app = QCoreApplication.instance()
    assert app is not None
    translation = Translation(app)
    translation.use(UiLanguage.KOREAN)
    yield translation
    translation.use(UiLanguage.ENGLISH)
    translation.clear()
    QLocale.setDefault(QLocale.c())


def test_the_sources_hold_no_text_that_is_not_in_the_translation(tmp_path: Path) -> None:
    lupdate = Path(sys.executable).parent / "pyside6-lupdate"
    if not lupdate.exists():
        pytest.skip("pyside6-lupdate is not installed")
    fresh = tmp_path / "fresh.ts"
    sources = [*sorted((ROOT / "app/ui").glob("*.py")), ROOT / "app/player.py", ROOT / "app/wiring.py"]
    subprocess.run(
        [lupdate, *map(str, sources), "-target-language", "ko", "-ts", str(fresh)],
        check=True,
        capture_output=True,
        timeout=60,
    )
    wanted = {(context, source) for context, source, _ in messages(fresh)}
    there = {(context, source) for context, source, _ in messages(FOLDER / "jamak_ko.ts")}
    assert wanted == there


@pytest.mark.parametrize("name", ["jamak_ko", "jamak_en", "models_ko"])
def test_every_text_is_translated_with_all_its_places(name: str) -> None:
    for context, source, forms in messages(FOLDER / f"{name}.ts"):
        assert forms, f"{context}: {source}"
        for form in forms:
            assert sorted(_PLACES.findall(form)) == sorted(_PLACES.findall(source)), f"{context}: {source}"


@pytest.mark.parametrize("name", ["jamak_ko", "jamak_en", "models_ko"])
def test_what_is_compiled_is_as_new_as_its_source(name: str, tmp_path: Path) -> None:
    lrelease = Path(sys.executable).parent / "pyside6-lrelease"
    if not lrelease.exists():
        pytest.skip("pyside6-lrelease is not installed")
    made = tmp_path / "made.qm"
    subprocess.run([lrelease, "-silent", FOLDER / f"{name}.ts", "-qm", made], check=True, timeout=60)
    assert made.read_bytes() == (FOLDER / f"{name}.qm").read_bytes()


def test_every_model_of_the_catalogue_is_described_in_korean() -> None:
    known = {source for _, source, _ in messages(FOLDER / "models_ko.ts")}
    assert {entry.note for entry in CATALOG} <= known


def test_a_window_built_in_korean_speaks_korean(korean: Translation, qtbot: QtBot, tmp_path: Path) -> None:
    rig = WindowRig(tmp_path)
    assert rig.window.drop_zone.open_button.text() == "파일 열기…"
    assert rig.window.actions_.open.text() == "열기(&O)…"
    assert texts.language() == "ko"
    rig.add("하나.wav")
    rig.close()


def test_english_counts_one_and_many(qtbot: QtBot) -> None:
    app = QCoreApplication.instance()
    assert app is not None
    translation = Translation(app)
    translation.use(UiLanguage.ENGLISH)
    translate = QCoreApplication.translate
    assert translate("SidePanel", "%n recording(s)", "", 1) == "1 recording"
    assert translate("SidePanel", "%n recording(s)", "", 2) == "2 recordings"
    translation.clear()
    QLocale.setDefault(QLocale.c())
