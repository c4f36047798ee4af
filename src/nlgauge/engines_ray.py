"""Engine for a Ray cluster: jobs are Ray tasks, and jobs of a lost worker or machine are retried a few times.

A work whose finished jobs are kept on disk sees there that a job is done.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from nlgauge.errors import NeedsMissing, NlgaugeError, first_line
from nlgauge.options import option

J = TypeVar("J")
R = TypeVar("R")

RETRIES = 3  # of a job whose worker or machine was lost
CHUNKS = 8  # tasks per core that small jobs are put together to: few enough to cost nothing, enough to end together
AHEAD = 4  # tasks per core that are handed to Ray before the result of the first is asked for
REACH = 5.0  # seconds
# Environment variables that are passed to workers. API keys must be set on each machine, because Ray displays them.
PLACES = ("NLGAUGE_STORE", "NLGAUGE_DATA", "NLGAUGE_MODELS", "NLGAUGE_WORDNET")
TOLD = ("NLGAUGE_BASE_URL", "NLGAUGE_MODEL", "NLGAUGE_TORCH_WEIGHTS")
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_worker_niceness": "0",  # Ray's own 15 starves on a machine with other work
}
_works: dict[str, Any] = {}  # in a worker: the work of the run, with its models, from job to job


@dataclass
class Ray:
    """A cluster: the one at `address` ("auto": the one this machine belongs to), or one of this machine's cores."""

    address: str | None = None
    used: int = 0  # how often work was given to it
    lost: int = 0  # tasks that were begun again, because their worker or machine was lost
    far: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if importlib.util.find_spec("ray") is None:
            raise NeedsMissing(f"{option('engine', 'ray')} needs the extra 'ray': pip install \"nlgauge[ray]\"")

    def run(self, work: Callable[[J], R], jobs: Iterable[J], *, alone: bool = False, gpu: bool = False) -> Iterator[R]:
        """Run the jobs as Ray tasks and give their results in the order of the jobs; lost tasks begin again."""
        if not (listed := list(jobs)):
            return
        ray, self.used = self._ray, self.used + 1
        gpus = self._has("GPU") if gpu else 0
        cores = gpus or self._has("CPU")
        size = 1 if alone else max(1, len(listed) // (CHUNKS * cores))
        chunks = [listed[at : at + size] for at in range(0, len(listed), size)]
        # Ray would retry forever if memory is short; with max_calls=0, the process keeps running with its model loaded.
        needs = {"num_gpus": 1, "max_calls": 0} if gpus else {"num_cpus": 1}
        task, shared = ray.remote(max_retries=0, **needs)(_chunk), [_sent(ray, work)]
        begun: deque[tuple[Any, list[J]]] = deque()
        try:
            for chunk in chunks:
                begun.append((task.remote(shared, chunk), chunk))
                if len(begun) > AHEAD * cores:
                    yield from self._result(*begun.popleft(), task, shared)
            while begun:
                yield from self._result(*begun.popleft(), task, shared)
        finally:
            for each, _ in begun:
                ray.cancel(each)

    def _result(self, begun: Any, chunk: list[Any], task: Any, shared: Any) -> list[Any]:
        e: Any = importlib.import_module("ray.exceptions")
        for tried in range(1 + RETRIES):
            try:
                return list(self._ray.get(begun))
            except e.RayTaskError as error:
                cause = error.cause if isinstance(getattr(error, "cause", None), Exception) else error
                if isinstance(cause, NlgaugeError):
                    raise cause from None
                said = f"a Ray worker failed: {type(cause).__name__}: {first_line(cause)}"
                raise NlgaugeError(said) from error
            except (e.WorkerCrashedError, e.NodeDiedError, e.OutOfMemoryError, e.ObjectLostError) as error:
                why = first_line(error)
            if tried < RETRIES:
                self.lost += 1
                begun = task.remote(shared, chunk)
        raise NlgaugeError(
            f"a Ray worker died {RETRIES + 1} times at one job ({why}): out of memory, or a metric that crashes; what "
            "was finished is kept, run the command again."
        )

    @cached_property
    def _ray(self) -> Any:
        """Return Ray, connected on first use; a program that has called ray.init() keeps its own cluster."""
        with _settings():
            ray: Any = importlib.import_module("ray")
            if not ray.is_initialized():
                self._knock()
                self._connect(ray)
        return ray

    def _connect(self, ray: Any) -> None:
        told = {name: os.environ[name] for name in TOLD if name in os.environ}
        for name in PLACES:
            if os.environ.get(name):  # a worker has another working directory
                told[name] = str(Path(os.environ[name]).expanduser().absolute())
        here = {} if self.address else {"include_dashboard": False}
        try:
            with _silent():
                ray.init(
                    address=self.address or "local",
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    runtime_env={"env_vars": told} if told else None,
                    **here,
                )
        except Exception as error:  # Ray raises it bare when a machine is too busy to start it
            where = self.address or "this machine"
            raise NlgaugeError(f"{option('engine', 'ray')}: no cluster at {where} ({first_line(error)}).") from None
        # Ray reports lost workers on stdout, where a table is expected, and has no public option to turn this off.
        importlib.import_module("ray._private.worker").__dict__["_worker_logs_enabled"] = False

    def _knock(self) -> None:
        """Check that the address accepts connections, because Ray itself would retry for many minutes."""
        host, _, port = (self.address or "").rpartition("://")[2].rpartition(":")
        if host and port.isdecimal():
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=REACH).close()
            except (OSError, OverflowError) as error:
                raise NlgaugeError(
                    f"{option('address', self.address)}: no Ray cluster answers at this address ({error})."
                ) from None

    def _has(self, what: str) -> int:
        return int(self._ray.cluster_resources().get(what, 0 if what == "GPU" else 1))


def _chunk(shared: list[Any], jobs: Sequence[Any]) -> list[Any]:
    """Run some jobs in a worker. The reference is passed in a list, so that Ray does not copy the work again."""
    os.environ.setdefault("NLGAUGE_THREADS", "1")  # one core is what it was given
    if (name := shared[0].hex()) not in _works:
        _works.clear()
        _works[name] = importlib.import_module("ray").get(shared[0])
    return [_works[name](job) for job in jobs]


@contextmanager
def _settings() -> Iterator[None]:
    """Set what Ray reads from the environment when it starts, and restore the environment afterwards."""
    new = {name: value for name, value in SETTINGS.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress Ray's start-up messages, which it writes to the file descriptor directly."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _sent(ray: Any, work: Any) -> Any:
    """Put an object into the cluster's memory; objects from a user's own file are sent with their code."""
    for name, module in list(sys.modules.items()):
        if name.startswith("nlgauge_user_"):
            ray.cloudpickle.register_pickle_by_value(module)
    return ray.put(work)
