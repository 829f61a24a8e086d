"""The scheduler's promises: every chunk is answered once, jobs share the batch, none pays for another."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.adapters.base import Admission, Decode, OutOfMemory, Retry
from engine.messages import (
    Abort,
    BatchTokenIDOutput,
    Chunk,
    ChunkKind,
    ConnectDetokenizer,
    DecodingOptions,
    DetokenizerMessage,
    Ended,
    EndedReason,
    Finish,
    FreezeGC,
    LoadText,
    RequestKey,
    SchedulerMessage,
    Stats,
    TokenIDs,
)
from engine.protocol.failures import FailureKind
from engine.scheduler.batch import NetworkLost
from engine.scheduler.scheduler import Scheduler
from tests.helpers.toy import ToyAdapter, ToyOptions, expected_ids, toy_audio

TEXT = LoadText(model="toy-model", family="Toy", folder="somewhere")


class FakeWires:
    """Gives the scheduler what was put into `inbox`, and keeps what it says."""

    def __init__(self) -> None:
        self.inbox: list[SchedulerMessage] = []
        self.sent: list[DetokenizerMessage] = []
        self.told: list[Stats] = []
        self.timeouts: list[float | None] = []

    def receive(self, timeout_s: float | None) -> list[SchedulerMessage]:
        self.timeouts.append(timeout_s)
        messages, self.inbox = self.inbox, []
        return messages

    def send(self, message: DetokenizerMessage) -> None:
        self.sent.append(message)

    def tell(self, message: Stats) -> None:
        self.told.append(message)

    def patience(self) -> AbstractContextManager[None]:
        return nullcontext()

    def connect(self, address: str) -> None:
        self.sent.clear()

    def outputs(self) -> list[TokenIDs]:
        batches = [message for message in self.sent if isinstance(message, BatchTokenIDOutput)]
        return [output for batch in batches for output in batch.outputs]

    def ids(self, job: str, chunk: int) -> list[int]:
        """Return the ids of the last attempt, having checked that they follow one another."""
        ids: list[int] = []
        attempt = -1
        for output in self.outputs():
            if (output.key.job, output.key.chunk) == (job, chunk):
                if output.key.attempt != attempt:
                    attempt, ids = output.key.attempt, []
                assert output.first_index == len(ids)
                ids += output.ids
        return ids

    def finished(self) -> list[tuple[str, int]]:
        return [(output.key.job, output.key.chunk) for output in self.outputs() if output.finished]

    def ended(self) -> list[Ended]:
        return [message for message in self.sent if isinstance(message, Ended)]


class Bench:
    """A scheduler around a toy, with its wires."""

    def __init__(self, folder: Path, **options: object) -> None:
        folder.mkdir(exist_ok=True)
        self.wires = FakeWires()
        self.now_s = 0.0
        self.use(WatchedToy(folder, ToyOptions(**options)))  # type: ignore[arg-type]

    def use(self, adapter: WatchedToy) -> None:
        """Begin anew with another network."""
        self.adapter = adapter
        self.wires.sent.clear()
        self.scheduler = Scheduler(adapter, self.wires, TEXT, worker="scheduler-1", clock=lambda: self.now_s)

    def put(self, *messages: SchedulerMessage) -> None:
        self.wires.inbox += messages

    def turn(self, num_turns: int = 1) -> None:
        for _ in range(num_turns):
            self.scheduler.turn()

    def run(self) -> None:
        """Turn until nothing is left to do."""
        self.turn()
        for _ in range(10_000):
            if not self.scheduler.is_working:
                return
            self.turn()
        pytest.fail("the scheduler never came to rest")


class WatchedToy(ToyAdapter):
    """A toy that notes who ran together; `rows_of` gives jobs more rows."""

    def __init__(self, folder: Path, options: ToyOptions) -> None:
        super().__init__(folder, options)
        self.admitted: list[list[str]] = []
        self.stepped: list[list[str]] = []
        self.rows_of: dict[str, int] = {}
        self.before_admission: Callable[[int], None] = lambda num_windows: None
        self.before_step: Callable[[Sequence[Decode]], None] = lambda running: None

    def rows(self, chunk: Chunk) -> int:
        return self.rows_of.get(chunk.key.job, 1)

    def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
        self.admitted.append([_name(admission.chunk) for admission in admissions])
        self.before_admission(len(admissions))
        return super().admit(admissions)

    def step(self, running: Sequence[Decode]) -> None:
        self.stepped.append([_name(decode.chunk) for decode in running])
        self.before_step(running)
        super().step(running)


def _name(chunk: Chunk) -> str:
    return f"{chunk.key.job}{chunk.key.chunk}"


def _chunk(
    name: str,
    samples: np.ndarray | None = None,
    kind: ChunkKind = ChunkKind.FILE,
    options: DecodingOptions | None = None,
) -> Chunk:
    """Make a chunk from a name like `a3`: job a, chunk 3."""
    audio = toy_audio(0) if samples is None else samples
    return Chunk(
        key=RequestKey(name[0], int(name[1:])),
        kind=kind,
        start_sample=0,
        pcm=audio.astype("<f4").tobytes(),
        options=options or DecodingOptions(),
    )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_chunk_becomes_its_ids_and_one_ending(bench: Bench) -> None:
    audio = toy_audio(1, 2, 3)
    bench.put(_chunk("a0", audio))
    bench.run()
    assert bench.wires.ids("a", 0) == expected_ids(audio)
    assert bench.wires.finished() == [("a", 0)]


def test_the_text_is_named_before_the_first_ids(bench: Bench) -> None:
    bench.put(_chunk("a0"))
    bench.run()
    assert bench.wires.sent[0] == TEXT
    assert all(
        message.model == TEXT.model
        for message in bench.wires.sent[1:]
        if isinstance(message, BatchTokenIDOutput)
    )


def test_the_first_output_carries_language_and_forced_prefix(bench: Bench) -> None:
    bench.put(_chunk("a0"))
    bench.turn()
    (first,) = bench.wires.outputs()
    assert (first.language, first.language_probability, first.first_index) == ("en", 0.9, 0)
    assert first.prefix_ids
    bench.turn()
    assert bench.wires.outputs()[1].prefix_ids == ()


def test_an_answer_says_where_the_speech_of_its_chunk_was(bench: Bench) -> None:
    bench.put(msgspec.structs.replace(_chunk("a0"), speech=((0.5, 1.25),)))
    bench.turn(20)
    (finished,) = [output.finished for output in bench.wires.outputs() if output.finished is not None]
    assert finished.speech == ((0.5, 1.25),)


def test_a_language_is_told_before_there_are_ids(bench: Bench) -> None:
    class Slow(WatchedToy):
        def step(self, running: Sequence[Decode]) -> None:
            pass

    bench.use(Slow(Path(), ToyOptions()))
    bench.put(_chunk("a0"))
    bench.turn(2)
    assert [(output.language, output.ids) for output in bench.wires.outputs()] == [("en", ())]


def test_chunks_of_several_jobs_run_together_and_leave_one_by_one(bench: Bench) -> None:
    bench.put(_chunk("a0", toy_audio(0)), _chunk("b0", toy_audio(0, 1, 2, 3)), _chunk("a1", toy_audio(0, 0)))
    bench.turn(2)
    assert bench.adapter.stepped[1] == ["a0", "b0", "a1"]
    bench.put(_chunk("c0"))
    bench.run()
    assert ["a0", "b0", "a1", "c0"] in bench.adapter.stepped
    assert bench.wires.finished() == [("a", 0), ("c", 0), ("a", 1), ("b", 0)]


def test_no_more_rows_run_than_there_are_slots(bench: Bench) -> None:
    bench.put(*[_chunk(f"a{index}") for index in range(9)])
    bench.run()
    assert max(len(running) for running in bench.adapter.stepped) == bench.adapter.slots
    assert sorted(bench.wires.finished()) == [("a", index) for index in range(9)]


def test_newcomers_come_one_by_one_where_encoding_takes_long(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=10)

    def encode_slowly(num_windows: int) -> None:
        bench.now_s += 1.5 * num_windows

    bench.adapter.before_admission = encode_slowly
    bench.put(*[_chunk(f"a{index}", toy_audio(0, 1, 2)) for index in range(9)])
    bench.turn(3)
    assert [len(names) for names in bench.adapter.admitted] == [4, 1, 1]


def test_silence_is_answered_without_a_step(bench: Bench) -> None:
    bench.put(_chunk("a0", toy_audio(None)))
    bench.run()
    assert bench.wires.ids("a", 0) == []
    assert bench.wires.finished() == [("a", 0)]


def test_a_chunk_that_is_here_already_is_ignored_and_an_answered_one_is_decoded_again(bench: Bench) -> None:
    bench.put(_chunk("a0"), _chunk("a0"))
    bench.turn()
    bench.put(_chunk("a0"))
    bench.run()
    assert bench.wires.finished() == [("a", 0)]
    bench.put(_chunk("a0"))
    bench.run()
    assert bench.wires.finished() == [("a", 0), ("a", 0)]


def test_a_retry_is_a_new_attempt_in_front_of_its_job(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=1, num_retries=1)
    options = DecodingOptions(temperatures=(0.0, 0.4))
    bench.put(_chunk("a0", options=options), _chunk("a1"))
    bench.run()
    assert bench.adapter.admitted == [["a0"], ["a0"], ["a1"]]
    last = next(output for output in bench.wires.outputs() if output.finished)
    assert last.key == RequestKey("a", 0, 1)
    assert last.finished is not None and last.finished.temperature == 0.4
    assert bench.wires.ids("a", 0) == expected_ids(toy_audio(0))


def test_an_adapter_that_never_stops_objecting_cannot_hold_a_job_for_ever(bench: Bench) -> None:
    class Stubborn(WatchedToy):
        def step(self, running: Sequence[Decode]) -> None:
            running[0].outcome = Retry("never content")

    bench.use(Stubborn(Path(), ToyOptions()))
    bench.put(_chunk("a0", options=DecodingOptions(temperatures=(0.0, 0.2))))
    bench.run()
    # Both temperatures, and once more for the best of them.
    assert bench.adapter.admitted == [["a0"]] * 3
    (ended,) = bench.wires.ended()
    assert ended.reason is EndedReason.FAILED


def test_abort_drops_what_waits_and_runs_and_is_passed_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=1)
    bench.put(_chunk("a0"), _chunk("a1"), _chunk("b0"))
    bench.turn(2)
    bench.put(Abort(job="a"), Finish(job="b", num_chunks=1))
    bench.run()
    assert bench.wires.finished() == [("b", 0)]
    aborted = bench.wires.sent.index(Abort(job="a"))
    assert all(
        output.key.job != "a"
        for message in bench.wires.sent[aborted:]
        if isinstance(message, BatchTokenIDOutput)
        for output in message.outputs
    )


def test_an_abort_at_any_turn_is_the_last_word_of_its_job(tmp_path: Path) -> None:
    audio = toy_audio(0, 1, 2)
    for turn in range(25):
        bench = Bench(tmp_path, slots=2)
        bench.put(*[_chunk(f"a{index}", audio) for index in range(4)], Finish(job="a", num_chunks=4))
        bench.turn(turn)
        bench.put(Abort(job="a"))
        bench.run()
        assert bench.wires.sent[-1] == Abort(job="a")
        assert bench.wires.sent.count(Abort(job="a")) == 1


def test_finish_is_passed_on_when_the_last_chunk_is_out(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=1)
    finish = Finish(job="a", num_chunks=2)
    bench.put(_chunk("a0"), _chunk("a1"), finish)
    bench.run()
    assert bench.wires.sent[-1] == finish
    assert bench.wires.sent.count(finish) == 1
    bench.put(finish)
    bench.turn()
    assert bench.wires.sent.count(finish) == 2


def test_a_newer_interim_answers_the_one_that_waits(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=1)
    bench.put(_chunk("a0", toy_audio(0, 0)))
    bench.turn()
    bench.put(_chunk("l1", kind=ChunkKind.INTERIM), _chunk("l2", kind=ChunkKind.INTERIM))
    bench.run()
    assert bench.wires.ended() == [Ended(key=RequestKey("l", 1), reason=EndedReason.SUPERSEDED)]
    assert bench.wires.finished() == [("a", 0), ("l", 2)]


def test_a_closing_decode_takes_the_place_of_the_interim_that_runs(tmp_path: Path) -> None:
    """Two rows of one session would take a second slot's memory, and both of them longer."""
    bench = Bench(tmp_path)
    bench.put(_chunk("l1", kind=ChunkKind.INTERIM))
    bench.turn(2)
    assert bench.adapter.stepped[-1] == ["l1"]
    bench.put(_chunk("l2", kind=ChunkKind.CLOSING))
    bench.run()
    assert bench.wires.ended() == [Ended(key=RequestKey("l", 1), reason=EndedReason.SUPERSEDED)]
    assert bench.wires.finished() == [("l", 2)]
    assert all(rows in (["l1"], ["l2"]) for rows in bench.adapter.stepped)


