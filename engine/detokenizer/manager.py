"""Turns the token ids of all jobs into text: a plain loop between the schedulers and the manager."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from engine.adapters import family, import_families
from engine.adapters.base import AsrText
from engine.config import DetokenizerSettings
from engine.detokenizer.answers import Work, answer_all, ask, internal_failure
from engine.detokenizer.states import StateStore
from engine.ipc import Inbox, Outbox
from engine.messages import (
    Abort,
    BatchEmbeddingOutput,
    BatchStrOutput,
    BatchTokenIDOutput,
    DetokenizerMessage,
    Ended,
    EndedReason,
    Finish,
    FreezeGC,
    LoadText,
    StrOutput,
    TokenIDs,
    WorkerFailed,
    WorkerReady,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.watchdog import Watchdog, tell_manager


def run(settings: DetokenizerSettings) -> None:
    """Serve all models' schedulers until the process is ended."""
    wires = _SocketWires(settings)
    imported = ask(lambda: import_families(settings.config.families), "text")
    if isinstance(imported, Failure):
        wires.send(WorkerFailed(worker=settings.worker, failure=imported))
        wires.close()
        return
    manager = DetokenizerManager(wires, max_states=settings.config.max_detokenizer_states)
    wires.send(WorkerReady(worker=settings.worker))
    while True:
        manager.turn()


class Wires(Protocol):
    """What a detokenizer hears, and says to the manager."""

    def receive(self, timeout_s: float | None) -> list[DetokenizerMessage]:
        """Wait for the first message (None: for ever) and return all there are."""
        ...

    def send(self, message: msgspec.Struct) -> None: ...


class DetokenizerManager:
    """The vocabularies, the requests' states, and one turn after the other."""

    def __init__(self, wires: Wires, *, max_states: int) -> None:
        self._wires = wires
        self._max_states = max_states
        self._states = StateStore(max_states)
        self._loaded: dict[str, LoadText] = {}
        self._texts: dict[str, AsrText | Failure] = {}
        self._handlers: dict[type[DetokenizerMessage], Callable[[Any], None]] = {
            BatchTokenIDOutput: self._on_tokens,
            BatchEmbeddingOutput: self._wires.send,
            Ended: self._on_ended,
            Finish: self._on_job_over,
            Abort: self._on_job_over,
            LoadText: self._on_load_text,
            FreezeGC: self._on_freeze,
        }

    @property
    def num_states(self) -> int:
        return len(self._states)

    def turn(self, timeout_s: float | None = None) -> None:
        """Wait for messages and answer them."""
        for message in self._wires.receive(timeout_s):
            self._handlers[type(message)](message)

    def _on_tokens(self, batch: BatchTokenIDOutput) -> None:
        text = self._texts.get(batch.model)
        if text is None:
            text = internal_failure(batch.model, "its vocabulary was never loaded")
        if isinstance(text, Failure):
            for output in batch.outputs:
                self._end(output, EndedReason.FAILED, text)
            return
        works = [work for output in batch.outputs if (work := self._place(output, text))]
        answers: list[StrOutput] = []
        for work, answer in zip(works, answer_all(text, works, batch.model), strict=True):
            if isinstance(answer, Failure):
                self._end(work.output, EndedReason.FAILED, answer)
                continue
            if answer.finished is not None:
                self._states.drop(answer.key.job, answer.key.chunk)
            answers.append(answer)
        if answers:
            self._wires.send(BatchStrOutput(outputs=tuple(answers)))

    def _place(self, output: TokenIDs, text: AsrText) -> Work | None:
        state = self._states.place(output, text)
        if state is None:
            self._end(output, EndedReason.LOST_STATE, self._lost_state(output))
            return None
        state.extend(output.ids, output.logprobs)
        return Work(output, state)

    def _lost_state(self, output: TokenIDs) -> Failure:
        detail = (
            f"{output.key} goes on at id {output.first_index}, and what came before is not known; "
            f"the limit is {self._max_states} requests at once (JAMAK_DETOKENIZER_MAX_STATES)"
        )
        return failure(FailureKind.LOST_STATE, output.key.job, detail)

    def _end(self, output: TokenIDs, reason: EndedReason, why: Failure) -> None:
        self._states.drop(output.key.job, output.key.chunk)
        self._wires.send(Ended(key=output.key, reason=reason, failure=why))

    def _on_ended(self, ended: Ended) -> None:
        self._states.drop(ended.key.job, ended.key.chunk)
        self._wires.send(ended)

    def _on_job_over(self, message: Finish | Abort) -> None:
        self._states.drop_job(message.job)
        self._wires.send(message)

    def _on_load_text(self, load: LoadText) -> None:
        if self._loaded.get(load.model) == load and not isinstance(self._texts[load.model], Failure):
            return
        self._loaded[load.model] = load
        self._texts[load.model] = ask(lambda: family(load.family).text(Path(load.folder)), load.model)

    def _on_freeze(self, _: FreezeGC) -> None:
        gc.collect()
        gc.freeze()


class _SocketWires:
    """The real wires, with the watchdog that is off while they wait."""

    def __init__(self, settings: DetokenizerSettings) -> None:
        self._inbox: Inbox[DetokenizerMessage] = Inbox(settings.address, DetokenizerMessage)
        self._manager = Outbox(settings.manager_address)
        tell = tell_manager(settings.worker, settings.manager_address)
        self._watchdog = Watchdog(settings.config.hang_s, tell)
        self._watchdog.start()

    def receive(self, timeout_s: float | None) -> list[DetokenizerMessage]:
        with self._watchdog.idle():
            return self._inbox.drain(timeout_s)

    def send(self, message: msgspec.Struct) -> None:
        self._manager.put(message)

    def close(self) -> None:
        self._watchdog.close()
        self._inbox.close()
        self._manager.close()
