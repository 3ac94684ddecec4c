"""Have an Image Factory build an installer, and wait for it in words."""

from __future__ import annotations

import hashlib
import re
import time
from typing import TYPE_CHECKING

from gpu_platform.image_factory import FactoryError, FactoryTimeoutError, FactoryUnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

    from gpu_platform.image_factory import ImageFactory

# A replica that was asked for a schematic before it was posted says for half a minute that there is none.
FORGETFUL_SECONDS = 35.0
INDEX = "application/vnd.oci.image.index.v1+json"


def build(
    factory: ImageFactory, installer: str, tell: Callable[[str], None], *, wait: float = 900.0, pause: float = 3.0
) -> str:
    """Return the digest (sha256:...) of an installer's index, built by the factory if it is not there yet.

    `installer` is a reference host/name/ID:release; `tell` gets a sentence whenever there is something to wait for;
    `wait` and `pause` in seconds. Raises FactoryError: an extension that the release lacks, a build that failed or
    takes longer than `wait`.
    """
    path, _, tag = installer.partition("/")[2].rpartition(":")
    began, unknown_since = time.monotonic(), time.monotonic()
    while True:
        spent = time.monotonic() - began
        try:
            answer = factory.call(
                "GET", f"/v2/{path}/manifests/{tag}", headers={"Accept": INDEX}, allow_redirects=False
            )
        except FactoryTimeoutError:
            if spent > wait:
                raise FactoryUnreachableError(
                    f"the Image Factory {factory.host} has not built {installer} in {wait:.0f} s: "
                    "it may still be at work; run pulumi up again, or leave image.prewarm out"
                ) from None
            tell(f"the Image Factory builds {installer} ({spent:.0f} s so far; the first build takes minutes)")
            continue
        if answer.status_code == 404 and time.monotonic() - unknown_since < FORGETFUL_SECONDS:
            tell(f"the Image Factory does not know {installer} yet, asking again")
            time.sleep(pause)
            continue
        return _digest(factory, answer, installer)


def _digest(factory: ImageFactory, answer: requests.Response, installer: str) -> str:
    if answer.status_code in {301, 302, 303, 307, 308}:
        if found := re.search(r"sha256:[0-9a-f]{64}", answer.headers.get("Location", "")):
            return found.group()
    elif answer.status_code == 200:
        return answer.headers.get("Docker-Content-Digest") or f"sha256:{hashlib.sha256(answer.content).hexdigest()}"
    elif answer.status_code >= 500:
        raise FactoryUnreachableError(
            f"the Image Factory {factory.host} could not build {installer}: it answered {answer.status_code}, and only "
            "its log says why; a release that is hours old may lack its extensions: run pulumi up later, or leave "
            "image.prewarm out"
        )
    else:
        raise factory.refused(answer, f"build {installer}")
    raise FactoryError(
        f"the Image Factory {factory.host} would not say which image {installer} is: check image.factory.url"
    )
