"""`jamak doctor`: what is installed and what works here, as lines to paste into a report."""

from __future__ import annotations

from app.cli.console import Console
from app.cli.models import model_lines
from app.cli.session import Session
from app.display import can_show_windows
from app.paths import library_path, settings_path
from engine.config import cache_folder, log_folder, runtime_folder
from engine.facts import graphics_card, machine_facts
from engine.protocol.events import Diagnosis, Event, JobDone, JobFailed, ModelList


def run_doctor(session: Session, console: Console) -> int:
    """Print every fact; return 1 where the engine cannot be asked, after what is known without it."""
    own_facts = _own_facts()
    known = {name for name, _ in own_facts}
    _print(console, own_facts)
    with session:
        for ask in (session.client.diagnose, session.client.list_models):
            ending = session.finish(ask(), lambda event: _show(console, event, known))
            if isinstance(ending, JobFailed):
                console.result(f"engine: {ending.failure.message}\n")
                if ending.failure.detail:
                    console.result(f"detail: {ending.failure.detail}\n")
            if not isinstance(ending, JobDone):
                return 1
    return 0


def _own_facts() -> list[tuple[str, str]]:
    return [
        *machine_facts(),
        ("graphics card", graphics_card()),
        ("display", "yes" if can_show_windows() else "no"),
        ("library", _path_state(str(library_path()), library_path().exists())),
        ("settings", _path_state(str(settings_path()), settings_path().exists())),
        ("cache", str(cache_folder())),
        ("logs", str(log_folder())),
        ("runtime", str(runtime_folder())),
    ]


def _show(console: Console, event: Event, known: set[str]) -> None:
    if isinstance(event, Diagnosis):
        _print(console, [(name, value) for name, value in event.facts if name not in known])
    elif isinstance(event, ModelList):
        console.result("models:\n" + "".join(f"  {line}\n" for line in model_lines(event.models)))


def _print(console: Console, facts: list[tuple[str, str]]) -> None:
    console.result("".join(f"{name}: {value}\n" for name, value in facts))


def _path_state(path: str, exists: bool) -> str:
    return path if exists else f"{path} (not there yet)"
