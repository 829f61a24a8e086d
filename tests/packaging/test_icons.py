"""Every system gets the icon in every size it asks for."""

from __future__ import annotations

import struct
from pathlib import Path

from PySide6.QtGui import QImage

from tests.helpers.packaging_scripts import load

icons = load("icons")


def test_linux_gets_every_size_and_the_drawing(tmp_path: Path) -> None:
    icons.main([str(tmp_path)])
    for size_px in icons.LINUX_SIZES_PX:
        picture = QImage(str(tmp_path / "hicolor" / f"{size_px}x{size_px}" / "apps" / "jamak.png"))
        assert (picture.width(), picture.height()) == (size_px, size_px)
        # The corners are round and see-through, the ground is not.
        assert picture.pixelColor(0, 0).alpha() == 0
        assert picture.pixelColor(size_px // 2, size_px // 8).blue() > 120
    assert (tmp_path / "hicolor/scalable/apps/jamak.svg").read_bytes() == icons.DRAWING.read_bytes()
    assert (tmp_path / "jamak.ico").stat().st_size > 0


def test_the_windows_file_holds_a_picture_for_each_entry() -> None:
    content = icons.ico([(16, icons.png(16)), (256, icons.png(256))])
    assert struct.unpack_from("<HHH", content) == (0, 1, 2)
    for number, size_px in enumerate((16, 256)):
        side, _, _, _, _, bits, length, offset = struct.unpack_from("<BBBBHHII", content, 6 + 16 * number)
        assert (side, bits) == (size_px % 256, 32)
        assert QImage.fromData(content[offset : offset + length]).width() == size_px


def test_the_mac_file_holds_a_picture_of_the_size_its_kind_says() -> None:
    content = icons.icns([(kind, icons.png(size_px)) for kind, size_px in icons.MAC_KINDS.items()])
    assert content[:4] == b"icns"
    assert struct.unpack_from(">I", content, 4) == (len(content),)
    position, widths = 8, {}
    while position < len(content):
        kind, (length,) = content[position : position + 4], struct.unpack_from(">I", content, position + 4)
        widths[kind] = QImage.fromData(content[position + 8 : position + length]).width()
        position += length
    assert widths == icons.MAC_KINDS
