"""Where the caption window goes: where it was on that screen, else low in its middle; always in reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QRect

from app.settings import CaptionPlace

MIN_WIDTH: Final = 280
_SHARE: Final = 0.62
"""Of the screen's width, where nothing is remembered: about 60 letters."""
_LIFT: Final = 0.06
"""Of the screen's height, between the window and the screen's lower edge."""


def screen_to_use(places: Mapping[str, CaptionPlace], names: Sequence[str]) -> str:
    """Return which of the screens that are there was used last; the first one where none was."""
    return next((name for name in reversed(list(places)) if name in names), names[0])


def rect_on(screen: QRect, place: CaptionPlace | None, height: int) -> QRect:
    """Return the window's rectangle on a screen whose usable part is `screen`, wholly within it."""
    width = place.width if place else round(screen.width() * _SHARE)
    width = min(max(width, MIN_WIDTH), screen.width())
    if place is not None:
        left, top = screen.left() + place.left, screen.top() + place.top
    else:
        left = screen.left() + (screen.width() - width) // 2
        top = screen.bottom() - height - round(screen.height() * _LIFT)
    return within(screen, QRect(left, top, width, height))


def within(screen: QRect, rect: QRect) -> QRect:
    """Return `rect` moved into `screen` where it is beyond it, its upper left corner at least."""
    left = min(rect.left(), screen.left() + screen.width() - rect.width())
    top = min(rect.top(), screen.top() + screen.height() - rect.height())
    return QRect(max(left, screen.left()), max(top, screen.top()), rect.width(), rect.height())


def with_place(
    places: Mapping[str, CaptionPlace], name: str, screen: QRect, rect: QRect
) -> dict[str, CaptionPlace]:
    """Return `places` with the window's newest place on the screen called `name`, as the last one."""
    place = CaptionPlace(rect.left() - screen.left(), rect.top() - screen.top(), rect.width())
    return {**{key: value for key, value in places.items() if key != name}, name: place}
