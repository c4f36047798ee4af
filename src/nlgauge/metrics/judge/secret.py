"""The key of an endpoint, from the environment or a file only; it is never printed, stored or reported.

A key belongs to the endpoint that it was set for: no other endpoint receives it, whatever a task, a redirect or a typo
says. It is checked when it is read, because libraries quote a header that they cannot send.
"""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from nlgauge.errors import DataError, NlgaugeError
from nlgauge.options import option

HTML_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
# Escapes of a character: as in Python and JSON (x41, u0041, or a backslash before it), in URLs (%41), in HTML (&#65;).
ESCAPED = re.compile(
    r"\\+(?:u00|u\{|x|U000000)([0-9a-fA-F]{2})\}?|\\+|%([0-9a-fA-F]{2})|&(amp|lt|gt|quot|apos);|&#0*(\d{1,7});"
    r"|&#[xX]0*([0-9a-fA-F]{1,6});"
)
MAX_ESCAPES = 6  # levels of nested escapes
OPENAI = "https://api.openai.com/v1"
MAX_KEY = 16_384  # bytes of a key file
# Requests to this machine never use a proxy, whatever the environment says; patterns of httpx.
LOOPBACK = ("all://localhost", "all://*.localhost", "all://127.0.0.1", "all://0.0.0.0", "all://[::1]")
# Variables with a key, and the variable of its endpoint.
HOMES = {"NLGAUGE_API_KEY": "NLGAUGE_BASE_URL", "OPENAI_API_KEY": "OPENAI_BASE_URL"}


@dataclass(frozen=True)
class Secret:
    """A key that is never shown. `withheld`: which key was not used, and why.

    A key is one line of printable ASCII characters; otherwise NlgaugeError is raised, without quoting it.

    >>> key = Secret("sk-123456", "a test")
    >>> key, key.hide("Incorrect API key: sk-123456")
    (Secret(…), 'Incorrect API key: …')
    >>> Secret("a/b+c", "a test").hide(r"x?key=a%2Fb%2bc or a\\/b\\u002bc")
    'x?key=… or …'
    """

    VARIABLE: ClassVar[str] = "NLGAUGE_API_KEY"
    _value: str = field(default="", repr=False)
    source: str = ""
    withheld: str = ""

    def __post_init__(self) -> None:
        if wrong := _fault(self._value):
            raise DataError(
                f"{self.source or 'the key'}: {wrong}; a key is one line of printable ASCII characters, with nothing "
                "else in the file or the variable."
            )

    def __repr__(self) -> str:
        return "Secret(…)" if self._value else "Secret()"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self) -> dict[str, str]:
        """Return the HTTP header that carries the key; empty without a key."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """Return a text with the key redacted, however a library or a server writes it.

        It may be escaped as in Python, JSON, a URL or HTML, fully or partly, also nested. Redact a text before
        shortening it: a truncated key is not recognized.
        """
        if not self._value:
            return text
        text, key = text.replace(self._value, "…"), _plain(self._value)[0]
        plain, spans = _plain(text)
        place, end, parts = plain.find(key) if key else -1, 0, []
        while place >= 0:
            parts += [text[end : spans[place][0]], "…"]
            end = spans[place + len(key) - 1][1]
            place = plain.find(key, place + len(key))
        return "".join([*parts, text[end:]])


def _fault(key: str) -> str:
    """Describe what is wrong with a key without quoting it; '' if it is valid."""
    if "\n" in key or "\r" in key:
        return f"holds {len(key.splitlines())} lines"
    if strange := next((c for c in key if not "!" <= c <= "~"), ""):
        what = "a blank" if strange == " " else f"the character U+{ord(strange):04X}"
        return f"holds {what} at place {key.index(strange) + 1}"
    if re.match(r"(export\s)?[A-Z][A-Z0-9_]*=.", key):
        return "looks like a line of settings (NAME=value)"
    return "is in quotation marks" if len(key) > 1 and key[0] == key[-1] and key[0] in "\"'`" else ""


def _plain(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without escapes, and the position of each of its characters in the original.

    Python, JSON, URL and HTML escapes may be nested, so this is repeated. Backslashes are left out.
    """
    spans = [(i, i + 1) for i in range(len(text))]
    for _ in range(MAX_ESCAPES):
        characters: list[str] = []
        places: list[tuple[int, int]] = []
        end = 0
        for unit in ESCAPED.finditer(text):
            characters += text[end : unit.start()]
            places += spans[end : unit.start()]
            end = unit.end()
            if c := _meant(unit):
                characters.append(c)
                places.append((spans[unit.start()][0], spans[end - 1][1]))
        if not end:
            break
        text, spans = "".join(characters) + text[end:], places + spans[end:]
    return text, spans


def _meant(unit: re.Match[str]) -> str:
    """Return the character of an escape; '' for backslashes, which may precede any character."""
    python, url, name, decimal, hexadecimal = unit.groups()
    if name:
        return HTML_NAMES[name]
    number = int(decimal) if decimal else int(python or url or hexadecimal or "0", 16)
    return chr(number) if 32 < number < 127 else ""


def _read_key(file: str | Path) -> str:
    with Path(file).expanduser().open("rb") as opened:
        raw = opened.read(MAX_KEY + 1)
    if len(raw) > MAX_KEY:
        raise DataError(f"{file}: has more than {MAX_KEY:,} bytes, so it is not a key.")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{file}: is UTF-16; save the key as plain text (UTF-8).")
    try:
        key = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:  # its text quotes bytes of the key
        raise DataError(f"{file}: the key cannot be read (byte {error.start + 1} is not UTF-8).") from None
    if not key:
        raise DataError(f"{file}: is empty, expected a key.")
    return key


def find_key(url: str, file: str | Path | None = None) -> Secret:
    """Return the key for an endpoint, from the user's file, else the environment; a local server may need none.

    NLGAUGE_API_KEY belongs to NLGAUGE_BASE_URL, or where that is not set to the endpoint that the user gave otherwise;
    OPENAI_API_KEY belongs to OPENAI_BASE_URL, or to OpenAI.
    """
    if file is not None:
        try:
            return Secret(_read_key(file), str(file))
        except (OSError, ValueError, RuntimeError) as error:
            words = error.strerror if isinstance(error, OSError) else error
            raise DataError(f"{file}: the key cannot be read ({words}).") from None
    withheld = []
    for variable, where in HOMES.items():
        if value := os.environ.get(variable, "").removeprefix("\ufeff").strip():
            home = os.environ.get(where, "") or (OPENAI if where == "OPENAI_BASE_URL" else url)
            if origin(home) == origin(url):
                return Secret(value, variable)
            withheld.append(f"{variable} belongs to {origin(home)} and is not sent to {origin(url)}")
    text = "; ".join(withheld)
    return Secret(withheld=f"{text}: give the key of that endpoint with {option('key_file')}" if text else "")


def origin(url: str) -> str:
    """Return scheme, host and port of the server that receives the requests.

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
    """Return a base URL without its last slash; raise an error if it contains a password or is not http(s)."""
    try:
        parts = urlsplit(url.strip())
        odd = parts.scheme.lower() not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        odd = True
    if odd:
        raise NlgaugeError(f"invalid base URL '{url[:80]}'; expected a URL such as https://api.openai.com/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise NlgaugeError(
            f"base URL of {parts.hostname}: holds a name, a password or a query, and would be kept in the store; "
            f"leave it out and give the key with {option('key_file')}."
        )
    return url.strip().rstrip("/")
