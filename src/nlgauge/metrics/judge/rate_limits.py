"""How fast a judge may be asked: requests and tokens per minute, and pauses that the server asks for."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Protocol


class Clock(Protocol):
    def __call__(self) -> float: ...


class Bucket:
    """At most `per_minute` a minute, evenly; a burst of a second's worth is allowed. None: no limit.

    The clock is monotonic: a jump of the wall clock changes nothing.
    """

    def __init__(self, per_minute: float | None, clock: Clock = time.monotonic) -> None:
        self.rate = None if per_minute is None else per_minute / 60
        self.clock = clock
        self._free_at = clock()

    def wait(self, amount: float) -> float:
        """Takes the amount and gives the seconds to sleep before using it."""
        if self.rate is None:
            return 0.0
        now = self.clock()
        begin = max(self._free_at, now - 1.0)
        self._free_at = begin + amount / self.rate
        return max(0.0, begin - now)


class Gate:
    """Both limits, and the time before which nobody may send (a server's Retry-After is meant for all)."""

    def __init__(self, requests: float | None = None, tokens: float | None = None) -> None:
        self._requests, self._tokens = Bucket(requests), Bucket(tokens)
        self._closed_until = 0.0

    def close(self, seconds: float) -> None:
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def enter(self, tokens: float) -> float:
        """Takes a place and gives the seconds to wait before using it; then `closed` says whether to wait on."""
        return max(self._requests.wait(1), self._tokens.wait(tokens), self.closed())

    def closed(self) -> float:
        return max(0.0, self._closed_until - time.monotonic())


def retry_after(headers: dict[str, str], now: float | None = None) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date.

    A date is taken against the server's own clock where it tells it: ours may have jumped.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "150"}), retry_after({"retry-after": "soon"})
    (2.0, 0.15, None)
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        said = headers["retry-after"]
    except (KeyError, ValueError):
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    if (then := _moment(said)) is None:
        return None
    if now is None:
        theirs = _moment(headers.get("date", ""))
        now = time.time() if theirs is None else theirs
    return max(0.0, then - now)


def _moment(said: str) -> float | None:
    try:
        return parsedate_to_datetime(said).timestamp()
    except (TypeError, ValueError):
        return None
