"""Records the default microphone until it is killed: `python -m tests.helpers.record_program FILE`.

Says "recording" once samples are on the disk.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from app.capture.devices import Wish
from app.capture.recorder import Recorder
from app.capture.system import SystemAudio


def main(path: str) -> None:
    recorder = Recorder(SystemAudio(), (Wish(),), Path(path))
    recorder.start()
    while recorder.num_samples == 0:
        time.sleep(0.01)
    print("recording", flush=True)
    recorder.wait()


if __name__ == "__main__":
    main(sys.argv[1])
