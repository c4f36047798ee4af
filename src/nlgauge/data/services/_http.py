"""JSON over HTTP for the services: paging is theirs; retries, limits and clear errors are here."""

from __future__ import annotations

import base64
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nlgauge.errors import DataError, first_line

SECONDS, TRIES = 60, 4
TRY_AGAIN = (429, 500, 502, 503, 504)
MAX_BYTES = 256 << 20  # of one answer


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key to another host, so it is an error."""

    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        """Do not follow redirects."""


OPENER = urllib.request.build_opener(NoRedirects)


@dataclass(frozen=True)
class Server:
    """A server of a service, and the header with its key, which no message shows."""

    name: str
    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, name: str, variables: tuple[str, ...], headers: Mapping[str, str]) -> Server:
        """Take the address from the first of the environment variables that is set."""
        base = next((os.environ[v] for v in variables if os.environ.get(v)), "")
        if urllib.parse.urlsplit(base).scheme not in ("http", "https"):
            raise DataError(f"{name}://: set {variables[0]} to the address of the server, http(s)://HOST[:PORT].")
        return cls(name, base.rstrip("/"), headers)

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON of an answer; parameters without a value are not sent."""
        given = {k: v for k, v in params.items() if v is not None}
        return self.call("GET", f"{path}?{urllib.parse.urlencode(given, doseq=True)}" if given else path)

    def post(self, path: str, body: Any) -> Any:
        """Send JSON and return that of the answer."""
        return self.call("POST", path, json.dumps(body).encode("utf-8"))

    def call(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
        """Send a request, again where the server asks for patience, and return the JSON of the answer."""
        headers = {"Accept": "application/json", "Content-Type": kind, **self.headers}
        for attempt in range(TRIES):
            request = urllib.request.Request(f"{self.base}{path}", data=body, headers=headers, method=method)
            try:
                with OPENER.open(request, timeout=SECONDS) as answer:
                    raw = answer.read(MAX_BYTES + 1)
                    break
            except urllib.error.HTTPError as error:
                if error.code not in TRY_AGAIN or attempt == TRIES - 1:
                    raise DataError(f"{self.name}: {path.partition('?')[0]}: {_reason(error)}") from None
                wait = error.headers.get("Retry-After") or ""
                time.sleep(min(float(wait), SECONDS) if wait.isdecimal() else 0.5 * 2**attempt)
            except (urllib.error.URLError, OSError) as error:
                raise DataError(f"{self.name}: no answer from {self.base} ({first_line(error)}).") from None
        if len(raw) > MAX_BYTES:
            raise DataError(f"{self.name}: {path.partition('?')[0]}: the answer has more than {MAX_BYTES >> 20} MiB.")
        try:
            return json.loads(raw) if raw.strip() else {}
        except ValueError:
            raise DataError(f"{self.name}: {path.partition('?')[0]}: the answer is not JSON.") from None


def basic(user: str, password: str) -> dict[str, str]:
    """Return the header of a name and a password."""
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def _reason(error: urllib.error.HTTPError) -> str:
    """Return the error message of a response in one line."""
    try:
        said = json.loads(error.read(1 << 16))
    except (ValueError, OSError):
        said = None
    text = said.get("message") or said.get("detail") or said.get("error_code") if isinstance(said, dict) else None
    return f"HTTP {error.code}{f', {str(text).splitlines()[0][:200]}' if text else ''}"
