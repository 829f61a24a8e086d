"""What cannot be understood is kept under another name."""

from __future__ import annotations

from pathlib import Path

from app.set_aside import set_aside


def test_companions_go_with_the_file_and_nothing_is_replaced(tmp_path: Path) -> None:
    for number in (1, 2):
        path = tmp_path / "library.db"
        path.write_text(f"content {number}")
        (tmp_path / "library.db-wal").write_text(f"log {number}")
        moved = set_aside(path, beside=("-wal", "-shm"))
        assert moved.name == f"library.damaged-{number}.db"
        assert moved.read_text() == f"content {number}"
        assert (tmp_path / f"{moved.name}-wal").read_text() == f"log {number}"
    assert len(list(tmp_path.iterdir())) == 4
