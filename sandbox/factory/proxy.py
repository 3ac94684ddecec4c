"""A proxy before the Image Factory that misbehaves on demand.

`python -m sandbox.factory.proxy LISTEN UPSTREAM MODE-FILE`: the mode is read at every request,
and each request is a line in the log.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

# Mode to what it does. `lost` and those that end in -once remember what they have done until the mode changes.
MODES = {
    "none": "passes everything through",
    "down": "closes the connection without an answer",
    "500": "answers 500 as a factory whose registry is gone",
    "502-once": "answers 502 to the first request of each path",
    "404-once": "does not know what each path names at its first request",
    "slow-once": "answers the first request of each path after slow-once:SECONDS",
    "502": "answers 502 with a page of HTML, as a load balancer without a backend does",
    "503": "answers 503",
    "429": "answers 429",
    "html": "answers 200 with a login page",
    "slow": "answers after slow:SECONDS",
    "truncated": "breaks off in the middle of each answer",
    "wrong-id": "answers a POST with another ID",
    "wrong-text": "answers a POST with another document",
    "owner": "puts an owner into posted documents, as an Enterprise factory does",
    "lost": "does not know a schematic until it is posted again",
    "forgetful": "never knows a schematic, not even one that it has just taken",
    "no-release": "builds no Talos release of those that are asked for",
    "malformed": "answers lists with half a JSON document",
    "unauthorized": "answers 401",
}

PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>no factory here</body></html>\n"
HEALTH = "/healthz"


class Handler(BaseHTTPRequestHandler):
    """Forwards to the factory, or does what the mode says."""

    protocol_version = "HTTP/1.1"
    upstream: ClassVar[int] = 0
    mode_file: ClassVar[Path] = Path()
    remembered: ClassVar[tuple[str, set[str]]] = ("", set())

    def do_GET(self) -> None:
        """Answer a read."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer a question for existence."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a new schematic."""
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the base class has
        """Write one line a request, without headers: tokens must not be logged."""
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {self._mode()} {format % args}\n")

    def _mode(self) -> str:
        try:
            return self.mode_file.read_text().strip() or "none"
        except OSError:
            return "none"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        mode, _, argument = ("none" if self.path == HEALTH else self._mode()).partition(":")
        if Handler.remembered[0] != mode:
            Handler.remembered = (mode, set())
        plain = {
            "500": (500, "internal server error\n"),
            "502": (502, PAGE),
            "503": (503, "no healthy upstream\n"),
            "429": (429, "too many requests\n"),
            "unauthorized": (401, "unauthorized\n"),
            "html": (200, PAGE),
        }
        if mode == "down":
            self.close_connection = True
            self.connection.close()
        elif mode in plain:
            self._send(plain[mode][0], plain[mode][1].encode(), "text/html" if plain[mode][1] == PAGE else "text/plain")
        elif mode == "502-once" and self._first(self.path):
            self._send(502, b"bad gateway\n", "text/plain")
        elif self._knows_no_schematic(mode, body):
            self._send(404, b"schematic not found\n", "text/plain")
        elif mode == "no-release" and self._asks("/version/"):
            self._send(404, b"version is not available\n", "text/plain")
        elif mode == "malformed" and self._asks("/version"):
            self._send(200, b'["v1.13.9", {"name": "sider', "text/plain")
        else:
            if mode == "slow" or (mode == "slow-once" and self._first(self.path)):
                time.sleep(float(argument))
            self._forward(body, mode)

    def _knows_no_schematic(self, mode: str, body: bytes) -> bool:
        """Tell whether a mode that forgets schematics answers this request with 404."""
        if mode == "lost":
            return self._is_lost(body)
        if mode == "404-once":
            return self._asks("/") and self._first(self.path)
        return mode == "forgetful" and self._asks("/schematics/")

    def _asks(self, prefix: str) -> bool:
        return self.command == "GET" and self.path.startswith(prefix)

    def _first(self, key: str) -> bool:
        seen = Handler.remembered[1]
        known = key in seen
        seen.add(key)
        return not known

    def _is_lost(self, body: bytes) -> bool:
        if self.command == "POST":
            Handler.remembered[1].add(hashlib.sha256(body).hexdigest())
            return False
        return self.path.startswith("/schematics/") and self.path.rsplit("/", 1)[1] not in Handler.remembered[1]

    def _forward(self, body: bytes, mode: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=60)
        try:
            kept = {key: value for key, value in self.headers.items() if key.lower() not in {"host", "connection"}}
            connection.request(self.command, self.path, body or None, kept)
            answer = connection.getresponse()
            status, kind, data = answer.status, answer.getheader("Content-Type") or "text/plain", answer.read()
        except OSError:
            status, kind, data = 502, "text/plain", b"no factory behind this proxy\n"
        finally:
            connection.close()
        if self.command == "POST" and status == http.client.CREATED:
            data = _spoilt(data, mode)
        self._send(status, data, kind)

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        broken = self._mode() == "truncated" and self.path != HEALTH
        self.send_header("Content-Length", str(len(data) + (100 if broken else 0)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.close_connection = broken


def _spoilt(data: bytes, mode: str) -> bytes:
    """Return the factory's answer to a POST, changed as the mode says."""
    answer = json.loads(data)
    if mode == "wrong-id":
        answer["id"] = "0" * 64
    elif mode == "wrong-text":
        answer["schematic"] += "# not yours\n"
    elif mode == "owner":
        answer["schematic"] = f"owner: acme\n{answer['schematic']}"
        answer["id"] = hashlib.sha256(answer["schematic"].encode()).hexdigest()
    return json.dumps(answer).encode()


def serve(listen: int, upstream: int, mode_file: Path) -> None:
    """Serve on 127.0.0.1 until the process is ended."""
    Handler.upstream, Handler.mode_file = upstream, mode_file
    ThreadingHTTPServer(("127.0.0.1", listen), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
