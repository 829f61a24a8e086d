"""The single-file installer installs, replaces and removes the program, and leaves everything else alone."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.helpers.packaging_scripts import FOLDER

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or not shutil.which("xz"),
    reason="an installer for Linux on x86-64",
)


def installer(folder: Path, version: str) -> Path:
    """Make the file as `run.sh` does, of a program that only says its version."""
    entry = "[Desktop Entry]\nName=Jamak\nExec=jamak %F\n"
    files = {
        "lib/jamak/jamak": f"#!/bin/sh\necho {version}\n",
        f"lib/jamak/_internal/only-in-{version}": "",
        "share/applications/jamak.desktop": entry,
        "share/icons/hicolor/16x16/apps/jamak.png": "picture",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content.encode()))
    payload = packed.getvalue()
    header = (FOLDER / "linux" / "installer.sh").read_text(encoding="utf-8")
    header = header.replace("@VERSION@", version).replace("@KILOBYTES@", "10")
    header = header.replace("@SHA256@", hashlib.sha256(payload).hexdigest())
    header = header.replace("@HEADER_LINES@", str(header.count("\n")))
    path = folder / f"jamak-{version}.run"
    path.write_bytes(header.encode() + payload)
    return path


def ran(*command: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return subprocess.run(["sh", *command], env=environment, capture_output=True, text=True, timeout=30)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Where it is installed: with a space and Korean in its name, and something of the user's in it."""
    folder = tmp_path / "내 프로그램"
    (folder / "share" / "applications").mkdir(parents=True)
    (folder / "share" / "applications" / "other.desktop").write_text("")
    return folder


def test_it_installs_replaces_and_removes(tmp_path: Path, prefix: Path) -> None:
    for version in ("1.0", "1.1"):
        done = ran(installer(tmp_path, version), "--to", prefix, home=tmp_path)
        assert done.returncode == 0, done.stderr
        assert subprocess.check_output([prefix / "bin" / "jamak"], text=True) == f"{version}\n"
    assert [path.name for path in (prefix / "lib/jamak/_internal").iterdir()] == ["only-in-1.1"]
    entry = (prefix / "share/applications/jamak.desktop").read_text(encoding="utf-8")
    assert f'Exec="{prefix}/bin/jamak" %F' in entry

    removed = ran(prefix / "lib/jamak/uninstall.sh", home=tmp_path)
    assert removed.returncode == 0, removed.stderr
    assert "Recordings and transcripts stay" in removed.stdout
    left = {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if not path.is_dir()}
    left = {name for name in left if not name.startswith("share/mime") and "mimeinfo.cache" not in name}
    assert left == {"share/applications/other.desktop"}


def test_a_damaged_file_installs_nothing(tmp_path: Path, prefix: Path) -> None:
    path = installer(tmp_path, "1.0")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    done = ran(path, "--to", prefix, home=tmp_path)
    assert done.returncode == 1
    assert "damaged" in done.stderr
    assert not (prefix / "lib").exists()


def test_it_can_be_unpacked_without_being_installed(tmp_path: Path, prefix: Path) -> None:
    done = ran(installer(tmp_path, "1.0"), "--extract", prefix, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert subprocess.check_output([prefix / "jamak" / "jamak"], text=True) == "1.0\n"
    assert not (prefix / "bin").exists()


def test_what_it_does_not_know_is_told(tmp_path: Path) -> None:
    done = ran(installer(tmp_path, "1.0"), "--uninstal", home=tmp_path)
    assert done.returncode == 2
    assert "--to FOLDER" in done.stderr
