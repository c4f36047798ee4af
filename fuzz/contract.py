"""What every target promises: a value, or an NlgaugeError of one line; in time; never another exception."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nlgauge.errors import NlgaugeError

LONGEST = 2000  # characters of an error line: it may quote the input, but not all of it


class Broken(AssertionError):
    """An answer that is neither a proper value nor a proper refusal."""


class Hang(BaseException):
    """A case that did not end in its time; no handler of `Exception` may swallow it."""


@dataclass(frozen=True)
class Target:
    """`run(data)` returns when the contract holds. `weight` is its share of the executions, more for cheap ones."""

    name: str
    run: Callable[[bytes], None]
    seeds: Sequence[bytes]
    weight: int = 1
    words: Sequence[bytes] = ()  # what is worth putting in


def refused(function: Callable[[], Any]) -> Any:
    """The function's value, or None when it refused as promised."""
    try:
        return function()
    except NlgaugeError as error:
        said = str(error)
        if not said.strip() or "\n" in said or len(said) > LONGEST:
            raise Broken(f"a refusal must be one line of words, found {said[:300]!r} ({len(said)})") from error
        return None


def check(holds: Any, what: str) -> None:
    if not holds:
        raise Broken(what)


def text_of(data: bytes) -> str:
    """Bytes as a text: bad bytes become lone surrogates, which JSON can carry too."""
    return data.decode("utf-8", "surrogateescape")


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Interrupt Python code and regular expressions after so many seconds of the processor, or four times that on the
    clock.

    The processor's time, because a busy machine is no hang. Compiled code is watched by the runner's parent.
    """

    def stop(*_: object) -> None:
        raise Hang(f"no answer in {seconds:g} s")

    timers = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, 4 * seconds)}
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, after in timers.values():
        signal.setitimer(timer, after)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
