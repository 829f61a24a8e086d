"""The wider speech set: which files there are, what is said in them, and in which set they count."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

SCORED_FOLDERS = ("en", "de", "fr", "es", "ko", "ja", "zh", "longform", "noisy")


@dataclass(frozen=True)
class Clip:
    """One recording; `reference` is "" where nothing is spoken."""

    path: Path
    folder: str
    language: str
    reference: str
    seconds: float


def speech_folder() -> Path:
    """Return the folder of the speech set, or end the program with a sentence."""
    folder = os.environ.get("JAMAK_SPEECH_DIR", "")
    if not (Path(folder) / "manifest.json").is_file():
        sys.exit("Set JAMAK_SPEECH_DIR to the folder of the speech set (the one with manifest.json).")
    return Path(folder)


def read_clips(folder: Path) -> list[Clip]:
    """Return every clip that can be scored, and those in which nothing is spoken."""
    clips = []
    for entry in json.loads((folder / "manifest.json").read_text(encoding="utf-8")):
        group = entry["file"].split("/")[0]
        reference = entry.get("reference_normalised") or entry.get("reference")
        is_quiet = group == "nonspeech" and str(entry.get("reference_status", "")).startswith("no speech")
        if is_quiet:
            reference = ""
        if reference is None or not (group in SCORED_FOLDERS or is_quiet):
            continue
        path = folder / entry["file"]
        clips.append(Clip(path, group, entry["language"], reference, float(entry["seconds"])))
    return clips
