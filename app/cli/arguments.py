"""What may be written behind `jamak`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import msgspec

from app.cli.serve import add_serve
from app.texts import tr
from engine.export import ExportFormat
from engine.facts import version_of
from engine.protocol.elsewhere import Elsewhere, parse_elsewhere
from engine.protocol.transcript import Mode, Options, Task

_DETECT: Final = frozenset({"auto", "detect", ""})

_MAX_JOBS: Final = 64
SHORTEST_CHUNK_S: Final = 0.5
LONGEST_CHUNK_S: Final = 10.0
_EXIT_CODES: Final = """exit codes:
  0    everything was done
  1    something failed; each failure is named on stderr, the rest was done
  2    the arguments are wrong
  130  interrupted (Ctrl-C)
  141  the reader of stdout went away"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    root = argparse.ArgumentParser(
        prog="jamak",
        description=tr("cli_description") + " Without arguments, or with files alone, it opens its window.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"jamak {version_of('jamak')}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_transcribe(commands)
    _add_live(commands)
    _add_models(commands)
    add_serve(commands, _EXIT_CODES)
    doctor = commands.add_parser(
        "doctor", help="say what is installed and what works here, ready to be pasted"
    )
    doctor.add_argument(
        "--self-test", action="store_true", help="transcribe the sample that ships with the program instead"
    )
    return root


def _chunk_s(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not SHORTEST_CHUNK_S <= seconds <= LONGEST_CHUNK_S:
        raise argparse.ArgumentTypeError(f"{text} is not between {SHORTEST_CHUNK_S} and {LONGEST_CHUNK_S}")
    return seconds


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_JOBS:
        raise argparse.ArgumentTypeError(f"a number from 1 to {_MAX_JOBS} is wanted, not “{text}”")
    return int(text)


def options(arguments: argparse.Namespace) -> Options:
    """Return how `jamak transcribe` was asked to transcribe."""
    language = arguments.language.lower()
    chosen = Options(
        model=_model(arguments),
        language=None if language in _DETECT else language,
        task=Task(arguments.task),
        mode=Mode(arguments.mode),
        word_timestamps=arguments.word_timestamps,
        initial_prompt=arguments.initial_prompt or None,
        hotwords=arguments.hotwords or None,
        audio_track=arguments.audio_track,
        vad=not arguments.no_vad,
    )
    return msgspec.structs.replace(chosen, temperatures=(0.0,)) if arguments.no_fallback else chosen


def live_options(arguments: argparse.Namespace) -> Options:
    """Return how `jamak live` was asked to transcribe."""
    language = arguments.language.lower()
    return Options(
        model=_model(arguments),
        language=None if language in _DETECT else language,
        task=Task(arguments.task),
        mode=Mode(arguments.mode),
        word_timestamps=True,
        initial_prompt=arguments.initial_prompt or None,
        hotwords=arguments.hotwords or None,
        live_chunk_s=arguments.chunk,
    )


def _model(arguments: argparse.Namespace) -> str:
    """Return the model as `Options` names it. Raises FailureError (remote_address)."""
    if arguments.engine:
        server = parse_elsewhere(arguments.engine)
        return Elsewhere(server.server, arguments.model or server.model).key
    chosen = arguments.model or Options().model
    folder = Path(chosen).expanduser()
    return str(folder.absolute()) if folder.is_dir() else str(chosen)


def _add_transcribe(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "transcribe",
        help="write down what is said in audio and video files",
        description="Write down what is said in audio and video files. The text goes to stdout as it is "
        "recognised, or into a folder; progress and failures go to stderr.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="a media file, or a folder to search")
    _add_choices(command)
    command.add_argument(
        "--output-dir",
        type=Path,
        metavar="DIR",
        help="write one file for each recording into DIR, replacing older ones, instead of stdout",
    )
    command.add_argument(
        "--recursive",
        action="store_true",
        help="transcribe all below the folders named: each text is written beside its recording, or below "
        "--output-dir; what is done is skipped, so the same command goes on after an interruption",
    )
    command.add_argument(
        "--jobs", type=_count, metavar="N", default=2, help="recordings at a time; default: %(default)s"
    )
    command.add_argument("--word-timestamps", action="store_true", help="find the times of words too")
    command.add_argument("--initial-prompt", metavar="TEXT", help="text that shows style and spelling")
    command.add_argument("--hotwords", metavar="TEXT", help="words and names to expect")
    command.add_argument(
        "--audio-track", type=int, metavar="N", help="which audio track; default: the loudest"
    )
    command.add_argument(
        "--no-vad", action="store_true", help="do not skip what the voice detector calls silence"
    )
    command.add_argument(
        "--no-fallback", action="store_true", help="never try a part again at a higher temperature"
    )


def _add_live(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "live",
        help="write down what is being said, from a microphone or from what the computer plays",
        description="Record, and write down what is being said. Confirmed text goes to stdout as it comes; "
        "on a terminal the words that may still change follow it. Ctrl-C ends the recording and writes "
        "down the rest; a second one ends at once. The recording is kept.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--device",
        metavar="NAME",
        help="a device's name or part of it; “computer” is what the computer plays",
    )
    command.add_argument("--mix", action="store_true", help="record what the computer plays as well")
    command.add_argument("--list-devices", action="store_true", help="list what can be recorded, and end")
    _add_choices(command)
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="write the whole transcript there at the end, too"
    )
    command.add_argument("--initial-prompt", metavar="TEXT", help="text that shows style and spelling")
    command.add_argument("--hotwords", metavar="TEXT", help="words and names to expect")
    command.add_argument(
        "--chunk",
        type=_chunk_s,
        metavar="SECONDS",
        help="with Qwen3-ASR: write after so much new speech, 0.5 to 10; default: 2. "
        "Less is sooner, and costs more",
    )


def _add_models(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("models", help="list, download, verify or remove models")
    actions = command.add_subparsers(dest="action", metavar="ACTION")
    listing = actions.add_parser("list", help="every model known or installed (the default)")
    _add_engine(listing)
    for action, text in (
        ("download", "fetch a model; goes on where an earlier download ended"),
        ("verify", "compare a model's files with what they should be"),
        ("remove", "delete a downloaded model"),
    ):
        one = actions.add_parser(action, help=text)
        one.add_argument("models", nargs="+", metavar="MODEL", help="a model's key")


def _add_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--engine",
        metavar="URL",
        help="let an OpenAI-compatible server transcribe, as http://host:8000/v1; the sound is sent there. "
        "Its key comes from JAMAK_ENGINE_KEY or the system's keyring",
    )


def _add_choices(command: argparse.ArgumentParser) -> None:
    """Let the user choose what every transcript needs, whether of a file or of a microphone."""
    command.add_argument(
        "--model",
        help=f"a model's key (`jamak models`) or a checkpoint's folder; default: {Options().model}, "
        "or with --engine the server's own",
    )
    _add_engine(command)
    command.add_argument("--language", default="auto", help="two-letter code; default: detect it")
    tasks = [task.value for task in Task]
    command.add_argument(
        "--task", choices=tasks, default=Task.TRANSCRIBE.value, help="translate: into English"
    )
    command.add_argument(
        "--mode",
        choices=[mode.value for mode in Mode],
        default=Mode.FAST.value,
        help="best: weigh several texts against one another, for fewer errors in more time; default: fast",
    )
    formats = [format.value for format in ExportFormat]
    command.add_argument("--format", choices=formats, default=ExportFormat.TXT.value, help="default: txt")
