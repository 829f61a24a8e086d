"""`jamak models` and `jamak doctor`."""

from __future__ import annotations

import io

import msgspec
import pytest

from app import texts
from app.cli.models import model_lines
from app.cli.run import run
from engine.config import default_config
from engine.protocol.events import Diagnosis, Event, JobDone, ModelList, Progress, Refused
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import ModelInfo, ModelPhase
from tests.helpers.engine_stories import ClientFactory, Story, failed


def model(key: str, phase: ModelPhase, *, is_runnable: bool = True) -> ModelInfo:
    return ModelInfo(
        key=key,
        name=key,
        family="whisper",
        size_bytes=145_000_000,
        languages=("en", "ko"),
        can_translate=True,
        phase=phase,
        note="A good start.",
        is_runnable=is_runnable,
    )


MODELS = (
    model("whisper-base", ModelPhase.INSTALLED),
    model("whisper-large-v3", ModelPhase.MISSING),
    model("qwen3-asr", ModelPhase.MISSING, is_runnable=False),
)


def answer(job: JobId) -> list[Event]:
    what = job.partition("-")[0]
    if what == "list":
        return [ModelList(job=job, models=MODELS, folder="/data/models", free_bytes=10**10), JobDone(job=job)]
    if what == "diagnose":
        return [Diagnosis(job=job, facts=(("device", "CPU"), ("torch", "2.13"))), JobDone(job=job)]
    return [Progress(job=job, done=50.0, total=100.0), JobDone(job=job)]


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    texts.use_language("en")


def ran(arguments: list[str], story: Story = answer) -> tuple[int, str, str, ClientFactory]:
    factory = ClientFactory(answer=story)
    out, err = io.StringIO(), io.StringIO()
    exit_code = run(arguments, make_client=factory, config=default_config(), out=out, err=err)
    return exit_code, out.getvalue(), err.getvalue(), factory


@pytest.mark.parametrize("arguments", [["models"], ["models", "list"]])
def test_models_are_listed_with_size_and_state(arguments: list[str]) -> None:
    exit_code, out, err, factory = ran(arguments)
    assert (exit_code, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["whisper-base", "145", "MB"],
        ["whisper-large-v3", "145", "MB"],
        ["qwen3-asr", "145", "MB"],
    ]
    assert "installed" in out
    assert "not downloaded" in out
    assert "cannot be run" in out
    assert factory.client is not None
    assert factory.client.is_closed


@pytest.mark.parametrize(
    ("action", "said"), [("download", "downloaded"), ("verify", "as it should be"), ("remove", "removed")]
)
def test_each_model_named_is_dealt_with(action: str, said: str) -> None:
    exit_code, out, _, factory = ran(["models", action, "a", "b"])
    assert exit_code == 0
    assert out.count(said) == 2
    assert factory.client is not None
    assert factory.client.models == [(action, "a"), (action, "b")]


def test_one_that_fails_is_said_and_the_next_goes_on() -> None:
    def story(job: JobId) -> list[Event]:
        return [failed(job, FailureKind.MODEL_UNKNOWN, "a")] if job.endswith("1") else [JobDone(job=job)]

    exit_code, out, err, _ = ran(["models", "verify", "a", "b"], story)
    assert exit_code == 1
    assert out.startswith("b:")
    assert "“a” is not a model" in err


def test_the_doctor_says_what_is_here_and_what_the_engine_finds() -> None:
    exit_code, out, err, _ = ran(["doctor"])
    assert (exit_code, err) == (0, "")
    facts = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
    assert {"jamak", "python", "system", "display", "av", "library", "device"} <= facts.keys()
    assert "whisper-base" in out


def test_the_doctor_says_what_it_can_where_the_engine_does_not_start() -> None:
    reason = failure(FailureKind.PROTOCOL_MISMATCH, "", "version 0")
    exit_code, out, _, _ = ran(["doctor"], lambda _: [Refused(failure=reason)])
    assert exit_code == 1
    assert "python: " in out
    assert "engine: Another version" in out
    assert "detail: version 0" in out


def test_a_model_that_this_machine_cannot_bear_and_a_companion_say_so() -> None:
    large = msgspec.structs.replace(model("large", ModelPhase.MISSING), memory_bytes=9 * 10**9)
    helper = msgspec.structs.replace(
        model("aligner", ModelPhase.MISSING, is_runnable=False), companion_of="Qwen3ASR"
    )
    lines = model_lines((large, helper), memory_bytes=8 * 10**9)
    assert "too large" in lines[0]
    assert "cannot be run" not in lines[1]
    assert "too large" not in model_lines((large,), memory_bytes=None)[0]
