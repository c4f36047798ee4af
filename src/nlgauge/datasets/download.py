"""Download one file: resumable, checked by size and SHA-256, moved into place at the end."""

from __future__ import annotations

import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from nlgauge.datasets.catalog import Origin
from nlgauge.datasets.origins import git_blob
from nlgauge.digests import sha256_of
from nlgauge.errors import NlgaugeError

BASE = "https://raw.githubusercontent.com"
BLOCK = 1 << 16
TIMEOUT = 30.0  # seconds without a byte
MAX_UNKNOWN_BYTES = 1 << 28  # bytes of a file of unknown size
SLOWEST = 4096  # bytes per second; a slower server is given up
TRIES = 3
PAUSE = 1.0  # seconds before the second try, twice as long before the third
Tell = Callable[[int], None]  # how many bytes of the file are there by now
LOST = (TimeoutError, http.client.HTTPException, ConnectionError, ssl.SSLError, urllib.error.URLError)


class _Broken(Exception):
    """The download broke off and can be resumed."""


def url_of(origin: Origin) -> str:
    """Return the address of the origin's file; NLGAUGE_ORIGIN names another server with the same paths."""
    base = os.environ.get("NLGAUGE_ORIGIN", BASE).rstrip("/")
    if urlsplit(base).scheme not in ("http", "https"):
        raise NlgaugeError(f"NLGAUGE_ORIGIN is '{base}'; expected an address with http:// or https://.")
    return f"{base}/{quote(origin.repository)}/{quote(origin.commit)}/{quote(origin.path)}"


def inside(folder: Path, path: str) -> Path:
    """Return the path below the folder; refuse one outside of it."""
    parts = PurePosixPath(path).parts
    leads_out = "\0" in path or not (folder / path).resolve().is_relative_to(folder.resolve())
    if not parts or ".." in parts or "\\" in path or ":" in path or leads_out:
        raise NlgaugeError(f"'{path}' is outside of {folder}.")
    return folder / path


def is_whole(path: Path, size: int, sha256: str) -> bool:
    """Return whether a file has the size and checksum that were published."""
    return path.is_file() and path.stat().st_size == size and sha256_of(path) == sha256


def download(url: str, target: Path, size: int, sha256: str, tell: Tell = lambda _: None, blob: str = "") -> Path:
    """Download `url` to `target`; a partial file remains in `target.part` and is resumed by the next call.

    Where the SHA-256 is not known (size 0), git's name of the content, `blob`, is checked.
    """
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _try(url, part, size, tell, target)
        name, expected = ("SHA-256", sha256) if sha256 else ("git blob", blob)
        if (actual := sha256_of(part) if sha256 else git_blob(part)) != expected:
            part.unlink()
            raise NlgaugeError(
                f"{url}: is not the published file and was deleted ({name} {actual[:12]}…, expected {expected[:12]}…)."
            )
        part.replace(target)
    except OSError as error:
        raise NlgaugeError(f"{target}: cannot be written ({error.strerror or error}).") from None
    return target


def _try(url: str, part: Path, size: int, tell: Tell, target: Path) -> None:
    for attempt in range(TRIES):
        try:
            _receive(url, part, size, tell)
            return
        except _Broken as error:
            why = str(error)
        if attempt + 1 < TRIES:
            time.sleep(PAUSE * 2**attempt)
    raise NlgaugeError(f"{url}: {why}; tried {TRIES} times. Try again later, or save the file as {target}.")


def _receive(url: str, part: Path, size: int, tell: Tell) -> None:
    """Fill the part file up to `size`; raise _Broken if another try may help."""
    have = part.stat().st_size if part.is_file() else 0
    if not size:  # not known before the server says it: start afresh
        part.unlink(missing_ok=True)
        have = 0
    if have > size:
        part.unlink()
        have = 0
    tell(have)
    if size and have == size:
        return
    headers = {"User-Agent": "nlgauge"} | ({"Range": f"bytes={have}-"} if have else {})
    deadline = time.monotonic() + TIMEOUT + size / SLOWEST
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
            resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            goes_on = answer.status == 206 and resumed
            have = have if goes_on else 0
            size = size or min(int(answer.headers.get("Content-Length") or MAX_UNKNOWN_BYTES), MAX_UNKNOWN_BYTES)
            with part.open("ab" if goes_on else "wb") as out:
                while have <= size and (block := answer.read1(BLOCK)):
                    out.write(block)
                    have += len(block)
                    tell(have)
                    if time.monotonic() > deadline:
                        raise TimeoutError
    except urllib.error.HTTPError as error:
        if error.code == 416:  # the server does not know our part
            part.unlink(missing_ok=True)
        raise _refused(url, error) from None
    except LOST as error:
        raise _Broken(_reason(error)) from None
    if have > size:
        part.unlink()
        raise NlgaugeError(f"{url}: is longer than the published {size} bytes and was deleted.")
    if have < size != MAX_UNKNOWN_BYTES:
        raise _Broken(f"the connection was cut after {have} of {size} bytes")


def _refused(url: str, error: urllib.error.HTTPError) -> Exception:
    answered = f"the server answered {error.code} ({error.reason})"
    if error.code in (408, 416, 425, 429) or error.code >= 500:
        return _Broken(answered)
    hint = "; the file is no longer at its origin" if error.code in (404, 410) else ""
    return NlgaugeError(f"{url}: {answered}{hint}.")


def _reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return f"the server is too slow (nothing for {TIMEOUT:g} s, or under {SLOWEST} bytes a second)"
    if isinstance(error, urllib.error.URLError):
        return f"no network, or the server cannot be reached ({reason})"
    return f"the connection was cut ({type(reason).__name__})"
