"""A small client of the sandbox's API server: JSON over one kept-alive TLS connection, standard library only."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.state import State

Found = TypeVar("Found")


class ApiError(Exception):
    """The API server refused a request: its status code and message."""

    def __init__(self, code: int, body: str) -> None:
        self.code = code
        try:
            message = str(json.loads(body).get("message", body))
        except (ValueError, AttributeError):
            message = body
        super().__init__(f"HTTP {code}: {message[:600]}")


class Kube:
    """The API server on `port` of 127.0.0.1, as `user` of the sandbox's PKI."""

    def __init__(self, port: int, pki: Path, user: str = "admin") -> None:
        self._connection: http.client.HTTPSConnection | None = None
        # What the server said beside its last answer.
        self.warnings: list[str] = []
        self._port = port
        self._tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self._tls.load_cert_chain(str(pki / f"{user}.crt"), str(pki / f"{user}.key"))

    @classmethod
    def of(cls, state: State) -> Kube:
        """Return a client of a sandbox that is up; raises SandboxError when it is not."""
        if "api" not in state.ports:
            raise SandboxError("this sandbox is not up: run `python -m sandbox up`")
        return cls(state.ports["api"], state.pki)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        ctype: str = "application/json",
        timeout: float = 30,
        **query: Any,
    ) -> Any:
        """Return the decoded answer; raises ApiError for a status of 300 and more, OSError when nobody answers."""
        where = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else json.dumps(body)
        headers = {"Content-Type": ctype, "Accept": "application/json"}
        for attempt in (1, 2):
            fresh = self._connection is None
            if self._connection is None:
                self._connection = http.client.HTTPSConnection(
                    "127.0.0.1", self._port, context=self._tls, timeout=timeout
                )
            try:
                self._connection.request(method, where, body=data, headers=headers)
                answer = self._connection.getresponse()
                text = answer.read().decode()
                break
            except (OSError, http.client.HTTPException):
                self.close()
                if fresh or attempt == 2:  # a kept connection may have gone stale; a new one has not
                    raise
        self.warnings = answer.headers.get_all("Warning") or []
        if answer.status >= 300:
            raise ApiError(answer.status, text)
        try:
            return json.loads(text)
        except ValueError:
            return text

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        """Close the kept connection with the client."""
        self.close()

    @staticmethod
    def path(api: str, plural: str, ns: str | None = None, name: str | None = None, sub: str = "") -> str:
        """Return the path of a collection, an object or its subresource."""
        parts = [f"/apis/{api}" if "/" in api else f"/api/{api}", f"namespaces/{ns}" if ns else "", plural]
        return "/".join(part for part in [*parts, quote(name) if name else "", sub] if part)

    def get(self, api: str, plural: str, ns: str | None = None, name: str | None = None, **query: Any) -> Any:
        """Return one object or one list."""
        return self.request("GET", self.path(api, plural, ns, name), **query)

    def items(self, api: str, plural: str, ns: str | None = None, **query: Any) -> list[dict[str, Any]]:
        """Return the items of a list."""
        found: list[dict[str, Any]] = self.get(api, plural, ns, **query)["items"]
        return found

    def apply(self, obj: dict[str, Any], plural: str, sub: str = "", manager: str = "sandbox") -> Any:
        """Apply on the server side, taking over what others own."""
        meta = obj["metadata"]
        path = self.path(obj["apiVersion"], plural, meta.get("namespace"), meta["name"], sub)
        return self.request("PATCH", path, obj, "application/apply-patch+yaml", fieldManager=manager, force="true")

    def create(self, obj: dict[str, Any], plural: str) -> Any:
        """Create an object."""
        return self.request("POST", self.path(obj["apiVersion"], plural, obj["metadata"].get("namespace")), obj)

    def delete(self, api: str, plural: str, ns: str | None = None, name: str | None = None, **query: Any) -> None:
        """Delete an object; one that is gone already is fine."""
        try:
            self.request("DELETE", self.path(api, plural, ns, name), **query)
        except ApiError as error:
            if error.code != http.client.NOT_FOUND:
                raise

    def merge(self, api: str, plural: str, ns: str | None, name: str, patch: Any, sub: str = "") -> Any:
        """Change parts of an object by a merge patch."""
        return self.request("PATCH", self.path(api, plural, ns, name, sub), patch, "application/merge-patch+json")


def until(what: str, ask: Callable[[], Found], timeout: float = 60.0, every: float = 0.1) -> Found:
    """Ask until the answer is true and return it; an API error or silence counts as 'not yet'.

    Raises SandboxError after `timeout` seconds, with the last error.
    """
    deadline, last = time.monotonic() + timeout, None
    while True:
        try:
            if answer := ask():
                return answer
        except (ApiError, OSError, http.client.HTTPException) as error:
            last = error
        if time.monotonic() > deadline:
            raise SandboxError(f"waited {timeout:.0f} s in vain for: {what}" + (f" ({last})" if last else ""))
        time.sleep(every)
