"""Writes down what a built program consists of and under which terms, with every licence's text.

    python packaging/licences.py PROGRAM COLLECTED MEDIA

PROGRAM is the built folder, COLLECTED the list of where its files came from, MEDIA the folder of the
packages' own FFmpeg ("-": its place is taken by PyAV's wheel, and then nothing may be published). PROGRAM
gets `licences/`: `README.txt` (terms, and how to exchange the LGPL libraries), `components.txt` and a folder
of texts for each component. Fails where one has no text, or where a part is under the GPL alone.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email import message_from_string
from email.message import Message
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
COMMON: Final = Path("/usr/share/common-licenses")
DOCUMENTS: Final = Path("/usr/share/doc")

# Libraries under the GPL alone that the things we use are sometimes built with, and what Qt gives so.
UNDER_THE_GPL: Final = (
    "*libx264*", "*libx265*", "*libxvidcore*", "*libpostproc*", "*libreadline*", "*readline.*.so",
    "*libgdbm*", "*_gdbm.*", "*libdb-*", "*librubberband*", "*libvidstab*", "*Qt6Charts*",
    "*Qt6DataVisualization*", "*Qt6Graphs*", "*Qt6Quick3D*", "*Qt6VirtualKeyboard*", "*qtvirtualkeyboard*",
    "*Qt6HttpServer*", "*Qt6NetworkAuth*", "*Qt6Lottie*", "*Qt6QuickTimeline*", "*Qt6ShaderTools*",
    "*Qt6WaylandCompositor*", "*Qt6CanvasPainter*",
)  # fmt: skip

# What wheels without texts of their own are under.
TEXTS_OF: Final = {
    "PySide6_Essentials": ("LGPL-3", "GPL-3"),
    "PySide6_Addons": ("LGPL-3", "GPL-3"),
    "shiboken6": ("LGPL-3", "GPL-3"),
    "tokenizers": ("Apache-2.0",),
    "flatbuffers": ("Apache-2.0",),
}
PACKAGE_TEXTS: Final = re.compile(r"^(licen[cs]e|copying|notice|thirdpartynotices)", re.IGNORECASE)


class NoText(Exception):
    """A component's licence cannot be shown."""


@dataclass
class Component:
    """A part made by somebody else."""

    name: str
    version: str
    terms: str
    texts: dict[str, str] = field(default_factory=dict)
    """File name to content."""
    files: list[str] = field(default_factory=list)
    """Where in the program it is, if that is not plain from its name."""


def main(arguments: list[str]) -> int:
    """Write the folder; 1 and the reasons where the program may not be given away as it is."""
    program, collected_path, media = Path(arguments[0]), Path(arguments[1]), arguments[2]
    collected: dict[str, str] = json.loads(collected_path.read_text())
    inside = program / "_internal"
    places = [path.relative_to(inside).as_posix() for path in inside.rglob("*") if path.is_file()]
    if media != "-" and (found := under_the_gpl(places)):
        sys.stderr.write("Under the GPL, and must not be in the program:\n  " + "\n  ".join(found) + "\n")
        return 1
    try:
        components = [python_itself(), *of_wheels(inside), *of_debian(collected, places)]
        if media != "-":
            components.append(ffmpeg(Path(media)))
    except NoText as error:
        sys.stderr.write(f"{error}\n")
        return 1
    write(program / "licences", components)
    print(f"{len(components)} components by others, {sum(len(one.texts) for one in components)} texts")
    return 0


def under_the_gpl(places: Iterable[str]) -> list[str]:
    """Return those files that may not be in a program under the MIT licence."""
    return sorted(place for place in places if any(fnmatch(place, pattern) for pattern in UNDER_THE_GPL))


def python_itself() -> Component:
    """Describe the interpreter and its standard library."""
    text = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    if not text.is_file():
        text = DOCUMENTS / _owner_of(text.parent / "os.py").partition(":")[0] / "copyright"
    if not text.is_file():
        raise NoText("Python's own licence was not found")
    texts = {text.name: text.read_text()}
    return Component("Python", sys.version.split()[0], "PSF-2.0", texts, ["libpython*"])


