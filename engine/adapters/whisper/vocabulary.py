"""What the ids of a Whisper checkpoint mean: bytes of text, commands, languages and times.

Every id is read from the checkpoint's own files, because the generations of Whisper number them
differently. Torch-free; `tokenizers` is imported only when a prompt has to be encoded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.adapters.small_files import MAX_VOCABULARY_BYTES, read_object, read_text
from engine.protocol.failures import FailureError, FailureKind, failure

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TIMESTAMP_STEP_S: Final = 0.02
NUM_TIMESTAMPS: Final = 1501
"""0.00 s to 30.00 s."""
_GPT2_END_ID: Final = 50256
"""English-only checkpoints keep GPT-2's vocabulary, whose last id this is; they have no use for languages."""
_LANGUAGE: Final = re.compile(r"<\|([a-z]{2,3})\|>")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialIds:
    """The ids that are commands. `languages` is empty for a model that has no choice."""

    start: int
    end: int
    transcribe: int
    translate: int
    previous: int
    no_speech: int
    no_timestamps: int
    first_timestamp: int
    languages: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """A checkpoint's ids. `pieces[id]` is the id's text in UTF-8, empty for special ids."""

    special: SpecialIds
    pieces: tuple[bytes, ...]
    names: Mapping[int, str]
    """The special ids as they are written in a file: `<|en|>`; timestamps are not among them."""
    tokens: Mapping[str, int]
    merges: Sequence[tuple[str, str]] | None
    """None: the folder has none, they follow from the order of `tokens`."""

    @property
    def is_multilingual(self) -> bool:
        return bool(self.special.languages)

    @cached_property
    def special_ids(self) -> frozenset[int]:
        first = self.special.first_timestamp
        return frozenset(self.names) | frozenset(range(first, first + NUM_TIMESTAMPS))

    def name(self, id_: int) -> str:
        """Return how a special id is written: `<|en|>`, `<|1.24|>`."""
        if id_ in self.names:
            return self.names[id_]
        return f"<|{self.timestamp_s(id_):.2f}|>"

    def is_timestamp(self, id_: int) -> bool:
        return 0 <= id_ - self.special.first_timestamp < NUM_TIMESTAMPS

    def timestamp_s(self, id_: int) -> float:
        """Return the seconds within the window that a timestamp id stands for."""
        return round((id_ - self.special.first_timestamp) * TIMESTAMP_STEP_S, 2)

    def encode(self, text: str) -> list[int]:
        """Return the ids of plain text; what looks like a special token in it is text too."""
        ids: list[int] = self._encoder.encode(text, add_special_tokens=False).ids
        return ids

    @cached_property
    def _encoder(self) -> Tokenizer:
        from tokenizers import Tokenizer, models, pre_tokenizers

        tokens = dict(self.tokens)
        merges = self.merges if self.merges is not None else _merges_from_order(tokens)
        tokenizer = Tokenizer(models.BPE(vocab=tokens, merges=list(merges)))
        # The stubs do not know that the property may be set.
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        return tokenizer


def read_vocabulary(folder: Path) -> Vocabulary:
    """Read `tokenizer.json`, `vocab.json` + `merges.txt`, or CTranslate2's `vocabulary.*` of a checkpoint.

    Raises FailureError (model_broken) where there is none or it is not Whisper's.
    """
    try:
        tokens, merges, added = _read_tokens(folder)
        special = _special_ids(added)
        pieces = _pieces(tokens, added, special)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        detail = f"{folder}: {type(error).__name__}: {error}"
        raise FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, detail)) from error
    return Vocabulary(
        special=special,
        pieces=pieces,
        names={id_: name for name, id_ in added.items() if _is_special(name)},
        tokens=tokens,
        merges=merges,
    )


