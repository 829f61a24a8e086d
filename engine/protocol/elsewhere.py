"""How a model on a server elsewhere is named: the server's address, and behind a `#` the model; pure."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from engine.protocol.failures import FailureError, FailureKind, failure


class Elsewhere(msgspec.Struct, frozen=True):
    """A model of an OpenAI-compatible server, named `http://host:port/v1#model` in `Options.model`."""

    server: str
    """The base of its API without a slash at the end: `http://host:port/v1`."""
    model: str = ""
    """Empty: the server's own, if it has one for speech."""

    @property
    def key(self) -> str:
        """Its name in `Options.model`."""
        return f"{self.server}#{self.model}" if self.model else self.server

    @property
    def host(self) -> str:
        """Where audio goes, for people: `host:port`."""
        return urlsplit(self.server).netloc

    @property
    def is_on_this_machine(self) -> bool:
        """Whether audio stays here all the same."""
        return urlsplit(self.server).hostname in ("localhost", "127.0.0.1", "::1")


def is_elsewhere(model: str) -> bool:
    """Say whether `Options.model` names a server and no catalogue key or folder."""
    return model.lower().startswith(("http://", "https://"))


def parse_elsewhere(model: str) -> Elsewhere:
    """Read the name of a model elsewhere. Raises FailureError (remote_address).

    An address with a name or a password in it is refused: addresses are shown, stored and logged.
    """
    address, _, name = model.strip().partition("#")
    try:
        parts = urlsplit(address)
        is_usable = bool(parts.hostname) and parts.scheme.lower() in ("http", "https") and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or parts.username is not None or parts.query or not address.isprintable():
        raise FailureError(failure(FailureKind.REMOTE_ADDRESS, address.rpartition("@")[2]))
    server = f"{parts.scheme.lower()}://{parts.netloc}{parts.path.rstrip('/')}"
    return Elsewhere(server, name)


def host_elsewhere(model: str) -> str:
    """Return where sound is sent that this model is to transcribe; empty where it stays on this machine."""
    if not is_elsewhere(model):
        return ""
    try:
        server = parse_elsewhere(model)
    except FailureError:
        return ""
    return "" if server.is_on_this_machine else server.host


def subject_of_model(model: str) -> str:
    """Return what a person calls a model: its name without folder or server; the host if it has none."""
    if not is_elsewhere(model):
        return model.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    address, _, name = model.partition("#")
    return name or urlsplit(address).netloc
