"""`jamak transcribe`: text on stdout in the order of the files, everything else on stderr."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app import texts
from app.cli.run import run
from engine.config import default_config
from engine.protocol.events import (
    EngineLost,
    Event,
    JobDone,
    LanguageDetected,
    Progress,
    Refused,
    Warned,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, Task
from tests.helpers.engine_stories import ClientFactory, FakeClient, Story, failed, said, started, whole_story

LOST = EngineLost(failure=failure(FailureKind.ENGINE_DIED, ""))


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


class Ran:
    """What a command did: its exit code, both streams, and the client it used."""

    def __init__(
        self, arguments: list[str], stories: dict[str, list[Story]], *, on_terminal: bool = False
    ) -> None:
        factory = ClientFactory(stories)
        out, err = io.StringIO(), Terminal() if on_terminal else io.StringIO()
        self.exit_code = run(arguments, make_client=factory, config=default_config(), out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()
        assert factory.client is not None
        self.client: FakeClient = factory.client


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    texts.use_language("en")


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], str]:
    def make(name: str) -> str:
        (tmp_path / name).write_bytes(b"\0sound")
        return str(tmp_path / name)

    return make


def story(text: str) -> Story:
    def tell(job: JobId) -> list[Event]:
        language = LanguageDetected(job=job, language="en", probability=0.9)
        return [started(job), language, *said(job, f" {text}", 0, 2), JobDone(job=job, duration=2.0)]

    return tell


def ending(kind: FailureKind, subject: str) -> Story:
    return lambda job: [failed(job, kind, subject)]


def test_the_text_goes_to_stdout_and_nothing_else_is_said_when_piped(file: Callable[[str], str]) -> None:
    ran = Ran(["transcribe", file("a.wav")], {"a.wav": [whole_story]})
    assert (ran.exit_code, ran.out, ran.err) == (0, "Hello there.\nGood bye.\n", "")
    assert ran.client.is_started
    assert ran.client.is_closed


def test_texts_come_in_the_order_of_the_files(file: Callable[[str], str]) -> None:
    """The second file is in the engine while the first still runs, and may end before it."""
    held: list[JobId] = []

    def slow(job: JobId) -> list[Event]:
        held.append(job)
        return [started(job), *said(job, " first one", 0, 2)]

    def quick(job: JobId) -> list[Event]:
        return [*story("second")(job), *said(held[0], " first two", 2, 4), JobDone(job=held[0], duration=4)]

    ran = Ran(["transcribe", file("a.wav"), file("b.wav")], {"a.wav": [slow], "b.wav": [quick]})
    assert ran.out == "first one\nfirst two\nsecond\n"


def test_one_bad_file_does_not_stop_the_others(file: Callable[[str], str]) -> None:
    ran = Ran(
        ["transcribe", file("bad.wav"), file("notes.pdf"), "gone.mp3", file("good.wav")],
        {"bad.wav": [ending(FailureKind.BAD_MEDIA, "bad.wav")], "good.wav": [story("good")]},
    )
    assert ran.exit_code == 1
    assert ran.out == "good\n"
    complaints = ran.err.splitlines()
    assert [name in line for name, line in zip(("bad.wav", "notes.pdf", "gone.mp3"), complaints, strict=True)]
    assert "Play it in another program" in complaints[0]


def test_only_refused_files_need_no_engine() -> None:
    ran = Ran(["transcribe", "gone.wav"], {})
    assert ran.exit_code == 1
    assert not ran.client.is_started
    assert "gone.wav" in ran.err


def test_a_bar_is_drawn_for_a_terminal_and_taken_away(file: Callable[[str], str]) -> None:
    ran = Ran(["transcribe", file("a.wav")], {"a.wav": [whole_story]}, on_terminal=True)
    assert "a.wav" in ran.err
    assert ran.err.endswith("\r\x1b[K")
    assert ran.out == "Hello there.\nGood bye.\n"


def test_every_choice_reaches_the_engine(file: Callable[[str], str], tmp_path: Path) -> None:
    model = tmp_path / "my-model"
    model.mkdir()
    arguments = ["--model", str(model), "--language", "KO", "--task", "translate", "--word-timestamps"]
    arguments += ["--initial-prompt", "Style.", "--hotwords", "Jamak", "--audio-track", "1"]
    arguments += ["--no-vad", "--no-fallback"]
    ran = Ran(["transcribe", *arguments, file("a.wav")], {"a.wav": [whole_story]})
    assert ran.client.asked[0].options == Options(
        model=str(model),
        language="ko",
        task=Task.TRANSLATE,
        word_timestamps=True,
        initial_prompt="Style.",
        hotwords="Jamak",
        audio_track=1,
        temperatures=(0.0,),
        vad=False,
    )


def test_without_choices_the_defaults_are_used(file: Callable[[str], str]) -> None:
    ran = Ran(["transcribe", "--language", "auto", file("a.wav")], {"a.wav": [whole_story]})
    assert ran.client.asked[0].options == Options()


@pytest.mark.parametrize(
    ("format", "begin"),
    [("srt", "1\n00:00:00,500 --> "), ("vtt", "WEBVTT\n"), ("json", "{"), ("txt", "Hello")],
)
def test_every_format_is_written(file: Callable[[str], str], format: str, begin: str) -> None:
    ran = Ran(["transcribe", "--format", format, file("a.wav")], {"a.wav": [whole_story]})
    assert ran.out.startswith(begin)


def test_captions_of_several_files_do_not_run_into_one_another(file: Callable[[str], str]) -> None:
    stories: dict[str, list[Story]] = {"a.wav": [story("a")], "b.wav": [story("b")]}
    ran = Ran(["transcribe", "--format", "srt", file("a.wav"), file("b.wav")], stories)
    assert ran.out.count("\n\n1\n") == 1


def test_json_says_what_was_found_out(file: Callable[[str], str]) -> None:
    ran = Ran(["transcribe", "--format", "json", file("a.wav")], {"a.wav": [whole_story]})
    content = json.loads(ran.out)
    assert (content["language"], content["duration"], content["source"]) == ("en", 60.0, "a.wav")
    assert content["model"] == "whisper-base"


def test_files_go_into_a_folder_without_colliding(file: Callable[[str], str], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "texts"
    stories: dict[str, list[Story]] = {"a.wav": [story("wav")], "a.mp3": [story("mp3")]}
    arguments = ["transcribe", "--format", "txt", "--output-dir", str(folder), file("a.wav"), file("a.mp3")]
    ran = Ran(arguments, stories, on_terminal=True)
    assert ran.out == ""
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.txt": "wav\n",
        "a (2).txt": "mp3\n",
    }
    assert str(folder / "a.txt") in ran.err
    assert Ran(arguments, stories).exit_code == 0
    assert len(list(folder.iterdir())) == 2, "the same command replaces its own files"


def test_a_folder_that_cannot_be_made_is_said(file: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    ran = Ran(["transcribe", "--output-dir", str(tmp_path / "taken"), file("a.wav")], {})
    assert ran.exit_code == 1
    assert "taken" in ran.err


def test_a_file_that_cannot_be_written_is_said_and_the_next_goes_on(
    file: Callable[[str], str], tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    (folder / "a.txt").mkdir(parents=True)
    ran = Ran(
        ["transcribe", "--output-dir", str(folder), file("a.wav"), file("b.wav")],
        {"a.wav": [story("a")], "b.wav": [story("b")]},
    )
    assert ran.exit_code == 1
    assert "a.txt" in ran.err
    assert (folder / "b.txt").read_text() == "b\n"
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.txt"]


def test_what_was_recognised_before_a_failure_is_written(file: Callable[[str], str]) -> None:
    def half(job: JobId) -> list[Event]:
        return [started(job), *said(job, " half", 0, 2), failed(job, FailureKind.POISON, "a.wav")]

    ran = Ran(["transcribe", "--format", "srt", file("a.wav")], {"a.wav": [half]})
    assert ran.exit_code == 1
    assert "half" in ran.out
    assert "a.wav" in ran.err


def test_warnings_are_said_and_are_no_failure(file: Callable[[str], str]) -> None:
    warning = failure(FailureKind.DAMAGED_MEDIA, "a.wav")
    stories: dict[str, list[Story]] = {
        "a.wav": [lambda job: [Warned(job=job, failure=warning), *story("text")(job)]]
    }
    ran = Ran(["transcribe", file("a.wav")], stories)
    assert (ran.exit_code, ran.out) == (0, "text\n")
    assert warning.message in ran.err


def test_after_an_engine_death_the_file_goes_on_behind_its_last_segment(file: Callable[[str], str]) -> None:
    def dying(job: JobId) -> list[Event]:
        language = LanguageDetected(job=job, language="ko", probability=0.9)
        died = failed(job, FailureKind.ENGINE_DIED)
        return [started(job), language, *said(job, " one", 0, 1.5), died, LOST]

    def rest(job: JobId) -> list[Event]:
        return [started(job), *said(job, " two", 1.5, 3), JobDone(job=job)]

    ran = Ran(["transcribe", file("a.wav")], {"a.wav": [dying, rest]})
    assert (ran.exit_code, ran.out) == (0, "one\ntwo\n")
    assert ran.client.num_restarts == 1
    assert ran.client.asked[1].resume_at_sample == 24_000
    assert ran.client.asked[1].options.language == "ko"


def test_an_engine_that_keeps_dying_fails_the_file_and_does_not_go_on_for_ever(
    file: Callable[[str], str],
) -> None:
    ran = Ran(
        ["transcribe", file("a.wav"), file("b.wav")],
        {name: [lambda job: [failed(job, FailureKind.ENGINE_DIED), LOST]] for name in ("a.wav", "b.wav")},
    )
    assert ran.exit_code == 1
    assert ran.err.count("The speech engine stopped") == 2


def test_an_engine_that_refuses_fails_every_file_with_its_reason(file: Callable[[str], str]) -> None:
    refused = Refused(failure=failure(FailureKind.PROTOCOL_MISMATCH, ""))
    ran = Ran(
        ["transcribe", file("a.wav"), file("b.wav")],
        {"a.wav": [lambda _: [refused]], "b.wav": [lambda _: []]},
    )
    assert ran.exit_code == 1
    assert ran.err.count("Another version of Jamak") == 2


def test_an_empty_recording_gives_an_empty_text(file: Callable[[str], str]) -> None:
    ran = Ran(["transcribe", file("a.wav")], {"a.wav": [lambda job: [started(job), JobDone(job=job)]]})
    assert (ran.exit_code, ran.out, ran.err) == (0, "", "")


def test_progress_alone_writes_nothing_to_stdout(file: Callable[[str], str]) -> None:
    stories: dict[str, list[Story]] = {
        "a.wav": [
            lambda job: [started(job), Progress(job=job, done=1, total=2, remaining_s=90.0), JobDone(job=job)]
        ]
    }
    assert Ran(["transcribe", file("a.wav")], stories, on_terminal=True).out == ""


def test_ctrl_c_closes_the_engine_and_says_130(file: Callable[[str], str]) -> None:
    def interrupted(job: JobId) -> list[Event]:
        raise KeyboardInterrupt

    ran = Ran(["transcribe", file("a.wav")], {"a.wav": [interrupted]})
    assert (ran.exit_code, ran.err) == (130, "")
    assert ran.client.is_closed


@pytest.mark.parametrize(
    "arguments",
    [[], ["transcribe"], ["transcribe", "a.wav", "--format", "docx"], ["unknown"], ["models", "eat"]],
)
def test_wrong_arguments_are_said_with_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(arguments, make_client=ClientFactory())
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err
