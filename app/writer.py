"""The one thread that writes to a database: commits in batches, loses nothing it could not write."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from engine.protocol.failures import Failure, FailureError, FailureKind, failure

R = TypeVar("R")
Operation = Callable[[sqlite3.Connection], R]

_MAX_BATCH: Final = 500


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    operation: Operation[Any]
    is_kept: bool
    """Tried again when it could not be written, instead of failing."""
    answer: Future[Any] = field(default_factory=Future)


class Writer:
    """Runs operations in the order they were given, many in one transaction.

    `connect` is called on the writer's thread. An operation sees a connection inside a transaction.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], subject: str) -> None:
        self._connect = connect
        self._subject = subject
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._unwritten: list[_Call] = []
        self._trouble: Failure | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="library-writer", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> Failure | None:
        """Why kept operations wait to be written; None when all are."""
        return self._trouble

    def call(self, operation: Operation[R]) -> R:
        """Run `operation` and return its result once it is committed. Raises FailureError."""
        if self._is_closed:
            raise FailureError(failure(FailureKind.INTERNAL, self._subject, "the library is closed"))
        call = _Call(operation, is_kept=False)
        self._calls.put(call)
        result: R = call.answer.result()
        return result

    def post(self, operation: Operation[object]) -> None:
        """Run `operation` soon and in order; it is kept until it can be committed."""
        self._calls.put(_Call(operation, is_kept=True))

    def settle(self) -> None:
        """Return when everything given so far was tried."""
        if not self._is_closed:
            call = _Call(_nothing, is_kept=False)
            self._calls.put(call)
            call.answer.exception()

    def close(self) -> None:
        """Write what waits and end the thread; idempotent."""
        if not self._is_closed:
            self._is_closed = True
            self._calls.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection = self._connect()
        try:
            while (batch := self._next_batch()) is not None:
                self._write(connection, batch)
        finally:
            connection.close()

    def _next_batch(self) -> list[_Call] | None:
        """Wait for one call and take all that are there; None at the end."""
        call = self._calls.get()
        if call is None:
            return None
        batch = [call]
        while len(batch) < _MAX_BATCH and not self._calls.empty():
            call = self._calls.get()
            if call is None:
                self._calls.put(None)
                break
            batch.append(call)
        return batch

    def _write(self, connection: sqlite3.Connection, batch: list[_Call]) -> None:
        calls = self._unwritten + batch
        answers: list[tuple[_Call, Any, BaseException | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for call in calls:
                answers.append(_try(connection, call))
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._refuse(calls, storage_failure(error, self._subject))
            return
        self._unwritten = []
        self._trouble = None
        for call, result, problem in answers:
            if problem is not None:
                call.answer.set_exception(problem)
            else:
                call.answer.set_result(result)

    def _refuse(self, calls: list[_Call], trouble: Failure) -> None:
        self._unwritten = [call for call in calls if call.is_kept]
        self._trouble = trouble if self._unwritten else None
        for call in calls:
            if not call.is_kept:
                call.answer.set_exception(FailureError(trouble))


def _try(connection: sqlite3.Connection, call: _Call) -> tuple[_Call, Any, BaseException | None]:
    """Run one call so that its own mistake (an unknown id) undoes itself and nothing else."""
    connection.execute("SAVEPOINT one")
    try:
        result = call.operation(connection)
    except sqlite3.Error:
        raise
    except Exception as error:
        connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")
        return call, None, error
    connection.execute("RELEASE one")
    return call, result, None


def _nothing(_connection: sqlite3.Connection) -> None:
    """Only waits for its turn."""


def storage_failure(error: sqlite3.Error, subject: str) -> Failure:
    """Say in a person's words why a database could not be read or written."""
    name = getattr(error, "sqlite_errorname", "")
    detail = f"{name}: {error}"
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return failure(FailureKind.DISK_FULL, subject, detail)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return failure(FailureKind.NOT_READABLE, subject, detail)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return failure(FailureKind.LIBRARY_DAMAGED, subject, detail)
    return failure(FailureKind.INTERNAL, subject, detail)