def test_live_work_runs_alone_and_files_go_on_behind_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.put(_chunk("a0"), _chunk("a1"))
    bench.turn(2)
    bench.put(_chunk("l0", kind=ChunkKind.INTERIM), _chunk("a2"))
    bench.turn()
    while "l0" in bench.adapter.stepped[-1]:
        assert bench.adapter.stepped[-1] == ["l0"]
        bench.turn()
    assert bench.adapter.stepped[-1] == ["a0", "a1"]
    assert ["a2"] not in bench.adapter.admitted
    bench.now_s += 1.0
    bench.run()
    assert ("a", 2) in bench.wires.finished()


def test_a_long_talk_does_not_starve_the_files(tmp_path: Path) -> None:
    """Interim decodes come one right after the other; files get their part of the time."""
    bench = Bench(tmp_path)

    def spend(_: Sequence[Decode]) -> None:
        bench.now_s += 0.01

    bench.adapter.before_step = spend
    bench.put(_chunk("a0"), _chunk("l0", kind=ChunkKind.INTERIM))
    for index in range(1, 60):
        bench.turn(12)
        bench.put(_chunk(f"l{index}", kind=ChunkKind.INTERIM))
    assert ("a", 0) in bench.wires.finished()
    live = sum(row[0].startswith("l") for row in bench.adapter.stepped)
    assert live > 0.6 * len(bench.adapter.stepped)


