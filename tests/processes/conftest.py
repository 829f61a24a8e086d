"""What tests of a whole engine share: a long file, and what it says. Their modules have each a `bench`."""

from __future__ import annotations

import pytest

from tests.helpers.bench import Bench


@pytest.fixture(scope="module")
def long_file(bench: Bench) -> str:
    """Five chunks, none of them with the loudest word."""
    return bench.long_file("long", seed=7)


@pytest.fixture(scope="module")
def long_text(bench: Bench, long_file: str) -> str:
    """What the long file says when nothing goes wrong."""
    return bench.text(bench.transcribe(long_file, bench.model("calm")))
