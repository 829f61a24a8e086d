"""Where the key for a server elsewhere is from."""

from __future__ import annotations

import pytest

from app.engine_key import VARIABLE, find_key, is_from_environment


@pytest.mark.parametrize("given", ["sk-1", "sk-1\n", " sk-1\r\n"])
def test_a_key_in_the_environment_counts_without_the_blanks_around_it(given: str) -> None:
    assert is_from_environment({VARIABLE: given})
    assert find_key("http://host/v1", {VARIABLE: given}) == "sk-1"


def test_blanks_are_no_key() -> None:
    assert not is_from_environment({VARIABLE: " \n"})
