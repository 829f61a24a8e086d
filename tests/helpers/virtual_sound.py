"""A sound card that does not exist: a PulseAudio server of a test's own, with microphones to speak into."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

NEEDED = ("pulseaudio", "pactl", "parec", "pacat")
LEAD_S = 0.3
"""The first samples that a sink plays after silence may be cut; nothing is said in this time."""
_PATIENCE_S = 10.0


class VirtualSound:
    """Speakers, and microphones that say what is played to them; ends with the test.

    While it is open PULSE_SERVER names it, for this process and its children. A microphone is a source
    made of the monitor of a sink of its own rate.
    """

    def __init__(self) -> None:
        if missing := [program for program in NEEDED if shutil.which(program) is None]:
            pytest.skip(f"not installed: {', '.join(missing)}")
        self._folder = Path(tempfile.mkdtemp(prefix="sound-"))
        self._modules: dict[str, str] = {}
        self._awake: dict[str, subprocess.Popen[bytes]] = {}
        self._server_before = os.environ.get("PULSE_SERVER")
        self._server = self._start()
        os.environ["PULSE_SERVER"] = f"unix:{self._folder}/native"
        self._load("speakers", "module-null-sink", "sink_name=speakers", "rate=48000", "channels=2")
        self.control("set-default-sink", "speakers")
        self._keep_awake("speakers")
        self.plug("mic")
        self.control("set-default-source", "mic")

    def plug(self, name: str, rate_hz: int = 16_000, channels: int = 1) -> None:
        """Add a microphone called `name`."""
        sink = f"{name}pipe"
        if sink not in self._modules:
            self._load(
                sink,
                "module-null-sink",
                f"sink_name={sink}",
                f"rate={rate_hz}",
                f"channels={channels}",
                "format=float32le",
            )
            self._keep_awake(sink)
        self._load(
            name,
            "module-remap-source",
            f"source_name={name}",
            f"master={sink}.monitor",
            f"source_properties=device.description={name}-for-tests",
        )

    def unplug(self, name: str) -> None:
        """Take a microphone away."""
        self.control("unload-module", self._modules.pop(name))

    def pipe(self, name: str) -> Path:
        """Add a microphone that stalls whenever nobody writes 16-bit, 16 kHz samples to the path returned."""
        path = self._folder / f"{name}.pipe"
        self._load(
            name,
            "module-pipe-source",
            f"source_name={name}",
            f"file={path}",
            "format=s16le",
            "rate=16000",
            "channels=1",
        )
        return path

    def say(self, pcm: np.ndarray, to: str = "micpipe", rate_hz: int = 16_000) -> None:
        """Play int16 samples into a microphone's sink (or the speakers), in real time."""
        silence = np.zeros(round(LEAD_S * rate_hz), np.int16)
        played = np.concatenate((silence, pcm, silence)).astype("<i2").tobytes()
        command = ["pacat", "-d", to, "--format=s16le", f"--rate={rate_hz}", "--channels=1"]
        subprocess.run(command, input=played, check=True, timeout=60)

    def control(self, *arguments: str) -> str:
        """Run `pactl`."""
        done = subprocess.run(["pactl", *arguments], check=True, capture_output=True, text=True, timeout=20)
        return done.stdout.strip()

    def close(self) -> None:
        """End everything."""
        for listener in self._awake.values():
            listener.kill()
            listener.wait()
        self._server.terminate()
        self._server.wait(10)
        if self._server_before is None:
            os.environ.pop("PULSE_SERVER", None)
        else:
            os.environ["PULSE_SERVER"] = self._server_before
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> subprocess.Popen[bytes]:
        script = self._folder / "start.pa"
        script.write_text(
            f"load-module module-native-protocol-unix auth-anonymous=1 socket={self._folder}/native\n"
        )
        own = {"PULSE_RUNTIME_PATH": f"{self._folder}/run", "PULSE_STATE_PATH": f"{self._folder}/state"}
        environment = {name: value for name, value in os.environ.items() if name != "PULSE_SERVER"} | own
        options = "-n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --realtime=no --high-priority=no"
        server = subprocess.Popen(
            ["pulseaudio", "-F", str(script), *options.split(), f"--log-target=file:{self._folder}/log"],
            env=environment,
            stderr=subprocess.DEVNULL,
        )
        _wait_until(lambda: (self._folder / "native").exists())
        return server

    def _load(self, name: str, module: str, *arguments: str) -> None:
        self._modules[name] = self.control("load-module", module, *arguments)

    def _keep_awake(self, sink: str) -> None:
        """Listen with low latency: a sink that nobody listens to takes up to two seconds to wake."""
        heard = self._folder / f"{sink}.heard"
        command = [
            "parec",
            "-d",
            f"{sink}.monitor",
            "--latency-msec=10",
            "--rate=8000",
            "--channels=1",
            heard,
        ]
        self._awake[sink] = subprocess.Popen(command)
        _wait_until(lambda: heard.exists() and heard.stat().st_size > 0)


def _wait_until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, "the sound server does not answer"
        time.sleep(0.02)


def place_of(said: np.ndarray, heard: np.ndarray) -> int:
    """Return where in `heard` it sounds most like `said`, by correlation."""
    size = 1 << (len(said) + len(heard)).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(said, size))
    return int(np.argmax(np.fft.irfft(spectrum)[: len(heard)]))
