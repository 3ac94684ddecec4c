"""HTTP client of a Talos Image Factory; knows nothing of Pulumi."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

# An ingress in front of the factory answers these while it has no replica; the factory itself answers 500.
_PASSING = (429, 502, 503, 504)


class FactoryError(Exception):
    """One sentence: which factory, what it answered, what to do. Never holds a token."""


class FactoryUnreachableError(FactoryError):
    """The factory gave no usable answer, which says nothing about what was asked."""


@dataclass(frozen=True)
class Posted:
    """The factory's answer to a document: its ID for it and, since factory 1.3, its canonical text."""

    id: str
    schematic: str | None


@dataclass(frozen=True)
class OfficialExtension:
    """A system extension that a Talos release has: siderolabs/<name> and its image reference."""

    name: str
    ref: str


class ImageFactory:
    """One Image Factory at `url`; `timeout` in seconds for each answer, `retries` after a passing fault."""

    def __init__(
        self, url: str, *, token: str | None = None, ca_file: str | None = None, timeout: float = 15.0, retries: int = 4
    ) -> None:
        self._url, self._host, self._timeout = url.rstrip("/"), urlsplit(url).netloc, timeout
        self._session = requests.Session()
        self._session.verify = ca_file or True
        if token:
            self._session.headers["Authorization"] = f"Bearer {token}"
        retry = Retry(
            total=retries,
            status_forcelist=(*_PASSING, 500),
            allowed_methods=None,
            backoff_factor=0.5,
            backoff_max=8,
            raise_on_status=False,
            # A server that asks for a long pause would hold up a whole `up`: our own back-off is bounded.
            respect_retry_after_header=False,
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=retry))

    def post(self, schematic: str) -> Posted:
        """Register a schematic document (YAML text); the same bytes always get the same ID."""
        answer = self._call(
            "POST", "/schematics", data=schematic.encode(), headers={"Content-Type": "application/yaml"}
        )
        if answer.status_code not in {200, 201}:
            raise self._refused(answer, "register the schematic")
        content = self._json(answer)
        if not isinstance(content, dict) or not isinstance(content.get("id"), str):
            raise self._garbled("register the schematic")
        return Posted(content["id"], content.get("schematic"))

    def get(self, schematic_id: str) -> str | None:
        """Return the canonical text of a schematic, None when the factory does not know it."""
        answer = self._call("GET", f"/schematics/{schematic_id}")
        if answer.status_code == requests.codes.not_found:
            return None
        if answer.status_code != requests.codes.ok:
            raise self._refused(answer, "read a schematic")
        if not answer.text.startswith(("customization:", "owner:", "overlay:")):
            raise self._garbled("read a schematic")
        return answer.text

    def versions(self) -> list[str]:
        """Return the Talos releases that the factory builds, in the factory's order."""
        content = self._list("/versions", "list Talos releases")
        return [str(one) for one in content]

    def extensions(self, talos_version: str) -> list[OfficialExtension] | None:
        """Return the official extensions of a Talos release, None when the factory does not have that release."""
        path = f"/version/{talos_version}/extensions/official"
        answer = self._call("GET", path)
        if answer.status_code == requests.codes.not_found:
            return None
        rows = self._rows(answer, f"list the extensions of Talos {talos_version}")
        try:
            return [OfficialExtension(str(one["name"]), str(one["ref"])) for one in rows]
        except (TypeError, KeyError):
            raise self._garbled(f"list the extensions of Talos {talos_version}") from None

    def _list(self, path: str, act: str) -> list[Any]:
        return self._rows(self._call("GET", path), act)

    def _rows(self, answer: requests.Response, act: str) -> list[Any]:
        if answer.status_code != requests.codes.ok:
            raise self._refused(answer, act)
        content = self._json(answer)
        if not isinstance(content, list):
            raise self._garbled(act)
        return content

    def _call(self, method: str, path: str, **keywords: Any) -> requests.Response:
        headers = {"X-Request-ID": str(uuid.uuid4()), **keywords.pop("headers", {})}
        # Proxies of the environment do not stand before a factory on this machine.
        proxies = {"no_proxy": "127.0.0.1,localhost"} if self._host.startswith(("127.0.0.1", "localhost")) else None
        try:
            return self._session.request(
                method, self._url + path, headers=headers, timeout=self._timeout, proxies=proxies, **keywords
            )
        except requests.exceptions.SSLError as error:
            fix = "name the authority's certificate in image.factory.caFile"
            raise FactoryError(
                f"the Image Factory {self._host} has a certificate that is not trusted ({_cause(error)}): {fix}"
            ) from None
        except requests.exceptions.RequestException as error:
            raise FactoryUnreachableError(
                f"the Image Factory {self._host} cannot be reached ({_cause(error)}): "
                "correct image.factory.url, or try again when it is back"
            ) from None
        except OSError as error:
            raise FactoryError(
                f"the CA file of image.factory.caFile cannot be read: {error.strerror or 'it does not exist'}"
            ) from None

    def _json(self, answer: requests.Response) -> Any:
        try:
            return json.loads(answer.text)  # the factory sends some lists as text/plain
        except ValueError:
            return None

    def _refused(self, answer: requests.Response, act: str) -> FactoryError:
        line = (answer.text.strip().splitlines() or ["nothing"])[0][:200]
        status = answer.status_code
        told = f"the Image Factory {self._host} would not {act}: it answered {status} ({line})"
        if status in {401, 403}:
            return FactoryError(f"{told}: set the token with pulumi config set --secret gpu-platform:factoryToken")
        if status in _PASSING or status >= 500:
            return FactoryUnreachableError(f"{told}: try again when it is well; nothing was half-written")
        return FactoryError(f"{told}: mend what it names")

    def _garbled(self, act: str) -> FactoryError:
        return FactoryUnreachableError(
            f"the Image Factory {self._host} would not {act}: the answer is not a factory's "
            "(a login page or a proxy?): check image.factory.url"
        )


def _cause(error: BaseException) -> str:
    """Return the innermost reason of a failed call, without addresses of objects."""
    for _ in range(10):
        inner = [one for one in (getattr(error, "reason", None), *error.args) if isinstance(one, BaseException)]
        if not inner:
            break
        error = inner[-1]
    text = str(error).rsplit(">: ", 1)[-1].strip()
    return text.split("\n", 1)[0][:160] or type(error).__name__
