"""Rate limits of a judge: requests and tokens per minute, and pauses requested by the server."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime


class Bucket:
    """At most `per_minute` per minute, evenly; bursts of one second's amount are allowed. None: no limit.

    The clock is monotonic: changes of the wall clock have no effect.
    """

    def __init__(self, per_minute: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = None if per_minute is None else per_minute / 60
        self.clock = clock
        self._free_at = clock()

    def wait(self, amount: float) -> float:
        """Take an amount and return the seconds to wait before it may be used."""
        if self.rate is None:
            return 0.0
        now = self.clock()
        begin = max(self._free_at, now - 1.0)
        self._free_at = begin + amount / self.rate
        return max(0.0, begin - now)


class Gate:
    """Both limits, and the time before which no request may be sent (a server's Retry-After applies to all)."""

    def __init__(self, requests: float | None = None, tokens: float | None = None) -> None:
        self._requests, self._tokens = Bucket(requests), Bucket(tokens)
        self._closed_until = 0.0

    def close(self, seconds: float) -> None:
        """Block all requests for that many seconds."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def enter(self, tokens: float) -> float:
        """Reserve a request and return the seconds to wait; afterwards `closed` returns whether to wait longer."""
        return max(self._requests.wait(1), self._tokens.wait(tokens), self.closed())

    def closed(self) -> float:
        """Return the seconds for which requests are blocked."""
        return max(0.0, self._closed_until - time.monotonic())


def retry_after(headers: dict[str, str], now: float | None = None) -> float | None:
    """Return the seconds that a server asks to wait: `retry-after-ms`, or `retry-after` as seconds or a date.

    A date is compared with the server's own clock if it sends it: ours may be wrong.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "150"}), retry_after({"retry-after": "soon"})
    (2.0, 0.15, None)
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        text = headers["retry-after"]
    except (KeyError, ValueError):
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    if (then := _moment(text)) is None:
        return None
    if now is None:
        others = _moment(headers.get("date", ""))
        now = time.time() if others is None else others
    return max(0.0, then - now)


def _moment(said: str) -> float | None:
    try:
        return parsedate_to_datetime(said).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
