"""Execution engines: this process with all cores, or the machines of a Ray cluster.

A work is a callable object that holds the data shared by its jobs and is called with one job. It returns a result and
has no side effects on other jobs, so an engine may call it on any machine, and again if a machine was lost. Results are
returned in the order of the jobs, so they do not depend on the engine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from nlgauge.engines_ray import Ray
from nlgauge.errors import NlgaugeError
from nlgauge.options import option

J = TypeVar("J")
R = TypeVar("R")

AHEAD = 16  # jobs per thread that are begun before the result of the first is asked for
NAMES = ("local", "ray")


class Engine(Protocol):
    """Interface of execution engines."""

    @property
    def far(self) -> bool:
        """Return whether jobs leave this process, so that they must be small and hold no open file."""

    def run(self, work: Callable[[J], R], jobs: Iterable[J], *, alone: bool = False, gpu: bool = False) -> Iterator[R]:
        """Return the results in the order of the jobs.

        `alone`: a job is long, uses all cores of its machine, and holds models that the next one needs too; with `gpu`
        it gets one where there are any.
        """


@dataclass(frozen=True)
class Local:
    """This process. Kernels release the GIL, so threads are enough; all cores by default.

    >>> list(Local(threads=2).run(lambda x: x * x, range(5)))
    [0, 1, 4, 9, 16]
    """

    threads: int | None = None
    far: ClassVar[bool] = False

    def run(self, work: Callable[[J], R], jobs: Iterable[J], *, alone: bool = False, gpu: bool = False) -> Iterator[R]:
        """Run the jobs on threads and give their results in the order of the jobs."""
        threads = 1 if alone else self.threads or os.cpu_count() or 1
        if threads == 1:
            yield from map(work, jobs)
            return
        begun: deque[Future[R]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            try:
                for job in jobs:
                    begun.append(pool.submit(work, job))
                    if len(begun) > AHEAD * threads:
                        yield begun.popleft().result()
                while begun:
                    yield begun.popleft().result()
            finally:  # an error, Ctrl-C, or nobody wants the rest: stop between two jobs
                for each in begun:
                    each.cancel()


def engine_of(name: str = "local", address: str | None = None) -> Engine:
    """Return an engine; `address` is where a Ray cluster listens ("auto": the one that runs here).

    >>> engine_of("local")
    Local(threads=None)
    """
    if name not in NAMES:
        raise NlgaugeError(f"no engine '{name}'; use {' or '.join(NAMES)}.")
    if name == "local":
        if address is not None:
            raise NlgaugeError(f"{option('address', address)}: only {option('engine', 'ray')} has an address.")
        return Local()
    return Ray(address)


_current: ContextVar[Engine | None] = ContextVar("engine", default=None)


def current() -> Engine:
    """Return the engine that resampling uses."""
    return _current.get() or Local()


@contextmanager
def using(engine: Engine | str, **options: Any) -> Iterator[Engine]:
    """Use an engine for all resampling inside the block; the numbers do not depend on the engine.

    >>> with using("local") as engine:
    ...     current() is engine
    True
    """
    chosen = engine_of(engine, **options) if isinstance(engine, str) else engine
    before = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(before)
