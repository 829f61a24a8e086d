"""What every test may ask for, and what keeps tests away from the user's own files."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from engine.config import data_folder

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Nobody's own keyring is looked into, or written to.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
# The same examples on every machine, and no test that fails because the machine is busy.
hypothesis.settings.register_profile("jamak", deadline=None, derandomize=True)
hypothesis.settings.load_profile("jamak")

# Where `make setup` puts models; looked up before the folders below are exchanged.
_MODEL_FOLDERS = (os.environ.get("JAMAK_TEST_MODELS"), data_folder() / "models")
_num_speech_tests_passed = 0
_GARBAGE_PER_COLLECTION = 50_000
"""Objects made and kept since the last collection, which takes a tenth of a second."""


@pytest.fixture(scope="session", autouse=True)
def own_folders() -> Iterator[None]:
    """Give the whole run data, cache, log and runtime folders of its own."""
    # Not pytest's: a socket's path must be short.
    root = Path(tempfile.mkdtemp(prefix="jamak-"))
    for name in ("DATA", "CACHE", "LOG", "RUNTIME"):
        folder = root / name.lower()
        folder.mkdir(mode=0o700)
        os.environ[f"JAMAK_{name}_DIR"] = str(folder)
    yield
    shutil.rmtree(root, ignore_errors=True)


def _model(key: str) -> Path:
    for root in _MODEL_FOLDERS:
        if root and (Path(root) / key / "config.json").is_file():
            return Path(root) / key
    pytest.skip(f"{key} is not on disk: `make test` fetches it")


@pytest.fixture(scope="session")
def whisper_base() -> Path:
    """The folder of the default model."""
    return _model("whisper-base")


@pytest.fixture(scope="session")
def whisper_tiny_en() -> Path:
    """The folder of the small English model."""
    return _model("whisper-tiny.en")


@pytest.fixture(scope="session")
def speech() -> Path:
    """The folder of the wider speech set."""
    folder = os.environ.get("JAMAK_SPEECH_DIR")
    if not folder:
        pytest.skip("JAMAK_SPEECH_DIR is not set")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def garbage_is_collected_between_tests() -> Iterator[None]:
    """Let Python collect nothing by itself: it would on any thread, and end Qt's objects there.

    A window that a test has let go of, destroyed by the thread of an engine's client, ends the whole run
    in Qt's event loop some tests later (`app/ui/collector.py`).
    """
    gc.disable()
    yield
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Collect what the tests so far have left, on the main thread."""
    if gc.get_count()[0] > _GARBAGE_PER_COLLECTION:
        gc.collect()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Count the tests that really heard the wider speech set."""
    global _num_speech_tests_passed
    report: pytest.TestReport = yield
    if report.when == "call" and report.passed and "speech" in getattr(item, "fixturenames", ()):
        _num_speech_tests_passed += 1
    return report  # type: ignore[return-value]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a whole run that was given the speech set and did not use it."""
    is_whole = session.config.args == session.config.getini("testpaths") and not session.config.option.keyword
    if os.environ.get("JAMAK_SPEECH_DIR") and is_whole and exitstatus == 0 and not _num_speech_tests_passed:
        print("\nJAMAK_SPEECH_DIR is set, but no test of the speech set has run.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
