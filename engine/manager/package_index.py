"""Asks a package index where a wheel lies; without pip, which a packaged program has not.

The index speaks JSON as https://packaging.python.org/en/latest/specifications/simple-repository-api/ says.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final
from urllib.parse import urljoin

_PYPI: Final = "https://pypi.org/simple"
_JSON: Final = "application/vnd.pypi.simple.v1+json"
_PATIENCE_S: Final = 30.0


class NotTheOne(LookupError):
    """The index has the package in that version, but with other content."""


def find_wheel(requirement: str, sha256: str) -> str:
    """Return the address of the wheel `name==version` whose content has that hash.

    `PIP_INDEX_URL` names another index, as it does for pip. Raises NotTheOne, LookupError where the index has
    no such version, and what the transport raises.
    """
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

    name, _, version = requirement.partition("==")
    page = f"{(os.environ.get('PIP_INDEX_URL') or _PYPI).rstrip('/')}/{_normal(name)}/"
    answer = get_session().get(page, headers={"Accept": _JSON}, timeout=_PATIENCE_S, follow_redirects=True)
    answer.raise_for_status()
    files: list[dict[str, Any]] = answer.json()["files"]
    for file in files:
        if file.get("hashes", {}).get("sha256") == sha256:
            return urljoin(str(answer.url), str(file["url"]))
    if any(_normal(file["filename"]).startswith(f"{_normal(name)}-{_normal(version)}-") for file in files):
        raise NotTheOne(f"{requirement} has other content")
    raise LookupError(f"{page} has no {requirement}")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
