"""What a vocabulary whose ids stand for bytes says of any of them; the families add what is theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class ByteText:
    """The part of `AsrText` that is the same for byte-level vocabularies: ids to bytes and to text.

    `pieces[id]` are the bytes of an id, empty for special ones; `name` says how one of those is written.
    """

    def __init__(
        self,
        pieces: Sequence[bytes],
        *,
        special_ids: frozenset[int],
        stop_ids: frozenset[int],
        name: Callable[[int], str],
    ) -> None:
        self.special_ids = special_ids
        self.stop_ids = stop_ids
        self._pieces = pieces
        self._name = name

    def decode(self, batch: Sequence[Sequence[int]], *, skip_special: bool) -> list[str]:
        """Return the text of each id list; an incomplete UTF-8 sequence reads as U+FFFD."""
        return [self.text(ids, skip_special=skip_special) for ids in batch]

    def text(self, ids: Sequence[int], *, skip_special: bool = True) -> str:
        """Return the text of one id list."""
        pieces = self.pieces(ids)
        if not skip_special:
            special, name = self.special_ids, self._name
            pieces = tuple(
                name(id_).encode() if id_ in special else piece
                for id_, piece in zip(ids, pieces, strict=True)
            )
        return b"".join(pieces).decode(errors="replace")

    def pieces(self, ids: Sequence[int]) -> tuple[bytes, ...]:
        """Return the bytes of each id; special ids, and ids that do not exist, are empty."""
        table = self._pieces
        return tuple(table[id_] if 0 <= id_ < len(table) else b"" for id_ in ids)
