"""Has Python's garbage collected on the window's thread and on no other: it may hold widgets."""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_LOOK_EVERY_MS: Final = 1000


class Collector(QObject):
    """Takes the garbage collector's place, from its making until `close`.

    Python collects on whichever thread happens to allocate. A dialog that only a cycle of references
    still holds would be destroyed by the thread that writes the library, and the event loop would fall
    over it: Qt's objects may be deleted on the thread they live on only.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MS)
        self._timer.timeout.connect(collect_what_is_due)
        self._timer.start()

    def close(self) -> None:
        """Let Python collect by itself again."""
        self._timer.stop()
        gc.enable()


def collect_what_is_due() -> None:
    """Collect the oldest generation that Python would collect by now, with all younger ones."""
    due = [
        generation
        for generation, (count, threshold) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
        if count > threshold > 0
    ]
    if due:
        gc.collect(due[-1])