def test_a_closing_decode_waits_for_no_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.adapter.before_step = lambda _: setattr(bench, "now_s", bench.now_s + 1.0)
    bench.put(_chunk("a0"), _chunk("l0", kind=ChunkKind.INTERIM))
    bench.turn(30)
    bench.put(_chunk("l1", kind=ChunkKind.CLOSING))
    bench.turn()
    assert bench.adapter.stepped[-1] == ["l1"]


def test_a_slot_stays_free_for_live_work_until_the_session_ends(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=2)
    bench.put(_chunk("l0", kind=ChunkKind.CLOSING))
    bench.run()
    bench.now_s += 1.0
    bench.put(*[_chunk(f"a{index}") for index in range(4)])
    bench.turn(3)
    assert bench.adapter.stepped[-1] == ["a0"]
    bench.put(Finish(job="l", num_chunks=1))
    bench.turn(2)
    assert bench.adapter.stepped[-1] == ["a0", "a1"]


def test_out_of_memory_halves_the_slots_and_loses_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=8, max_rows=3)
    bench.put(*[_chunk(f"a{index}", toy_audio(index)) for index in range(6)])
    bench.run()
    assert bench.adapter.slots == 2
    assert sorted(bench.wires.finished()) == [("a", index) for index in range(6)]
    for index in range(6):
        assert bench.wires.ids("a", index) == expected_ids(toy_audio(index))


