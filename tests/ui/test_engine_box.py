"""The settings of a server elsewhere: asked for its models, chosen, and what that means is said."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as FailKeyring
from pytestqt.qtbot import QtBot

from app import texts
from app.settings import Settings
from app.ui.engine_box import EngineBox
from engine.protocol.events import JobDone, JobFailed, ModelList
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import ModelInfo, ModelPhase
from tests.helpers.window_rig import BASE, WindowRig

SERVER = "http://gpu.lan:8000/v1"
LARGE = f"{SERVER}#large"


class MemoryKeyring(KeyringBackend):
    """Keeps passwords for as long as a test lasts."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def box(rig: WindowRig, qtbot: QtBot, ring: MemoryKeyring) -> EngineBox:
    texts.use_language("en")
    box = EngineBox(rig.keeper, rig.shelf)
    qtbot.addWidget(box)
    box.show()
    return box


def answer(rig: WindowRig, *names: str) -> None:
    """Let the server list its models."""
    job = rig.engine.last("list").job
    models = tuple(
        ModelInfo(
            key=f"{SERVER}#{name}", name=name, family="remote", size_bytes=0, languages=("en",),
            can_translate=True, phase=ModelPhase.INSTALLED,
        )
        for name in names
    )  # fmt: skip
    rig.shelf.on_events([ModelList(job=job, models=models, folder=SERVER, free_bytes=0), JobDone(job=job)])


def ask(rig: WindowRig, box: EngineBox, qtbot: QtBot, key: str = "") -> None:
    box._address.setText(f" {SERVER}/ ")
    box._key.setText(key)
    box._connect_button.click()
    qtbot.waitUntil(lambda: rig.engine.last("list").subject == SERVER)


def test_a_key_goes_to_the_engine_and_the_keyring_and_nowhere_else(
    rig: WindowRig, box: EngineBox, qtbot: QtBot, ring: MemoryKeyring
) -> None:
    ask(rig, box, qtbot, "secret")
    assert rig.engine.keys == {SERVER: "secret"}
    qtbot.waitUntil(lambda: ring.kept == {("jamak", SERVER): "secret"})
    answer(rig, "large")
    assert box._key.text() == ""
    rig.keeper.flush()
    assert "secret" not in (rig.folder / "settings.json").read_text()


def test_a_key_that_was_kept_is_used_again(
    rig: WindowRig, box: EngineBox, qtbot: QtBot, ring: MemoryKeyring
) -> None:
    ring.set_password("jamak", SERVER, "kept")
    ask(rig, box, qtbot)
    assert rig.engine.keys == {SERVER: "kept"}


def test_a_servers_model_is_chosen_and_the_window_says_where_sound_goes(
    rig: WindowRig, box: EngineBox, qtbot: QtBot
) -> None:
    ask(rig, box, qtbot)
    answer(rig, "small", "large")
    assert [box._model.itemText(n) for n in range(box._model.count())] == [
        "This computer",
        "small",
        "large",
    ]
    assert rig.keeper.now.model == BASE.key
    assert not box._warning.isVisible()
    box._model.setCurrentIndex(2)
    box._model.activated.emit(2)
    assert rig.keeper.now.model == LARGE
    assert rig.keeper.now.options().model == LARGE
    assert "gpu.lan:8000" in box._warning.text() and "leaves this computer" in box._warning.text()
    assert "not encrypted" in box._warning.text()
    assert rig.window._sent_to.text() == "Sound is sent to gpu.lan:8000"
    assert not rig.window._sent_to.isHidden()
    assert "by gpu.lan:8000" in rig.window.drop_zone._promise.text()
    box._model.activated.emit(0)
    assert rig.keeper.now.model == BASE.key
    assert rig.window._sent_to.isHidden()
    assert "Nothing leaves this computer" in rig.window.drop_zone._promise.text()


def test_the_choice_is_there_again_after_a_restart(rig: WindowRig, box: EngineBox, qtbot: QtBot) -> None:
    ask(rig, box, qtbot)
    answer(rig, "large")
    again = Settings(engine_server=rig.keeper.now.engine_server, engine_models=rig.keeper.now.engine_models)
    rig.shelf.set_server("", ())
    rig.shelf.set_server(again.engine_server, again.engine_models)
    assert [model.key for model in rig.shelf.elsewhere] == [LARGE]
    assert LARGE in [model.key for model in rig.shelf.installed]
    assert LARGE not in [model.key for model in rig.shelf.models]


def test_a_server_on_this_computer_is_no_cause_for_a_warning(rig: WindowRig, box: EngineBox) -> None:
    rig.keeper.change(model="http://localhost:8642/v1#whisper-base")
    assert not box._warning.isVisible()
    assert rig.window._sent_to.isHidden()


@pytest.mark.parametrize("address", ["gpu.lan", "ftp://gpu.lan", "http://me:secret@gpu.lan/v1", "http://"])
def test_what_is_no_address_is_told_at_once(rig: WindowRig, box: EngineBox, address: str) -> None:
    num_asked = len(rig.engine.requests)
    box._address.setText(address)
    box._connect_button.click()
    assert "is not a server's address" in box._remark.text()
    assert "secret" not in box._remark.text()
    assert len(rig.engine.requests) == num_asked


def test_why_a_server_cannot_be_used_is_told(rig: WindowRig, box: EngineBox, qtbot: QtBot) -> None:
    ask(rig, box, qtbot)
    job = rig.engine.last("list").job
    rig.shelf.on_events([JobFailed(job=job, failure=failure(FailureKind.REMOTE_KEY, "gpu.lan:8000"))])
    assert "does not accept the key" in box._remark.text()
    assert rig.keeper.now.engine_server == ""


def test_a_computer_without_a_keyring_uses_the_key_and_says_that_it_is_not_kept(
    rig: WindowRig, box: EngineBox, qtbot: QtBot
) -> None:
    keyring.set_keyring(FailKeyring())
    ask(rig, box, qtbot, "secret")
    assert rig.engine.keys == {SERVER: "secret"}
    qtbot.waitUntil(lambda: "no keyring that works" in box._remark.text())


def test_an_empty_address_brings_everything_back_to_this_computer(
    rig: WindowRig, box: EngineBox, qtbot: QtBot
) -> None:
    ask(rig, box, qtbot)
    answer(rig, "large")
    box._model.activated.emit(1)
    assert rig.keeper.now.model == LARGE
    box._address.clear()
    box._connect_button.click()
    assert (rig.keeper.now.engine_server, rig.keeper.now.model) == ("", BASE.key)
    assert rig.shelf.elsewhere == ()
