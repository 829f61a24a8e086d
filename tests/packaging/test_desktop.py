"""What the desktop is told of the program is true, complete and well formed."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from app.intake import MEDIA_SUFFIXES
from engine.facts import version_of
from tests.helpers.packaging_scripts import FOLDER

LINUX = FOLDER / "linux"
METAINFO = LINUX / "io.github.jamak.jamak.metainfo.xml"
SHARED_TYPES = Path("/usr/share/mime/globs2")
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def entry() -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(LINUX / "jamak.desktop", encoding="utf-8")
    return parser["Desktop Entry"]


def types() -> set[str]:
    return set(entry()["MimeType"].rstrip(";").split(";"))


def own_types() -> dict[str, set[str]]:
    """Suffix to types, of our own list."""
    found: dict[str, set[str]] = {}
    for kind in ET.parse(LINUX / "jamak.xml").getroot().iter(f"{MIME}mime-type"):
        for glob in kind.iter(f"{MIME}glob"):
            found.setdefault(glob.attrib["pattern"].removeprefix("*"), set()).add(kind.attrib["type"])
    return found


def version() -> str:
    return str(tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]["version"])


def test_files_are_handed_to_the_program_all_at_once() -> None:
    assert entry()["Exec"] == "jamak %F"
    # As `setDesktopFileName` says, or Wayland finds neither icon nor name of the window.
    assert (LINUX / f"{entry()['Icon']}.desktop").is_file()


def test_our_own_types_are_among_those_that_can_be_opened() -> None:
    assert set().union(*own_types().values()) <= types()


@pytest.mark.skipif(not SHARED_TYPES.is_file(), reason="no list of types on this machine")
def test_whatever_can_be_transcribed_can_be_opened_from_the_desktop() -> None:
    known = own_types()
    for line in SHARED_TYPES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            _, kind, pattern, *_ = line.split(":")
            known.setdefault(pattern.removeprefix("*").lower(), set()).add(kind)
    unknown = {suffix for suffix in MEDIA_SUFFIXES if not known.get(suffix, set()) & types()}
    assert unknown == set()


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="no desktop-file-utils")
def test_the_entry_is_well_formed() -> None:
    path = str(LINUX / "jamak.desktop")
    assert subprocess.run(["desktop-file-validate", path], capture_output=True, text=True).stdout == ""


@pytest.mark.skipif(not shutil.which("appstreamcli"), reason="no appstream")
def test_the_software_centre_understands_the_description(tmp_path: Path) -> None:
    filled = (
        METAINFO.read_text(encoding="utf-8").replace("@VERSION@", version()).replace("@DATE@", "2026-01-01")
    )
    path = tmp_path / METAINFO.name
    path.write_text(filled, encoding="utf-8")
    command = ["appstreamcli", "validate", "--no-net", str(path)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_name_and_summary_are_there_in_korean_too() -> None:
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    root = ET.parse(METAINFO).getroot()
    assert {item.get(language) for item in root.iter("summary")} == {None, "ko"}
    assert {item.get(language) for item in root.iter("p")} == {None, "ko"}
    assert {"Name[ko]", "GenericName[ko]", "Comment[ko]", "Keywords[ko]"} <= set(entry())


def test_the_version_has_one_home_and_a_place_in_the_changelog() -> None:
    assert version_of("jamak") == version()
    assert f"\n## {version()}" in (FOLDER / "CHANGELOG.md").read_text(encoding="utf-8")
    for path in (
        *FOLDER.rglob("*.sh"),
        *FOLDER.rglob("*.iss"),
        *FOLDER.rglob("*.ps1"),
        FOLDER / "jamak.spec",
    ):
        assert not re.search(rf"\b{re.escape(version())}\b", path.read_text(encoding="utf-8")), path
