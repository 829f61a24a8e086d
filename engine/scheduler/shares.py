"""How live decodes and files share a network: live runs alone, files are owed a part of its time. Pure."""

from __future__ import annotations

from typing import Final

FILE_SHARE: Final = 0.3
"""Seconds that files may take for each second of live work, so that a long talk does not starve them."""
WORTH_S: Final = 0.1
"""Less than this is not worth keeping live work waiting for."""
MOST_S: Final = 1.0
"""More is neither owed nor taken in advance: an encoded window of a large model takes long."""


LEAST_S: Final = 0.001
"""What a turn of the files counts at least, so that none lasts for ever."""
GRACE_S: Final = 0.3
"""So long after a live decode the next is expected, and no file's window is begun that is not owed."""


class Shares:
    """Counts while both have work; what files do in live pauses is nobody's."""

    def __init__(self) -> None:
        self._owed_s = 0.0

    @property
    def are_files_next(self) -> bool:
        """Whether interim decodes wait for files now."""
        return self._owed_s >= WORTH_S

    def live_took(self, seconds: float) -> None:
        self._owed_s = min(MOST_S, self._owed_s + FILE_SHARE * seconds)

    def files_took(self, seconds: float) -> None:
        self._owed_s = max(-MOST_S, self._owed_s - max(LEAST_S, seconds))
