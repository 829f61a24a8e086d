"""The key for a server elsewhere: from the environment, else from the system's keyring; nowhere else."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Final

from engine.protocol.failures import FailureError, FailureKind, failure

log = logging.getLogger(__name__)

VARIABLE: Final = "JAMAK_ENGINE_KEY"
_SERVICE: Final = "jamak"


def is_from_environment(environment: Mapping[str, str] = os.environ) -> bool:
    """Say whether the environment gives a key, which then counts whatever the keyring holds."""
    return bool(_given(environment))


def find_key(server: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the key for a server (`Elsewhere.server`); empty where there is none.

    May wait for the user: a keyring that is locked asks for its password.
    """
    if key := _given(environment):
        return key
    # It reaches for the session bus when it is imported; only those with a server pay for that.
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, server) or ""
    except (KeyringError, RuntimeError, OSError) as error:
        log.info("there is no keyring: %s", type(error).__name__)
        return ""


def keep_key(server: str, key: str) -> None:
    """Keep the key of a server in the keyring; empty: forget it. Raises FailureError (no_keyring)."""
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        if key:
            keyring.set_password(_SERVICE, server, key)
        else:
            keyring.delete_password(_SERVICE, server)
    except PasswordDeleteError:
        # There was none.
        return
    except (KeyringError, RuntimeError, OSError) as error:
        raise FailureError(failure(FailureKind.NO_KEYRING, server, type(error).__name__)) from error


def _given(environment: Mapping[str, str]) -> str:
    """Files and pipes leave line ends behind a key."""
    return environment.get(VARIABLE, "").strip()