def test_out_of_memory_in_a_step_begins_again_without_a_hotter_temperature(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def run_out(running: Sequence[Decode]) -> None:
        if len(running) > 1 and len(running[0].ids) == 2:
            raise OutOfMemory

    bench.adapter.before_step = run_out
    bench.put(_chunk("a0"), _chunk("a1"))
    bench.run()
    assert bench.adapter.slots == 1
    for output in bench.wires.outputs():
        assert output.finished is None or output.finished.temperature == 0.0
    assert bench.wires.ids("a", 0) == bench.wires.ids("a", 1) == expected_ids(toy_audio(0))


def test_a_single_chunk_without_room_fails_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_rows=0)
    bench.put(_chunk("a0"), _chunk("b0"))
    bench.run()
    assert [(ended.key.job, ended.failure and ended.failure.kind) for ended in bench.wires.ended()] == [
        ("a", FailureKind.OUT_OF_MEMORY),
        ("b", FailureKind.OUT_OF_MEMORY),
    ]
    assert bench.wires.ended()[0].failure.subject == "toy-model"  # type: ignore[union-attr]


def test_a_decoding_with_more_rows_than_slots_is_answered_instead_of_waiting_for_ever(bench: Bench) -> None:
    bench.adapter.rows_of["a"] = 5
    bench.put(_chunk("a0"), _chunk("b0"))
    bench.run()
    (ended,) = bench.wires.ended()
    assert (ended.key.job, ended.reason) == ("a", EndedReason.FAILED)
    assert bench.wires.finished() == [("b", 0)]


