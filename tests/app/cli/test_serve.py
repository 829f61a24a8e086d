"""What `jamak serve` refuses before it opens its door."""

from __future__ import annotations

import io

import pytest

from app.cli.run import run
from app.crashes import EXIT_MISUSED


@pytest.mark.parametrize("model", ["http://gpu.lan:8000/v1#whisper-large-v3", "HTTPS://api.example/v1"])
def test_a_model_of_a_server_elsewhere_is_refused_with_a_remedy(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It started, and answered every request that there is no such model."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    out, err = io.StringIO(), io.StringIO()
    assert run(["serve", "--port", "0", "--model", model], out=out, err=err) == EXIT_MISUSED
    assert out.getvalue() == "", "no address is told: nobody listens"
    assert f"“{model}” is on a server elsewhere" in err.getvalue()
    assert "`jamak models list`" in err.getvalue()
