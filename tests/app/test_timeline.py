"""Files that follow one another are one stretch of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.capture.recording_file import RecordingWriter
from app.timeline import timeline_of


def test_a_file_of_somebody_elses_is_one_part(tmp_path: Path) -> None:
    path = tmp_path / "song.mp3"
    path.write_bytes(b"not ours" * 20)
    assert timeline_of(path).parts == (path,)
    assert timeline_of(path).length_s is None


def test_a_file_that_is_gone_is_one_part(tmp_path: Path) -> None:
    assert timeline_of(tmp_path / "gone.wav").parts == (tmp_path / "gone.wav",)


def test_our_own_parts_follow_one_another(tmp_path: Path) -> None:
    path = tmp_path / "r.wav"
    writer = RecordingWriter(path, 1000, max_part_samples=2000)
    writer.append(np.zeros(5500, np.int16))
    writer.close()
    timeline = timeline_of(path)
    assert [part.name for part in timeline.parts] == ["r.wav", "r.part2.wav", "r.part3.wav"]
    assert timeline.starts == (0.0, 2.0, 4.0)
    assert timeline.length_s == 5.5
    assert [timeline.at(seconds) for seconds in (-1, 0, 1.99, 2.0, 3.9, 4.0, 99)] == [0, 0, 0, 1, 1, 2, 2]
