"""`jamak transcribe --recursive`: folders of recordings, never done twice, never over somebody's own file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from app import texts
from app.cli.batch import alone_in
from app.cli.ledger import FOLDER
from app.cli.run import run
from engine.config import default_config
from engine.protocol.events import Event, JobDone, LanguageDetected
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from tests.helpers.engine_stories import ClientFactory, FakeClient, Story, failed, said, started


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


class Talks:
    """A folder of recordings and the batches run over it; each recording says its own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stories: dict[str, list[Story]] = {}
        self.err = ""
        self.client: FakeClient | None = None

    def add(self, name: str, story: Story | None = None) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\0sound of " + name.encode())
        self.stories[path.name] = [story or saying(path.stem)]
        return path

    def run(self, *arguments: str, err: io.StringIO | None = None) -> int:
        factory = ClientFactory({name: list(stories) for name, stories in self.stories.items()})
        err = err or io.StringIO()
        wanted = ["transcribe", str(self.folder), "--recursive", *arguments]
        code = run(wanted, make_client=factory, config=default_config(), out=io.StringIO(), err=err)
        self.err, self.client = err.getvalue(), factory.client
        return code

    @property
    def asked(self) -> list[str]:
        """The recordings the engine was asked for by the last run, in order of names."""
        assert self.client is not None
        return sorted(Path(one.path).name for one in self.client.asked)


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Talks:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    texts.use_language("en")
    return Talks(tmp_path / "talks")


def saying(text: str) -> Story:
    def tell(job: JobId) -> list[Event]:
        language = LanguageDetected(job=job, language="ko", probability=0.9)
        return [started(job), language, *said(job, f" {text}", 0.0, 2.0), JobDone(job=job, duration=2.0)]

    return tell


def breaking_off(text: str) -> Story:
    """A recording that fails behind its first segment."""
    return lambda job: [*saying(text)(job)[:-1], failed(job, FailureKind.REMOTE_UNREACHABLE, "host")]


def test_every_text_lies_beside_its_recording_in_all_folders(talks: Talks) -> None:
    paths = [talks.add(name) for name in ("a.wav", "one/b.wav", "one/two/c.wav")]
    assert talks.run() == 0
    assert [path.with_suffix(".txt").read_text() for path in paths] == ["a\n", "b\n", "c\n"]


def test_what_is_done_is_not_done_again(talks: Talks) -> None:
    talks.add("a.wav")
    talks.add("b.wav")
    talks.run()
    talks.add("new.wav")
    assert talks.run() == 0
    assert talks.asked == ["new.wav"]
    assert talks.run() == 0
    assert talks.asked == []


def test_a_folder_is_worked_on_by_one_batch_at_a_time(talks: Talks) -> None:
    talks.add("a.wav")
    with alone_in([talks.folder], Path(default_config().runtime_folder)) as is_alone:
        assert is_alone
        assert talks.run() == 1
        assert "another batch" in talks.err
    assert talks.run() == 0
    assert talks.asked == ["a.wav"]


