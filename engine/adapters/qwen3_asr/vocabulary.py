"""What the ids of a Qwen3-ASR checkpoint mean: bytes of text, and the marks of its prompt.

Every id is read from the checkpoint's own files. Torch-free; `tokenizers` is imported only when text has
to be encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.adapters.qwen3_asr.config import Qwen3Config
from engine.adapters.small_files import MAX_VOCABULARY_BYTES, read_object, read_text
from engine.adapters.whisper.vocabulary import byte_alphabet
from engine.protocol.failures import FailureError, FailureKind, failure

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_IDS: Final = 1 << 20
_SPACE: Final = b" "
_WORDS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2's tokenizer parts text before it looks for tokens; original folders do not write it down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The ids that are no text, by what they are for."""

    turn_start: int
    turn_end: int
    audio_start: int
    audio_end: int
    audio: int
    text_start: int
    """`<asr_text>`: behind it the transcript begins."""
    timestamp: int | None
    """`<timestamp>`: of an aligner."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """A checkpoint's ids. `pieces[id]` is the id's text in UTF-8, empty for marks."""

    marks: Marks
    stop_ids: frozenset[int]
    pieces: tuple[bytes, ...]
    names: Mapping[int, str]
    """The marks as they are written in a prompt."""
    tokens: Mapping[str, int]
    merges: Sequence[tuple[str, str]]

    @cached_property
    def special_ids(self) -> frozenset[int]:
        return frozenset(self.names)

    @cached_property
    def space_id(self) -> int:
        """The id of a single space."""
        return self.pieces.index(_SPACE)

    def text_of(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without marks; bytes that are no character read as U+FFFD."""
        return b"".join(self.pieces[id_] for id_ in ids).decode(errors="replace")

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of plain text; nothing in it is taken for a mark."""
        return tuple(self._encoder.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _encoder(self) -> Tokenizer:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

        tokenizer = Tokenizer(models.BPE(vocab=dict(self.tokens), merges=list(self.merges)))
        # The stubs do not know that these properties may be set.
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_WORDS), behavior="isolated", invert=False),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        return tokenizer


def read_vocabulary(folder: Path, config: Qwen3Config) -> Vocabulary:
    """Read `tokenizer.json`, or `vocab.json` with `merges.txt` and `tokenizer_config.json`.

    Raises FailureError: model_incomplete where none is there, model_vocabulary where it is another model's.
    """
    try:
        tokens, merges, added = _read_tokens(folder)
        marks = _marks(added, config)
        return Vocabulary(
            marks=marks,
            stop_ids=config.stop_ids or frozenset({marks.turn_end}),
            pieces=_pieces(tokens, added, config),
            names={entry.id: name for name, entry in added.items()},
            tokens=tokens,
            merges=merges,
        )
    except FileNotFoundError as error:
        detail = f"{folder}: no tokenizer.json, and {error.filename} is missing"
        raise FailureError(failure(FailureKind.MODEL_INCOMPLETE, folder.name, detail)) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        detail = f"{folder}: {type(error).__name__}: {error}"
        raise FailureError(failure(FailureKind.MODEL_VOCABULARY, folder.name, detail)) from error


@dataclass(frozen=True, slots=True)
class _Added:
    """A token that is found in a text before any other."""

    id: int
    is_special: bool
    """Left out by programs that skip special tokens."""


def _read_tokens(folder: Path) -> tuple[dict[str, int], list[tuple[str, str]], dict[str, _Added]]:
    """Return text tokens, merges and added tokens of whichever files the folder has."""
    if (folder / "tokenizer.json").is_file():
        data = read_object(folder / "tokenizer.json", MAX_VOCABULARY_BYTES)
        entries = {int(entry["id"]): entry for entry in data["added_tokens"]}
        tokens, merges = dict(data["model"]["vocab"]), data["model"]["merges"]
    else:
        tokens = read_object(folder / "vocab.json", MAX_VOCABULARY_BYTES)
        merges = [
            line
            for line in read_text(folder / "merges.txt", MAX_VOCABULARY_BYTES).splitlines()
            if " " in line and not line.startswith("#version")
        ]
        decoder = read_object(folder / "tokenizer_config.json", MAX_VOCABULARY_BYTES)["added_tokens_decoder"]
        entries = {int(id_): entry for id_, entry in decoder.items()}
    added = {str(entry["content"]): _Added(id_, bool(entry["special"])) for id_, entry in entries.items()}
    text_tokens = {str(name): int(id_) for name, id_ in tokens.items() if name not in added}
    return text_tokens, [_merge(entry) for entry in merges], added


def _merge(entry: str | Sequence[str]) -> tuple[str, str]:
    left, right = entry.split(" ", 1) if isinstance(entry, str) else entry
    return left, right


def _marks(added: Mapping[str, _Added], config: Qwen3Config) -> Marks:
    """Find the marks by their names. Raises KeyError where one is missing, ValueError where one is odd."""
    audio, text_start = added["<|audio_pad|>"].id, added["<asr_text>"]
    if audio != config.audio_id:
        raise ValueError(f"<|audio_pad|> is {audio}, and {config.audio_id} in config.json")
    if text_start.is_special:
        raise ValueError("<asr_text> is special: a program that skips such tokens would never see it")
    timestamp = added.get("<timestamp>")
    return Marks(
        turn_start=added["<|im_start|>"].id,
        turn_end=added["<|im_end|>"].id,
        audio_start=added["<|audio_start|>"].id,
        audio_end=added["<|audio_end|>"].id,
        audio=audio,
        text_start=text_start.id,
        timestamp=timestamp.id if timestamp is not None else None,
    )


def _pieces(tokens: Mapping[str, int], added: Mapping[str, _Added], config: Qwen3Config) -> tuple[bytes, ...]:
    ids = [*tokens.values(), *(entry.id for entry in added.values())]
    if min(ids) < 0 or max(ids) >= min(config.text.num_vocab, MAX_IDS):
        raise ValueError(f"ids up to {max(ids)} for a network of {config.text.num_vocab}")
    if len(set(ids)) != len(ids):
        raise ValueError("two tokens share an id")
    # The network has room for more ids than there are; they are never right, and have no text.
    table = [b""] * config.text.num_vocab
    alphabet = byte_alphabet()
    for token, id_ in tokens.items():
        table[id_] = bytes(alphabet[char] for char in token)
    return tuple(table)
