"""The bar stays below the text and never on a pipe."""

from __future__ import annotations

import io

from app.cli.console import Console
from tests.app.cli.test_transcribe import Terminal


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 1.0
        return self.now_s


def test_the_bar_gives_way_to_text_and_comes_back() -> None:
    screen = Terminal()
    console = Console(screen, screen, clock=Clock())
    console.progress("a.wav", 0.5, "about 2 min left")
    console.result("text\n")
    console.progress("a.wav", None, "loading")
    assert screen.getvalue() == (
        "\r\x1b[Ka.wav  [############------------]  50 %  about 2 min left"
        "\r\x1b[Ktext\n\r\x1b[Ka.wav  loading"
    )


def test_long_names_are_cut_to_the_width_of_the_terminal() -> None:
    screen = Terminal()
    Console(io.StringIO(), screen, clock=Clock()).progress("한" * 100, 0.1, "x")
    line = screen.getvalue().removeprefix("\r\x1b[K")
    assert "…" in line
    assert len(line.encode("utf-16-le")) // 2 < 80


def test_a_bar_is_not_redrawn_too_often() -> None:
    screen = Terminal()
    console = Console(io.StringIO(), screen, clock=lambda: 5.0)
    console.progress("a", 0.1)
    console.progress("a", 0.2)
    assert screen.getvalue().count("\r") == 1


def test_a_pipe_sees_neither_bar_nor_notes() -> None:
    pipe = io.StringIO()
    console = Console(io.StringIO(), pipe)
    console.progress("a", 0.1)
    console.note("wrote it")
    console.clear()
    assert pipe.getvalue() == ""
