"""Takes out of a text what is nobody's business: paths and names of recordings, the home folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_SHORTEST_STEM: Final = 4
"""A shorter file name without its ending would be found in every other word."""


class Redactor:
    """Replaces the recordings' paths and names, and the home folder."""

    def __init__(self, recordings: Iterable[str], home: Path) -> None:
        """`recordings` are paths; names, and names without their ending, are taken out too."""
        private: set[str] = set()
        for path in map(Path, recordings):
            private |= {str(path), path.name}
            if len(path.stem) >= _SHORTEST_STEM:
                private.add(path.stem)
        longest_first = sorted(filter(None, private), key=len, reverse=True)
        self._private = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        self._home = str(home)

    def __call__(self, text: str) -> str:
        """Return `text` without them."""
        if self._private is not None:
            text = self._private.sub("(recording)", text)
        return text.replace(self._home, "~") if len(self._home) > 1 else text
