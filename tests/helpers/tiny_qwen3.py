"""The tiny Qwen3-ASR of the tests, in both layouts, and the speech it was trained on."""

from __future__ import annotations

import json
import shutil
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors.torch import load_file, save_file

Samples = npt.NDArray[np.float32]

DATA: Final = Path(__file__).parents[1] / "data"
NATIVE: Final = DATA / "tiny_qwen3asr"
CODES: Final = {"English": "en", "Korean": "ko", "Chinese": "zh"}


@dataclass(frozen=True)
class Phrase:
    """One of the twelve recordings."""

    name: str
    language: str
    """Code."""
    text: str
    """As the model writes it."""
    pcm: Samples

    @property
    def told(self) -> str:
        """As it is told: with a space in front where the script has spaces."""
        return self.text if self.language == "zh" else f" {self.text}"


def phrases() -> list[Phrase]:
    """Return the twelve recordings."""
    manifest = json.loads((NATIVE / "manifest.json").read_text(encoding="utf-8"))
    return [
        Phrase(one["id"], CODES[one["language"]], one["text"], read_wav(NATIVE / one["audio"]))
        for one in manifest["utterances"]
    ]


def phrase(name: str) -> Phrase:
    """Return one of the recordings: `en1`, `ko0`, `zh3`."""
    return next(one for one in phrases() if one.name == name)


def read_wav(path: Path) -> Samples:
    with wave.open(str(path)) as file:
        pcm = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return (pcm / 32768.0).astype(np.float32)


def copy_native(folder: Path, **changes: Any) -> Path:
    """Copy the model without its audio to `folder`; `changes` are made in its `config.json`.

    A name may lead inside: `text_config__vocab_size`. Ellipsis takes a setting away.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in NATIVE.iterdir():
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
    change_json(folder / "config.json", **changes)
    return folder


def write_original(folder: Path, **changes: Any) -> Path:
    """Write the model as the original repository lays it out; `changes` as in `copy_native`."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (DATA / "tiny_qwen3asr_legacy").iterdir():
        shutil.copyfile(path, folder / path.name)
    weights = {
        _original_name(name): tensor for name, tensor in load_file(NATIVE / "model.safetensors").items()
    }
    # The original files hold the tied head twice.
    weights["thinker.lm_head.weight"] = weights["thinker.model.embed_tokens.weight"].clone()
    save_file(weights, folder / "model.safetensors")
    change_json(folder / "config.json", **changes)
    return folder


def change_json(path: Path, **changes: Any) -> None:
    """Change settings in a file; see `copy_native`."""
    value = json.loads(path.read_text(encoding="utf-8"))
    for place, change in changes.items():
        *outer, name = place.split("__")
        inner = value
        for key in outer:
            inner = inner[key]
        if change is ...:
            del inner[name]
        else:
            inner[name] = change
    path.write_text(json.dumps(value), encoding="utf-8")


def _original_name(name: str) -> str:
    for ours, theirs in (
        ("model.multi_modal_projector.linear_1.", "thinker.audio_tower.proj1."),
        ("model.multi_modal_projector.linear_2.", "thinker.audio_tower.proj2."),
        ("model.audio_tower.", "thinker.audio_tower."),
        ("model.language_model.", "thinker.model."),
    ):
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    raise ValueError(name)
