"""HTTP client of a Talos Image Factory; knows nothing of Pulumi."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from urllib3.util.retry import Retry

# An ingress in front of the factory answers these while it has no replica; the factory itself answers 500.
_PASSING = (429, 502, 503, 504)


class FactoryError(Exception):
    """One sentence: which factory, what it answered, what to do. Never holds a token."""


class FactoryUnreachableError(FactoryError):
    """The factory gave no usable answer, which says nothing about what was asked."""


class FactoryTimeoutError(FactoryUnreachableError):
    """The factory gave no answer in time: it may still be at work."""


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


@dataclass(frozen=True)
class Access:
    """How a factory is reached: `password` belongs to the user name, or is a bearer token; `timeout` in seconds."""

    url: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    proxy_url: str | None = None
    timeout: float = 15.0
    retries: int = 4


class ImageFactory:
    """One Image Factory."""

    def __init__(self, access: Access) -> None:
        self._access, self._url, self.host = access, access.url.rstrip("/"), urlsplit(access.url).netloc
        self._session = requests.Session()
        # As an object, so that no entry of a .netrc file takes its place.
        self._session.auth = self._authorize
        for prefix in ("http://", "https://"):
            self._session.mount(prefix, HTTPAdapter(max_retries=self._retry((*_PASSING, 500), read=1)))
        # A factory that cannot build an installer answers 500, one that builds it gives no answer for minutes.
        self._session.mount(self._v2, HTTPAdapter(max_retries=self._retry(_PASSING, read=0)))

    @property
    def _v2(self) -> str:
        return f"{self._url}/v2/"

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        name, password = self._access.username, self._access.password
        if password and (name or str(request.url).startswith(self._v2)):  # registries take a token as a password
            request.prepare_auth(HTTPBasicAuth(name or "token", password))
        elif password:
            request.headers["Authorization"] = f"Bearer {password}"
        return request

    def _retry(self, statuses: tuple[int, ...], *, read: int) -> Retry:
        return Retry(
            total=self._access.retries,
            read=min(read, self._access.retries),  # each attempt waits as long as the time-out
            other=0,  # a certificate is not better the next time
            status_forcelist=statuses,
            allowed_methods=None,
            backoff_factor=0.5,
            backoff_max=8,
            raise_on_status=False,
            # A server that asks for a long pause would hold up a whole `up`: our own back-off is bounded.
            respect_retry_after_header=False,
        )

    def post(self, schematic: str) -> Posted:
        """Register a schematic document (YAML text); the same bytes always get the same ID."""
        answer = self.call("POST", "/schematics", data=schematic.encode(), headers={"Content-Type": "application/yaml"})
        if answer.status_code not in {200, 201}:
            raise self.refused(answer, "register the schematic")
        content = self._json(answer)
        if not isinstance(content, dict) or not isinstance(content.get("id"), str):
            raise self._garbled("register the schematic")
        return Posted(content["id"], content.get("schematic"))

    def get(self, schematic_id: str) -> str | None:
        """Return the canonical text of a schematic, None when the factory does not know it."""
        answer = self.call("GET", f"/schematics/{schematic_id}")
        if answer.status_code == requests.codes.not_found:
            return None
        if answer.status_code != requests.codes.ok:
            raise self.refused(answer, "read a schematic")
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
        answer = self.call("GET", path)
        if answer.status_code == requests.codes.not_found:
            return None
        rows = self._rows(answer, f"list the extensions of Talos {talos_version}")
        try:
            return [OfficialExtension(str(one["name"]), str(one["ref"])) for one in rows]
        except (TypeError, KeyError):
            raise self._garbled(f"list the extensions of Talos {talos_version}") from None

    def _list(self, path: str, act: str) -> list[Any]:
        return self._rows(self.call("GET", path), act)

    def _rows(self, answer: requests.Response, act: str) -> list[Any]:
        if answer.status_code != requests.codes.ok:
            raise self.refused(answer, act)
        content = self._json(answer)
        if not isinstance(content, list):
            raise self._garbled(act)
        return content

    def call(self, method: str, path: str, **keywords: Any) -> requests.Response:
        """Return the factory's answer whatever its status; raises a sentence when there is none."""
        headers = {"X-Request-ID": str(uuid.uuid4()), **keywords.pop("headers", {})}
        try:
            return self._session.request(
                method,
                self._url + path,
                headers=headers,
                timeout=self._access.timeout,
                proxies=self._proxies(),
                # With every request: set on the session, a variable of the environment would take its place.
                verify=self._access.ca_file or True,
                **keywords,
            )
        except requests.exceptions.SSLError as error:
            fix = "name the authority's certificate in image.factory.caFile"
            raise FactoryError(
                f"the Image Factory {self.host} has a certificate that is not trusted ({_cause(error)}): {fix}"
            ) from None
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
            raise FactoryUnreachableError(
                f"the Image Factory {self.host} broke off its answer: try again, and look at the proxy before it"
            ) from None
        except requests.exceptions.Timeout:
            raise FactoryTimeoutError(
                f"the Image Factory {self.host} gave no answer in {self._access.timeout:g} s: "
                "try again, or write a longer image.factory.timeoutSeconds"
            ) from None
        except requests.exceptions.RequestException as error:
            raise self._unreachable(error) from None
        except OSError as error:
            raise FactoryError(
                f"the CA file of image.factory.caFile cannot be read: {error.strerror or 'it does not exist'}"
            ) from None

    def _unreachable(self, error: requests.exceptions.RequestException) -> FactoryError:
        if "Read timed out" in str(error):  # what urllib3 says after its last attempt
            return FactoryTimeoutError(
                f"the Image Factory {self.host} gave no answer in {self._access.timeout:g} s: "
                "try again, or write a longer image.factory.timeoutSeconds"
            )
        return FactoryUnreachableError(
            f"the Image Factory {self.host} cannot be reached ({_cause(error)}): "
            "correct image.factory.url, or try again when it is back"
        )

    def _proxies(self) -> dict[str, str] | None:
        if self._access.proxy_url:
            return {"http": self._access.proxy_url, "https": self._access.proxy_url}
        # Proxies of the environment do not stand before a factory on this machine.
        return {"no_proxy": "127.0.0.1,localhost"} if self.host.startswith(("127.0.0.1", "localhost")) else None

    def _json(self, answer: requests.Response) -> Any:
        try:
            return json.loads(answer.text)  # the factory sends some lists as text/plain
        except ValueError:
            return None

    def refused(self, answer: requests.Response, act: str) -> FactoryError:
        """Return the sentence for an answer that is no success; `act` says what the factory would not do."""
        line = (answer.text.strip().splitlines() or ["nothing"])[0][:200]
        line = "an HTML page of something before it" if line.lower().startswith(("<!doctype", "<html")) else line
        status = answer.status_code
        told = f"the Image Factory {self.host} would not {act}: it answered {status} ({line})"
        if status in {401, 403}:
            secret = "factoryPassword" if self._access.username else "factoryToken"
            return FactoryError(f"{told}: set it with pulumi config set --secret gpu-platform:{secret}")
        if status in _PASSING or status >= 500:
            return FactoryUnreachableError(f"{told}: try again when it is well; nothing was half-written")
        return FactoryError(f"{told}: mend what it names")

    def _garbled(self, act: str) -> FactoryError:
        return FactoryUnreachableError(
            f"the Image Factory {self.host} would not {act}: the answer is not a factory's "
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
