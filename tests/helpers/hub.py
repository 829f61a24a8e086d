"""A model hub and package index here: serves ranges, breaks connections and lies when told to."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType


@dataclass
class Hub:
    """What the hub has and how it behaves; `url` is for HF_ENDPOINT, with `/simple` for PIP_INDEX_URL.

    Use as a context manager.
    """

    files: dict[str, bytes]
    """Of any repository; those that end in `.whl` are in the index, too."""
    broken_after_bytes: int | None = None
    """Close the connection after this many bytes of a body."""
    num_breaks: int = 0
    """How often; each break counts down."""
    lies_about: set[str] = field(default_factory=set)
    """Names whose content is not what the etag says."""
    missing: set[str] = field(default_factory=set)
    pause_s: float = 0.0
    """Between pieces of a body."""
    ranges: list[str] = field(default_factory=list)
    """The Range headers of what was asked for."""
    num_bodies: int = 0
    url: str = ""

    def __enter__(self) -> Hub:
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        if self.path.startswith("/simple/"):
            self._list(self.path.removeprefix("/simple/").removesuffix("/"))
            return
        name = self.path.split("?")[0].rsplit("/", 1)[-1]
        if (
            ("/resolve/" not in self.path and not self.path.startswith("/files/"))
            or name not in self.hub.files
            or name in self.hub.missing
        ):
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = self.hub.files[name]
        start = 0
        if with_body and (wanted := self.headers.get("Range")):
            self.hub.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").split("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("X-Repo-Commit", "0" * 39 + "1")
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Accept-Ranges", "bytes")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if with_body:
            self.hub.num_bodies += 1
            with contextlib.suppress(ConnectionError):
                self._send(content[::-1] if name in self.hub.lies_about else content, start)

    def _list(self, package: str) -> None:
        """Answer as an index does, by address relative to the page."""
        wheels = [name for name in self.hub.files if name.startswith(package.replace("-", "_") + "-")]
        files = [
            {
                "filename": name,
                "url": f"../../files/{name}",
                "hashes": {"sha256": hashlib.sha256(self.hub.files[name]).hexdigest()},
            }
            for name in wheels
        ]
        content = json.dumps({"meta": {"api-version": "1.1"}, "name": package, "files": files}).encode()
        self.send_response(200 if wheels else 404)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send(self, content: bytes, start: int) -> None:
        breaks = self.hub.broken_after_bytes if self.hub.num_breaks > 0 else None
        sent = 0
        while start + sent < len(content):
            piece = content[start + sent : start + sent + 65_536]
            if breaks is not None and sent + len(piece) > breaks:
                self.hub.num_breaks -= 1
                self.wfile.write(piece[: breaks - sent])
                self.wfile.flush()
                self.connection.close()
                self.close_connection = True
                return
            self.wfile.write(piece)
            sent += len(piece)
            time.sleep(self.hub.pause_s)
