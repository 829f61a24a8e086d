"""Whether a newer version exists: asked only when the person asks, of one address, telling it nothing.

The address gives JSON: {"version": "1.2.0", "page": "https://…"}. It is the project's URL called
"Updates" (pyproject.toml), or what `JAMAK_UPDATES_URL` says; a build without one asks nobody.
"""

from __future__ import annotations

import os
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from importlib import metadata
from typing import Final
from urllib.parse import urlsplit

import msgspec

_TIMEOUT_S: Final = 10.0
_MAX_BYTES: Final = 64 * 1024
_LOCAL: Final = frozenset({"localhost", "127.0.0.1"})
_VERSION: Final = re.compile(r"(\d+(?:\.\d+)*)((?:a|b|rc|\.dev)\d+)?")


class Release(msgspec.Struct, frozen=True):
    """What the address says is the newest version, and the page it is found on."""

    version: str
    page: str = ""


class UpdateError(Exception):
    """The address cannot be asked, or what it says cannot be understood."""


def address(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return where to ask; None where this build was given no address."""
    if asked := environment.get("JAMAK_UPDATES_URL"):
        return asked
    try:
        urls = metadata.metadata("jamak").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named.get("Updates")


def newest_release(url: str) -> Release:
    """Ask `url`. Takes seconds; raises UpdateError."""
    _check(url)
    request = urllib.request.Request(url, headers={"User-Agent": "Jamak", "Accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            _check(answer.url)
            content = answer.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise UpdateError(str(reason)) from error
    try:
        release = msgspec.json.decode(content[:_MAX_BYTES], type=Release)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UpdateError("the answer cannot be understood") from error
    if not _VERSION.fullmatch(release.version):
        raise UpdateError("the answer names no version")
    is_page = urlsplit(release.page).scheme == "https"
    return release if is_page else Release(release.version)


def is_newer(version: str, than: str) -> bool:
    """Whether `version` comes after `than`; one before its release (1.0rc1) comes before it."""
    return _order(version) > _order(than)


def _order(version: str) -> tuple[list[int], bool, str]:
    found = _VERSION.match(version)
    if found is None:
        return [], False, ""
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers, found[2] is None, found[2] or ""


def _check(url: str) -> None:
    """Refuse what could be read or changed on its way. Raises UpdateError."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOCAL):
        raise UpdateError("only https addresses are asked")
