"""A memory that forgets in time."""

from __future__ import annotations

from engine.adapters.recent import Recent


def test_the_oldest_goes_first_and_use_keeps_young() -> None:
    recent: Recent[str, bytes] = Recent(10, len)
    recent.put("a", b"1234")
    recent.put("b", b"1234")
    assert recent.get("a") == b"1234"
    recent.put("c", b"1234")
    assert recent.get("b") is None
    assert recent.get("a") == b"1234"


def test_what_is_too_large_is_not_kept() -> None:
    recent: Recent[str, bytes] = Recent(3, len)
    recent.put("a", b"1234")
    assert recent.get("a") is None


def test_a_new_value_takes_the_place_of_the_old() -> None:
    recent: Recent[str, bytes] = Recent(4, len)
    recent.put("a", b"1234")
    recent.put("a", b"12")
    recent.put("b", b"34")
    assert (recent.get("a"), recent.get("b")) == (b"12", b"34")
    recent.forget("a")
    recent.forget("a")
    assert recent.get("a") is None
