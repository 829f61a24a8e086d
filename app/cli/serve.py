"""`jamak serve`: the door for programs that speak OpenAI's transcription API; no Qt."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from app.cli.console import Console
from app.crashes import EXIT_MISUSED
from app.server_key import KEY_VARIABLE, key_path, own_key
from app.texts import tr
from engine.config import EngineConfig
from engine.logs import start_logging
from engine.protocol.elsewhere import is_elsewhere
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options
from engine.server.config import DEFAULT_PORT, ServerConfig, is_loopback

_MEGABYTE: Final = 1_000_000
_LIBRARIES: Final = ("starlette", "uvicorn", "python_multipart", "websockets")


def add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser], epilog: str) -> None:
    """Let `jamak serve` be written."""
    command = commands.add_parser(
        "serve",
        help="let other programs transcribe here, by OpenAI's transcription API",
        description="Serve OpenAI's transcription API (/v1/audio/transcriptions, /v1/realtime …) from this "
        "machine, to itself alone unless --host says otherwise; others must show a key. The address goes to "
        "stdout. Ctrl-C ends it.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="listen on this address; default: %(default)s"
    )
    command.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        metavar="N",
        help="default: %(default)s; 0: any that is free",
    )
    command.add_argument(
        "--model",
        default=Options().model,
        help="what “whisper-1” stands for: a model's key or a checkpoint's folder; default: %(default)s",
    )
    command.add_argument(
        "--require-key",
        action="store_true",
        help=f"ask callers on this machine for a key too: {KEY_VARIABLE}, or the one kept in {key_path()}",
    )
    command.add_argument(
        "--max-upload",
        type=_positive,
        default=1000,
        metavar="MB",
        help="largest recording; default: %(default)s",
    )
    command.add_argument(
        "--max-jobs", type=_positive, default=64, metavar="N", help="uploads at a time; default: %(default)s"
    )
    command.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        help="let a web page call, as https://a.example",
    )
    command.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name callers may use for this machine",
    )
    # The window's switch: the server ends with the window, however that ends.
    command.add_argument("--until-stdin-ends", action="store_true", help=argparse.SUPPRESS)


def run_serve(console: Console, asked: argparse.Namespace, config: EngineConfig) -> int:
    """Serve until told to end; return 0, 1 if the door cannot be opened, 2 if the model is elsewhere."""
    if is_elsewhere(asked.model):
        console.tell("jamak: " + tr("cli_serve_elsewhere", model=asked.model))
        return EXIT_MISUSED
    if any(find_spec(library) is None for library in _LIBRARIES):
        console.tell("jamak: " + tr("cli_serve_libraries"))
        return 1
    try:
        needs_key = asked.require_key or not is_loopback(asked.host)
        key, where = own_key() if needs_key else (None, "")
    except OSError as error:
        console.complain(failure(FailureKind.NOT_READABLE, str(key_path()), str(error)))
        return 1
    # Whoever does not serve need not have the libraries behind it.
    from engine.server.run import listen_on, run_server, url_of

    try:
        listener = listen_on(asked.host, asked.port)
    except OSError as error:
        why = error.strerror or str(error)
        console.tell("jamak: " + tr("cli_serve_port", host=asked.host, port=asked.port, why=why))
        return 1
    start_logging("server", Path(config.log_folder), config.log_level)
    if key is not None:
        console.tell(tr("cli_serve_key", where=where))
    console.result(f"{url_of(listener)}/v1\n")
    door = _server_config(asked, config, key)
    run_server(door, config, listener, ends_with_stdin=asked.until_stdin_ends)
    return 0


def _server_config(asked: argparse.Namespace, config: EngineConfig, key: str | None) -> ServerConfig:
    model = Path(asked.model).expanduser()
    return ServerConfig(
        host=asked.host,
        api_key=key,
        model=str(model.absolute()) if model.is_dir() else asked.model,
        max_upload_bytes=asked.max_upload * _MEGABYTE,
        max_jobs=asked.max_jobs,
        allowed_origins=tuple(asked.allow_origin),
        allowed_hosts=tuple(asked.allow_host),
        uploads_folder=str(Path(config.cache_folder) / "uploads"),
    )


def _positive(text: str) -> int:
    return _within(text, range(1, 1_000_001))


def _port(text: str) -> int:
    return _within(text, range(65_536))


def _within(text: str, allowed: range) -> int:
    if not text.isdecimal() or int(text) not in allowed:
        raise argparse.ArgumentTypeError(
            f"a number from {allowed.start} to {allowed.stop - 1} is wanted, not “{text}”"
        )
    return int(text)