def of_wheels(inside: Path) -> Iterator[Component]:
    """Describe the Python packages by what they say of themselves."""
    for folder in sorted(inside.glob("*.dist-info"), key=lambda path: path.name.lower()):
        about = message_from_string((folder / "METADATA").read_text(encoding="utf-8"))
        name = about["Name"]
        if name == "jamak":
            continue
        yield Component(name, about["Version"], _terms(about), _texts(folder, name))


def _terms(about: Message) -> str:
    expression = about["License-Expression"] or about["License"] or ""
    if expression and len(expression) < 200:
        return " ".join(expression.split())
    classifiers = [str(value) for value in about.get_all("Classifier", [])]
    return "; ".join(value.rpartition(" :: ")[2] for value in classifiers if value.startswith("License"))


def _texts(folder: Path, name: str) -> dict[str, str]:
    installed = sysconfig.get_path("purelib")
    packages = (Path(installed) / name, Path(installed) / name.replace("-", "_").lower())
    texts = {}
    for root in (folder, *packages):
        paths = root.rglob("*") if root is folder else root.glob("*")
        for path in sorted(paths):
            place = path.relative_to(root)
            is_text = PACKAGE_TEXTS.match(path.name) or (root is folder and "licenses" in place.parts)
            if path.is_file() and is_text and path.suffix != ".py":
                texts["-".join(place.parts)] = path.read_text(encoding="utf-8", errors="replace")
    for common in TEXTS_OF.get(name, TEXTS_OF.get(name.replace("-", "_"), ())):
        texts[f"{common}.txt"] = (COMMON / common).read_text()
    if not texts:
        raise NoText(f"{name} comes without the text of its licence: name it in {Path(__file__).name}")
    return texts


def of_debian(collected: dict[str, str], places: Iterable[str]) -> Iterator[Component]:
    """Describe the system's libraries that were taken along, by the packages they belong to."""
    shipped = set(places)
    owners: dict[str, list[str]] = {}
    for place, source in collected.items():
        is_of_system = source.startswith(("/lib/", "/usr/lib/"))
        if place in shipped and is_of_system:
            owners.setdefault(_owner_of(Path(source)), []).append(place)
    for package, files in sorted(owners.items()):
        name = package.partition(":")[0]
        text = DOCUMENTS / name / "copyright"
        if not text.is_file():
            raise NoText(f"{name} has no {text}")
        version = _run("dpkg-query", "-W", "-f=${Version}", package)
        content = text.read_text(encoding="utf-8", errors="replace")
        named = sorted(set(re.findall(r"(?m)^License: *(\S.*)$", content)))
        terms = f"see its text{': ' if named else ''}{', '.join(named)}"[:300]
        yield Component(f"{name} (Debian)", version, terms, {"copyright": content}, sorted(files))


def _owner_of(path: Path) -> str:
    """Return the Debian package a file belongs to, whichever of its names dpkg knows it by."""
    resolved = path.resolve()
    without_usr = Path("/", *resolved.parts[2:]) if resolved.parts[1] == "usr" else resolved
    for name in (path, resolved, without_usr):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.partition(": ")[0].split(",")[0]
    raise NoText(f"no package owns {path}")


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ffmpeg(media: Path) -> Component:
    """Describe the FFmpeg that reads media, as it was configured."""
    texts = {path.name: path.read_text() for path in (media / "licences").iterdir()}
    version = (media / "version").read_text().strip()
    return Component("FFmpeg", version, "LGPL-2.1-or-later", texts, ["libav*", "libsw*"])


def write(folder: Path, components: list[Component]) -> None:
    """Write texts and lists into `folder`, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lines = []
    for one in components:
        home = folder / re.sub(r"[^\w.-]+", "_", one.name)
        home.mkdir()
        for name, text in one.texts.items():
            (home / name).write_text(text, encoding="utf-8")
        where = f"\n    files: {', '.join(one.files)}" if one.files else ""
        lines.append(f"{one.name} {one.version}\n    terms: {one.terms}\n    text: {home.name}/{where}\n")
    (folder / "components.txt").write_text("\n".join(lines), encoding="utf-8")
    shutil.copyfile(HERE / "terms.txt", folder / "README.txt")
    shutil.copyfile(HERE.parent / "LICENSE", folder / "LICENSE.jamak.txt")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
