"""Nothing is given away without its licence's text, and nothing under the GPL alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.packaging_scripts import load

licences = load("licences")


def wheel(
    inside: Path, name: str, *, terms: str = "License-Expression: MIT", text: str | None = "Do!"
) -> None:
    folder = inside / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{terms}\n\nHi.\n")
    if text is not None:
        (folder / "licenses").mkdir()
        (folder / "licenses" / "AUTHORS").write_text("Somebody")
        (folder / "licenses" / "LICENSE").write_text(text)


def program(tmp_path: Path) -> tuple[Path, list[str]]:
    """A program without parts, and the arguments that describe it."""
    folder = tmp_path / "jamak"
    (folder / "_internal").mkdir(parents=True)
    media = tmp_path / "media"
    (media / "licences").mkdir(parents=True)
    (media / "licences" / "COPYING").write_text("The Lesser One")
    (media / "version").write_text("8.1\n")
    collected = tmp_path / "collected.json"
    collected.write_text(json.dumps({}))
    return folder, [str(folder), str(collected), str(media)]


def test_every_part_is_listed_with_its_terms_and_text(tmp_path: Path) -> None:
    folder, arguments = program(tmp_path)
    wheel(folder / "_internal", "parcel")
    wheel(folder / "_internal", "older", terms="Classifier: License :: OSI Approved :: BSD License")
    assert licences.main(arguments) == 0
    listed = (folder / "licences" / "components.txt").read_text()
    assert "parcel 1.0\n    terms: MIT\n    text: parcel/" in listed
    assert "older 1.0\n    terms: BSD License" in listed
    assert "FFmpeg 8.1\n    terms: LGPL-2.1-or-later" in listed
    assert (folder / "licences" / "parcel" / "licenses-LICENSE").read_text() == "Do!"
    assert (folder / "licences" / "FFmpeg" / "COPYING").read_text() == "The Lesser One"
    assert "LGPL" in (folder / "licences" / "README.txt").read_text()


def test_a_part_without_a_text_stops_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, arguments = program(tmp_path)
    wheel(folder / "_internal", "secretive", text=None)
    assert licences.main(arguments) == 1
    assert "secretive comes without the text of its licence" in capsys.readouterr().err


@pytest.mark.parametrize(
    "place",
    [
        "av.libs/libx264-d6533a8d.so.165",
        "libx265.so.215",
        "python3.11/lib-dynload/readline.cpython-311-x86_64-linux-gnu.so",
        "libreadline.so.8",
        "PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboardplugin.so",
        "PySide6/Qt/lib/libQt6VirtualKeyboard.so.6",
    ],
)
def test_a_part_under_the_gpl_stops_the_build(
    tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, arguments = program(tmp_path)
    (folder / "_internal" / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / "_internal" / place).write_bytes(b"")
    assert licences.main(arguments) == 1
    assert place in capsys.readouterr().err


def test_libraries_under_the_lgpl_are_no_such_part() -> None:
    places = ["PySide6/Qt/lib/libQt6Core.so.6", "libavcodec.so.62", "numpy.libs/libgfortran-04.so.5.0.0"]
    assert licences.under_the_gpl(places) == []
