"""Runs one command and returns its exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import TextIO

from app.cli.arguments import options, parser
from app.cli.batch import run_batch
from app.cli.console import Console
from app.cli.doctor import run_doctor
from app.cli.models import run_models
from app.cli.self_test import run_self_test
from app.cli.serve import run_serve
from app.cli.session import Session
from app.cli.transcribe import Transcribing, run_transcribe
from app.crashes import EXIT_INTERRUPTED, EXIT_MISUSED
from app.engine_key import find_key
from app.paths import resource
from app.ports import ClientMaker
from app.texts import system_language, tr, use_language
from engine.client.client import EngineClient
from engine.config import EngineConfig, default_config
from engine.export import ExportFormat
from engine.protocol.elsewhere import is_elsewhere, parse_elsewhere
from engine.protocol.failures import FailureError


def run(
    arguments: Sequence[str],
    *,
    make_client: ClientMaker = EngineClient,
    config: EngineConfig | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Run `jamak ARGUMENTS…`; wrong arguments raise SystemExit(2) after a sentence on stderr."""
    _speak_utf8()
    use_language(system_language())
    asked = parser().parse_args(arguments)
    console = Console(out or sys.stdout, err or sys.stderr)
    session = Session(config or default_config(), make_client)
    try:
        match asked.command:
            case "transcribe":
                wish = Transcribing(
                    options=options(asked),
                    format=ExportFormat(asked.format),
                    output_folder=asked.output_dir,
                    num_at_once=asked.jobs,
                )
                use_server(session, console, wish.options.model)
                run_files = run_batch if asked.recursive else run_transcribe
                return run_files(session, console, asked.files, wish)
            case "live":
                # numpy and the sound library are for those who record.
                from app.cli.live import live_wish, run_live

                wish_live = live_wish(asked)
                use_server(session, console, wish_live.options.model)
                return run_live(session, console, wish_live)
            case "models":
                server = getattr(asked, "engine", None) or ""
                use_server(session, console, server)
                return run_models(
                    session, console, asked.action or "list", getattr(asked, "models", []), server=server
                )
            case "serve":
                return run_serve(console, asked, config or default_config())
            case _ if asked.self_test:
                return run_self_test(config or default_config(), make_client, console)
            case _:
                return run_doctor(session, console)
    except FailureError as error:
        console.complain(error.failure)
        return EXIT_MISUSED
    except KeyboardInterrupt:
        # The engine is ended by now, or ends when this process does; a second Ctrl-C need not wait.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        console.note(tr("cli_cancelled"))
        return EXIT_INTERRUPTED
    finally:
        console.clear()


def use_server(session: Session, console: Console, model: str) -> None:
    """Where a model is elsewhere, say where the sound goes, and find the key.

    Raises FailureError (remote_address).
    """
    if not is_elsewhere(model):
        return
    server = parse_elsewhere(model)
    if not server.is_on_this_machine:
        console.note(tr("cli_elsewhere", host=server.host))
    if key := find_key(server.server):
        session.client.use_key(server.server, key)


def run_without_display(files: Sequence[str]) -> int:
    """Do the window's job in the terminal: transcribe `files`, or the sample that ships with the program."""
    use_language(system_language())
    sys.stderr.write(tr("cli_no_display") + "\n")
    return run(["transcribe", "--", *(files or [str(resource("sample.flac"))])])


def _speak_utf8() -> None:
    """Transcripts are in any language; a terminal that cannot show a character shows a stand-in."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
