"""How models on servers are named, and what is no such name."""

from __future__ import annotations

import pytest

from engine.protocol.elsewhere import (
    Elsewhere,
    host_elsewhere,
    is_elsewhere,
    parse_elsewhere,
    subject_of_model,
)
from engine.protocol.failures import FailureError, FailureKind


@pytest.mark.parametrize(
    ("named", "server", "model"),
    [
        ("http://host:8000/v1", "http://host:8000/v1", ""),
        (" HTTPS://api.example/v1/#whisper-1 ", "https://api.example/v1", "whisper-1"),
        ("http://[::1]:8000/v1#openai/whisper-large-v3", "http://[::1]:8000/v1", "openai/whisper-large-v3"),
    ],
)
def test_an_address_and_a_model_make_a_name_and_come_out_of_it(named: str, server: str, model: str) -> None:
    parsed = parse_elsewhere(named)
    assert (parsed.server, parsed.model) == (server, model)
    assert parse_elsewhere(parsed.key) == parsed


@pytest.mark.parametrize(
    "named",
    ["", "host:8000", "ftp://host/v1", "http://", "http://me:pass@host/v1", "http://host/v1?key=1",
     "http://host:port/v1", "http://host:0/v1", "http://[::1/v1", "http://host/\n"],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_never_repeats_a_password(named: str) -> None:
    with pytest.raises(FailureError) as refused:
        parse_elsewhere(named + "v1" if named.endswith("\n") else named)
    assert refused.value.failure.kind is FailureKind.REMOTE_ADDRESS
    assert "pass" not in refused.value.failure.message


def test_folders_and_keys_are_not_elsewhere() -> None:
    assert [is_elsewhere(name) for name in ("whisper-base", "/models/http", "http.model")] == [False] * 3


def test_a_model_is_called_by_its_own_name() -> None:
    assert subject_of_model("http://host:1/v1#openai/whisper") == "openai/whisper"
    assert subject_of_model("http://host:1/v1") == "host:1"
    assert subject_of_model("/models/whisper-base/") == "whisper-base"
    assert subject_of_model("C:\\models\\whisper-base") == "whisper-base"


@pytest.mark.parametrize(
    ("model", "host"),
    [
        ("whisper-base", ""),
        ("http://127.0.0.1:1/v1#a", ""),
        ("http://localhost/v1", ""),
        ("http://[::1]:2/v1", ""),
        ("https://gpu.lan:8000/v1#a", "gpu.lan:8000"),
        ("http://", ""),
    ],
)
def test_sound_that_stays_on_this_machine_is_not_sent_anywhere(model: str, host: str) -> None:
    assert host_elsewhere(model) == host
    assert Elsewhere("http://127.0.0.1:1/v1").is_on_this_machine
