"""`jamak models`: what is known and installed; fetch, check, delete."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app import texts
from app.cli.console import Console
from app.cli.session import Session
from app.texts import tr
from engine.export import columns
from engine.protocol.events import Event, JobDone, JobFailed, ModelList, Progress
from engine.protocol.requests import JobId
from engine.protocol.transcript import ModelInfo


def run_models(
    session: Session, console: Console, action: str, models: Sequence[str], *, server: str = ""
) -> int:
    """Run one action; return 0, or 1 if something failed. With `server`, its models are listed."""
    with session:
        if action == "list":
            return _list(session, console, server)
        client = session.client
        ask, said = {
            "download": (client.download_model, "cli_downloaded"),
            "verify": (client.verify_model, "cli_verified"),
            "remove": (client.remove_model, "cli_removed"),
        }[action]
        return max(_act(session, console, model, (ask, said)) for model in models)


def model_lines(models: Sequence[ModelInfo], memory_bytes: int | None = None) -> list[str]:
    """Return the table of models, ready to be printed. `memory_bytes` is the machine's."""
    rows = [(m.key, texts.size(m.size_bytes), _state(m, memory_bytes), m.note) for m in models]
    widths = [max((columns(row[place]) for row in rows), default=0) for place in range(3)]
    lines = []
    for row in rows:
        cells = [_padded(cell, width) for cell, width in zip(row[:3], widths, strict=True)]
        lines.append("  ".join([*cells, row[3]]).rstrip())
    return lines


def _list(session: Session, console: Console, server: str) -> int:
    def show(event: Event) -> None:
        if isinstance(event, ModelList) and server:
            console.result("".join(f"{model.name}\n" for model in event.models))
        elif isinstance(event, ModelList):
            console.result("".join(line + "\n" for line in model_lines(event.models, event.memory_bytes)))
            free = texts.size(event.free_bytes)
            console.note(tr("cli_free_space", folder=event.folder, free=free))

    return _outcome(console, session.finish(session.client.list_models(server), show))


def _act(session: Session, console: Console, model: str, act: tuple[Callable[[str], JobId], str]) -> int:
    ask, said = act

    def show(event: Event) -> None:
        if isinstance(event, Progress):
            fraction = min(event.done / event.total, 0.99) if event.total else None
            whole = f" / {texts.size(int(event.total))}" if event.total else ""
            console.progress(model, fraction, texts.size(int(event.done)) + whole)

    exit_code = _outcome(console, session.finish(ask(model), show))
    if exit_code == 0:
        console.result(tr(said, model=model) + "\n")
    return exit_code


def _outcome(console: Console, ending: Event) -> int:
    if isinstance(ending, JobFailed):
        console.complain(ending.failure)
    return 0 if isinstance(ending, JobDone) else 1


def _state(model: ModelInfo, memory_bytes: int | None) -> str:
    if not model.is_runnable and not model.companion_of:
        return tr("model_not_runnable")
    phase = tr(f"phase_{model.phase}")
    return tr("model_too_large", phase=phase) if model.is_too_large(memory_bytes) else phase


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - columns(cell))
