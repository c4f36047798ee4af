"""The key of an endpoint: from the environment or a file, and nowhere else; never printed, stored or reported.

A key belongs to the endpoint that it was set for: no other one gets it, whatever a task, a redirect or a slip says.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from nlgauge.errors import DataError, NlgaugeError
from nlgauge.options import option

OPENAI = "https://api.openai.com/v1"
# Variables with a key, and where the endpoint of each is said.
HOMES = {"NLGAUGE_API_KEY": "NLGAUGE_BASE_URL", "OPENAI_API_KEY": "OPENAI_BASE_URL"}


@dataclass(frozen=True)
class Secret:
    """A key that hides itself. `withheld`: which key was not taken, and why.

    >>> key = Secret("sk-123456", "a test")
    >>> key, key.hide("Incorrect API key: sk-123456")
    (Secret(…), 'Incorrect API key: …')
    """

    VARIABLE: ClassVar[str] = "NLGAUGE_API_KEY"
    _value: str = field(default="", repr=False)
    source: str = ""
    withheld: str = ""

    def __repr__(self) -> str:
        return "Secret(…)" if self._value else "Secret()"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self) -> dict[str, str]:
        """Return the HTTP header that carries the key; empty without a key."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """Return a text with the key blotted out."""
        return text.replace(self._value, "…") if self._value else text


def find_key(url: str, file: str | Path | None = None) -> Secret:
    """The key for that endpoint: in the file that the user names, else in the environment; none is fine for a local
    server.

    NLGAUGE_API_KEY goes to NLGAUGE_BASE_URL, or where that is not set to the endpoint that the user named otherwise;
    OPENAI_API_KEY goes to OPENAI_BASE_URL, or to OpenAI.
    """
    if file is not None:
        try:
            return Secret(Path(file).expanduser().read_text(encoding="utf-8").strip(), str(file))
        except (OSError, ValueError, RuntimeError) as error:
            raise DataError(f"{file}: the key cannot be read ({error}).") from None
    withheld = []
    for variable, where in HOMES.items():
        if value := os.environ.get(variable, "").strip():
            home = os.environ.get(where, "") or (OPENAI if where == "OPENAI_BASE_URL" else url)
            if origin(home) == origin(url):
                return Secret(value, variable)
            withheld.append(f"{variable} belongs to {origin(home)} and is not sent to {origin(url)}")
    said = "; ".join(withheld)
    return Secret(withheld=f"{said}: give the key of that endpoint with {option('key_file')}" if said else "")


def origin(url: str) -> str:
    """Scheme, host and port: who gets what is sent.

    >>> origin("https://API.openai.com/v1/chat/completions"), origin("http://localhost:8000/v1")
    ('https://api.openai.com:443', 'http://localhost:8000')
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    except ValueError:
        return url
    return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}:{port}"


def checked_url(url: str) -> str:
    """A base URL without its last slash; one that holds a password or is none of the web is refused."""
    try:
        parts = urlsplit(url.strip())
        odd = parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        odd = True
    if odd:
        raise NlgaugeError(f"base URL '{url[:80]}': write it as in https://api.openai.com/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise NlgaugeError(
            f"base URL of {parts.hostname}: holds a name, a password or a query, and would be kept in the store; "
            f"leave it out and give the key with {option('key_file')}."
        )
    return url.strip().rstrip("/")