def test_a_newcomer_that_cannot_be_decoded_fails_alone(bench: Bench) -> None:
    bench.put(_chunk("a0"), _chunk("b0", options=DecodingOptions(language="xx")), _chunk("c0"))
    bench.run()
    (ended,) = bench.wires.ended()
    assert ended.key == RequestKey("b", 0)
    assert ended.failure is not None and ended.failure.kind is FailureKind.LANGUAGE_UNKNOWN
    assert sorted(bench.wires.finished()) == [("a", 0), ("c", 0)]


def test_an_exception_of_a_step_is_pinned_on_the_guilty_chunk(tmp_path: Path) -> None:
    bench = Bench(tmp_path, raise_from=0.1)
    _check_that_b0_alone_fails(bench)


def test_an_exception_of_an_admission_is_pinned_on_the_guilty_chunk(bench: Bench) -> None:
    class Picky(WatchedToy):
        def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
            if any(_name(admission.chunk) == "b0" for admission in admissions):
                raise ArithmeticError("cannot be encoded")
            return super().admit(admissions)

    bench.use(Picky(Path(), ToyOptions()))
    _check_that_b0_alone_fails(bench)


def _check_that_b0_alone_fails(bench: Bench) -> None:
    loud, quiet = toy_audio(7), toy_audio(0, 1)
    bench.put(_chunk("a0", quiet), _chunk("b0", loud), _chunk("a1", quiet), _chunk("c0", quiet))
    bench.run()
    (ended,) = bench.wires.ended()
    assert (ended.key.job, ended.key.chunk, ended.reason) == ("b", 0, EndedReason.FAILED)
    assert ended.failure is not None and ended.failure.kind is FailureKind.INTERNAL
    assert "ArithmeticError" in ended.failure.detail
    assert sorted(bench.wires.finished()) == [("a", 0), ("a", 1), ("c", 0)]
    assert bench.wires.ids("a", 1) == expected_ids(quiet)


