"""Makes the program's icon in every size and wrapping from its one drawing, `resources/jamak.svg`.

    python packaging/icons.py FOLDER

FOLDER gets `hicolor/` (Linux), `jamak.ico` (Windows) and `jamak.icns` (macOS).
"""

from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parent.parent / "resources" / "jamak.svg"

LINUX_SIZES_PX = (16, 22, 24, 32, 48, 64, 96, 128, 192, 256, 512)
WINDOWS_SIZES_PX = (16, 20, 24, 32, 40, 48, 64, 128, 256)
# https://en.wikipedia.org/wiki/Apple_Icon_Image_format#Icon_types
MAC_KINDS = {
    b"icp4": 16, b"icp5": 32, b"icp6": 64, b"ic07": 128, b"ic08": 256, b"ic09": 512, b"ic10": 1024,
    b"ic11": 32, b"ic12": 64, b"ic13": 256, b"ic14": 512,
}  # fmt: skip


def main(arguments: list[str]) -> None:
    """Write all of them into the folder named."""
    folder = Path(arguments[0])
    hicolor = folder / "hicolor"
    for size_px in LINUX_SIZES_PX:
        path = hicolor / f"{size_px}x{size_px}" / "apps" / "jamak.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(size_px))
    scalable = hicolor / "scalable" / "apps" / "jamak.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DRAWING, scalable)
    (folder / "jamak.ico").write_bytes(ico([(size_px, png(size_px)) for size_px in WINDOWS_SIZES_PX]))
    (folder / "jamak.icns").write_bytes(icns([(kind, png(size_px)) for kind, size_px in MAC_KINDS.items()]))


def png(size_px: int) -> bytes:
    """Return the drawing as a PNG file `size_px` wide."""
    image = QImage(size_px, size_px, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(content.data())


def ico(pictures: list[tuple[int, bytes]]) -> bytes:
    """Return a Windows icon file of (width, PNG file) pairs, widths up to 256."""
    header = struct.pack("<HHH", 0, 1, len(pictures))
    offset = len(header) + 16 * len(pictures)
    entries = b""
    for size_px, picture in pictures:
        # 256 is written as 0; no palette, one plane, 32 bits.
        side = size_px % 256
        entries += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), offset)
        offset += len(picture)
    return header + entries + b"".join(picture for _, picture in pictures)


def icns(pictures: list[tuple[bytes, bytes]]) -> bytes:
    """Return a macOS icon file of (kind, PNG file) pairs."""
    parts = b"".join(kind + struct.pack(">I", 8 + len(picture)) + picture for kind, picture in pictures)
    return b"icns" + struct.pack(">I", 8 + len(parts)) + parts


if __name__ == "__main__":
    main(sys.argv[1:])
