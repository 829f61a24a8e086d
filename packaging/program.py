"""Where the frozen program begins: gives children of other makers their own libraries, then is `jamak`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Be `jamak`, whose engine is this program again."""
    _give_back("LD_LIBRARY_PATH")
    from app.__main__ import main as be_jamak

    be_jamak()


def _give_back(name: str) -> None:
    """Undo what PyInstaller's start has changed for us.

    The loader has read it by now, and a browser that the window opens must not take our libraries for its
    own: https://pyinstaller.org/en/stable/runtime-information.html#ld-library-path-libpath-considerations
    """
    if sys.platform == "linux" and getattr(sys, "frozen", False):
        original = os.environ.pop(f"{name}_ORIG", None)
        if original is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = original


if __name__ == "__main__":
    main()