def _read_tokens(folder: Path) -> tuple[dict[str, int], list[tuple[str, str]] | None, dict[str, int]]:
    """Return text tokens, merges and added tokens of whichever files the folder has."""
    merges: list[tuple[str, str]] | None = None
    if (folder / "tokenizer.json").is_file():
        data = read_object(folder / "tokenizer.json", MAX_VOCABULARY_BYTES)
        model, added = data["model"], {entry["content"]: int(entry["id"]) for entry in data["added_tokens"]}
        merges = [_merge(entry) for entry in model["merges"]]
        tokens = dict(model["vocab"])
    elif (folder / "vocab.json").is_file():
        tokens, added = (
            read_object(folder / "vocab.json", MAX_VOCABULARY_BYTES),
            read_object(folder / "added_tokens.json", MAX_VOCABULARY_BYTES),
        )
        lines = read_text(folder / "merges.txt", MAX_VOCABULARY_BYTES).splitlines()
        merges = [_merge(line) for line in lines if " " in line and not line.startswith("#version")]
    else:
        added, tokens = {}, dict(_ct2_tokens(folder))
    for name in [name for name in tokens if _is_special(name)]:
        added.setdefault(name, tokens.pop(name))
    for name in added:
        tokens.pop(name, None)
    return tokens, merges, added


def _merge(entry: str | Sequence[str]) -> tuple[str, str]:
    left, right = entry.split(" ", 1) if isinstance(entry, str) else entry
    return left, right


def _ct2_tokens(folder: Path) -> list[tuple[str, int]]:
    if (folder / "vocabulary.json").is_file():
        names = json.loads(read_text(folder / "vocabulary.json", MAX_VOCABULARY_BYTES))
    else:
        names = read_text(folder / "vocabulary.txt", MAX_VOCABULARY_BYTES).removesuffix("\n").split("\n")
    # Times are written out in newer files, and are known by their distance to <|notimestamps|>.
    return [(name, index) for index, name in enumerate(names) if not re.fullmatch(r"<\|\d+\.\d\d\|>", name)]


def _special_ids(added: Mapping[str, int]) -> SpecialIds:
    """Find the commands by their names. Raises KeyError where one is missing."""
    end, start, no_timestamps = (
        added[f"<|{name}|>"] for name in ("endoftext", "startoftranscript", "notimestamps")
    )
    transcribe, translate = added["<|transcribe|>"], added["<|translate|>"]
    languages = {
        match[1]: id_
        for name, id_ in sorted(added.items(), key=lambda entry: entry[1])
        if (match := _LANGUAGE.fullmatch(name)) and start < id_ < min(translate, transcribe)
    }
    no_speech = added["<|nospeech|>"] if "<|nospeech|>" in added else added["<|nocaptions|>"]
    return SpecialIds(
        start=start,
        end=end,
        transcribe=transcribe,
        translate=translate,
        previous=added["<|startofprev|>"],
        no_speech=no_speech,
        no_timestamps=no_timestamps,
        first_timestamp=no_timestamps + 1,
        languages={} if end == _GPT2_END_ID else languages,
    )


def _pieces(tokens: Mapping[str, int], added: Mapping[str, int], special: SpecialIds) -> tuple[bytes, ...]:
    size = special.first_timestamp + NUM_TIMESTAMPS
    highest = max(*tokens.values(), *added.values())
    if highest >= 2 * size or min(tokens.values()) < 0:
        raise ValueError(f"ids up to {highest} in a vocabulary of {size}")
    table = [b""] * max(size, highest + 1)
    alphabet = byte_alphabet()
    for token, id_ in tokens.items():
        table[id_] = bytes(alphabet[char] for char in token)
    for name, id_ in added.items():
        table[id_] = b"" if _is_special(name) else name.encode()
    return tuple(table)


def byte_alphabet() -> dict[str, int]:
    """Return which byte each character of a token's name stands for (GPT-2's byte-level BPE).

    Printable Latin-1 characters stand for themselves; the other bytes, in order, for U+0100 and up.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    alphabet = {chr(byte): byte for byte in printable}
    for offset, byte in enumerate(byte for byte in range(256) if byte not in printable):
        alphabet[chr(0x100 + offset)] = byte
    return alphabet


def _merges_from_order(tokens: Mapping[str, int]) -> list[tuple[str, str]]:
    """Find the merge that made each token: byte-level BPE gives ids in the order of its merges."""
    merges = []
    for token, rank in sorted(tokens.items(), key=lambda entry: entry[1]):
        parts = list(token)
        while len(parts) > 2:
            pairs = ((tokens.get(a + b, rank), i) for i, (a, b) in enumerate(pairwise(parts)))
            best, index = min(pairs)
            if best >= rank:
                break
            parts[index : index + 2] = [parts[index] + parts[index + 1]]
        if len(parts) == 2:
            merges.append((parts[0], parts[1]))
    return merges


def _is_special(name: str) -> bool:
    return name.startswith("<|") and name.endswith("|>")