def test_two_batches_in_different_folders_know_nothing_of_each_other(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with alone_in([one], tmp_path / "run") as first, alone_in([two], tmp_path / "run") as second:
        assert first and second


def test_a_batch_is_not_kept_from_its_work_where_no_lock_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file, not a folder")
    with alone_in([tmp_path], tmp_path / "run") as is_alone:
        assert is_alone


@pytest.mark.parametrize("change", ["content", "options", "format", "text is gone"])
def test_what_has_changed_is_done_again(talks: Talks, change: str) -> None:
    path = talks.add("a.wav")
    talks.add("b.wav")
    talks.run()
    arguments = []
    match change:
        case "content":
            path.write_bytes(b"\0another sound")
        case "options":
            arguments = ["--language", "en"]
        case "format":
            arguments = ["--format", "srt"]
        case _:
            path.with_suffix(".txt").unlink()
    assert talks.run(*arguments) == 0
    assert talks.asked == (["a.wav"] if change in ("content", "text is gone") else ["a.wav", "b.wav"])


def test_a_file_that_is_not_ours_is_never_replaced(talks: Talks) -> None:
    path = talks.add("a.wav")
    notes = path.with_suffix(".txt")
    notes.write_text("my own notes")
    assert talks.run() == 0
    assert notes.read_text() == "my own notes"
    assert (talks.folder / "a (2).txt").read_text() == "a\n"


def test_a_text_that_was_corrected_is_kept_when_the_recording_is_done_anew(talks: Talks) -> None:
    path = talks.add("a.wav")
    talks.run()
    path.with_suffix(".txt").write_text("corrected by hand")
    assert talks.run("--language", "en") == 0
    assert path.with_suffix(".txt").read_text() == "corrected by hand"
    assert (talks.folder / "a (2).txt").read_text() == "a\n"


def test_recordings_of_one_name_do_not_share_a_text(talks: Talks) -> None:
    talks.add("a.wav", saying("wave"))
    talks.add("a.mp3", saying("mpeg"))
    assert talks.run() == 0
    assert {path.read_text() for path in talks.folder.glob("*.txt")} == {"wave\n", "mpeg\n"}


def test_failures_are_listed_at_the_end_and_tried_again_by_the_next_run(talks: Talks) -> None:
    bad = talks.add("a/bad.wav", lambda job: [failed(job, FailureKind.BAD_MEDIA, "bad.wav")])
    talks.add("b/good.wav")
    assert talks.run() == 1
    assert talks.err.splitlines()[0].startswith("jamak: 1 of 2")
    assert talks.err.splitlines()[1].startswith(f"  {bad}: “bad.wav” is not an audio")
    talks.stories["bad.wav"] = [saying("better")]
    assert talks.run() == 0
    assert talks.asked == ["bad.wav"]
    assert bad.with_suffix(".txt").read_text() == "better\n"


def test_a_recording_that_broke_off_goes_on_behind_what_was_recognised(talks: Talks) -> None:
    path = talks.add("a.wav", breaking_off("first"))
    assert talks.run() == 1
    assert not path.with_suffix(".txt").exists()
    talks.stories["a.wav"] = [
        lambda job: [started(job), *said(job, " second", 2.0, 3.0), JobDone(job=job, duration=3.0)]
    ]
    assert talks.run() == 0
    assert talks.client is not None
    assert talks.client.asked[0].resume_at_sample == 2 * 16_000
    assert talks.client.asked[0].options.language == "ko"
    assert path.with_suffix(".txt").read_text() == "first\nsecond\n"
    assert [file.name for file in (talks.folder / FOLDER).iterdir()] == ["done.jsonl"]


def test_results_go_into_the_same_folders_below_another(talks: Talks, tmp_path: Path) -> None:
    talks.add("one/b.wav")
    results = tmp_path / "results"
    assert talks.run("--output-dir", str(results), "--format", "vtt") == 0
    assert (results / "one" / "b.vtt").read_text().startswith("WEBVTT")
    assert list(talks.folder.rglob("*.vtt")) == []
    assert talks.run("--output-dir", str(results), "--format", "vtt") == 0
    assert talks.asked == []


def test_as_many_are_at_work_as_was_asked_for(talks: Talks) -> None:
    for number in range(5):
        talks.add(f"{number}.wav", lambda job: [started(job)])
    texts.use_language("en")

    class Enough(Exception):
        """Nothing is told any more."""

    class Silent(Terminal):
        """Ends the run when the bar shows who is at work."""

        def write(self, text: str) -> int:
            if "0.wav" in text and "2.wav" in text:
                raise Enough(text)
            return len(text)

    with pytest.raises(Enough) as shown:
        talks.run("--jobs", "3", err=Silent())
    assert "0 of 5 0.wav, 1.wav, 2.wav" in str(shown.value)


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "1000"])
def test_a_number_that_makes_no_sense_is_refused(talks: Talks, jobs: str) -> None:
    with pytest.raises(SystemExit) as refused:
        talks.run("--jobs", jobs)
    assert refused.value.code == 2


def test_a_batch_moves_with_its_folder(talks: Talks) -> None:
    """The ledger lies beside the texts and names them from there."""
    talks.add("a.wav")
    talks.run()
    talks.folder = talks.folder.rename(talks.folder.with_name("moved"))
    talks.run()
    assert talks.asked == []