def test_no_chunk_is_blamed_for_a_device_that_is_broken_for_good(bench: Bench) -> None:
    class Faulty(WatchedToy):
        """Fails at the first step of `b0`, and from then on at everything."""

        is_lost = False

        def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
            if self.is_lost:
                raise ArithmeticError("device-side assert")
            return super().admit(admissions)

        def step(self, running: Sequence[Decode]) -> None:
            self.is_lost = self.is_lost or any(_name(decode.chunk) == "b0" for decode in running)
            if self.is_lost:
                raise ArithmeticError("device-side assert")
            super().step(running)

    for names in (["a0", "b0", "c0"], ["b0", "c0"], ["b0"]):
        bench.use(Faulty(Path(), ToyOptions()))
        bench.put(*[_chunk(name) for name in names])
        with pytest.raises(NetworkLost, match="device-side assert"):
            bench.run()
            bench.put(_chunk("c0"))
            bench.run()
        assert [ended.key.job for ended in bench.wires.ended()] in ([], ["b"])


def test_memory_that_runs_out_while_the_guilty_is_looked_for_sends_the_rest_back(bench: Bench) -> None:
    class Tight(WatchedToy):
        """Cannot encode two together; has room for one row at first sight of the second."""

        def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
            if len(admissions) > 1:
                raise ArithmeticError("cannot be encoded together")
            if self._pending and self.slots > 1:
                raise OutOfMemory
            return super().admit(admissions)

    bench.use(Tight(Path(), ToyOptions()))
    bench.put(_chunk("a0"), _chunk("a1"), _chunk("a2"))
    bench.run()
    assert bench.adapter.slots == 1
    assert bench.wires.ended() == []
    assert bench.wires.finished() == [("a", 0), ("a", 1), ("a", 2)]


def test_a_new_detokenizer_hears_everything_of_what_runs_from_the_start(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=1)
    audio = toy_audio(0, 1)
    bench.put(_chunk("a0", audio), _chunk("a1", audio))
    bench.turn(4)
    bench.put(ConnectDetokenizer(address="new"), _chunk("a0", audio), _chunk("a1", audio))
    bench.run()
    assert bench.wires.sent[0] == TEXT
    first = bench.wires.outputs()[0]
    assert (first.key.attempt, first.first_index, first.language) == (1, 0, "en")
    assert first.prefix_ids
    assert len(first.ids) == 5
    assert bench.wires.ids("a", 0) == bench.wires.ids("a", 1) == expected_ids(audio)
    assert bench.wires.finished() == [("a", 0), ("a", 1)]


def test_an_idle_scheduler_waits_and_a_working_one_does_not(bench: Bench) -> None:
    bench.scheduler.turn(None)
    bench.put(_chunk("a0"))
    bench.scheduler.turn(7.0)
    bench.scheduler.turn(7.0)
    assert bench.wires.timeouts == [None, 7.0, 0]


def test_stats_are_told_once_a_second_while_there_is_work(bench: Bench) -> None:
    bench.turn()
    assert bench.wires.told == []
    bench.put(*[_chunk(f"a{index}", toy_audio(0, 1, 2)) for index in range(6)])
    bench.turn(3)
    (told,) = bench.wires.told
    assert (told.worker, told.num_waiting, told.num_running, told.num_slots) == ("scheduler-1", 2, 4, 4)
    bench.now_s += 1.0
    bench.turn(3)
    assert len(bench.wires.told) == 2


def test_the_last_stats_count_all_that_was_done(bench: Bench) -> None:
    audio = toy_audio(0, 1, 2)
    bench.put(*[_chunk(f"a{index}", audio) for index in range(6)])
    bench.run()
    last = bench.wires.told[-1]
    assert (last.num_waiting, last.num_running) == (0, 0)
    assert last.work.num_tokens == 6 * len(expected_ids(audio))
    assert last.work.num_steps == 2 * (len(expected_ids(audio)) + 1), "four at a time, then two"
    assert last.work.num_prefills == 2
    assert last.work.audio_s == 6 * len(audio) / 16_000
    num_told = len(bench.wires.told)
    bench.turn(3)
    assert len(bench.wires.told) == num_told, "and then there is nothing to tell"


def test_freezing_takes_what_is_there_out_of_the_collectors_sight(bench: Bench) -> None:
    bench.put(FreezeGC())
    try:
        bench.turn()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
