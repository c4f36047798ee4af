"""The engine of a Ray cluster: tasks for work that is quick to begin, Ray Data's pool of actors for work that holds models.

Ray retries what was on a lost worker or node. A work whose finished jobs are kept on disk sees there that a job is done.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from nlgauge import errors
from nlgauge.errors import NeedsMissing, NlgaugeError

J = TypeVar("J")
R = TypeVar("R")

RETRIES = 3  # of a job whose worker or node was lost
CHUNKS = (
    8  # tasks per core that the jobs are dealt out to: few enough to cost nothing, enough to end together
)
REACH = 5.0  # seconds
AHEAD = 4  # tasks per core that are handed to Ray before the result of the first is asked for
# What workers must know of this process; keys of judges are left to the machines themselves, as Ray would show them.
PLACES = ("NLGAUGE_STORE", "NLGAUGE_DATA", "NLGAUGE_MODELS", "NLGAUGE_WORDNET")
TOLD = ("NLGAUGE_BASE_URL", "NLGAUGE_MODEL")


@dataclass
class Ray:
    """A cluster: the one at `address` ("auto": the one this machine belongs to), or one of this machine's cores."""

    address: str | None = None
    used: int = 0  # how often work was given to it
    lost: int = 0  # jobs that were begun again, because their worker or machine was lost
    far: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if importlib.util.find_spec("ray") is None:
            raise NeedsMissing("--engine ray needs the extra 'ray': pip install \"nlgauge[ray]\"")

    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[R]:
        if not (listed := list(jobs)):
            return
        ray, self.used = self._ray, self.used + 1
        cores = self._has("CPU")
        size = max(1, len(listed) // (CHUNKS * cores))
        chunks = [listed[at : at + size] for at in range(0, len(listed), size)]
        task, shared = ray.remote(num_cpus=1, max_retries=RETRIES)(_chunk), _sent(ray, work)
        begun: deque[Any] = deque()
        try:
            for chunk in chunks:
                begun.append(task.remote(shared, chunk))
                if len(begun) > AHEAD * cores:
                    yield from self._result(begun.popleft())
            while begun:
                yield from self._result(begun.popleft())
        finally:
            for each in begun:
                ray.cancel(each)

    def _result(self, task: Any) -> list[Any]:
        with _said():
            return list(self._ray.get(task))

    def settled(self, work: Callable[[J], str], jobs: Iterable[J], *, gpu: bool = False) -> Iterator[str]:
        if not (listed := list(jobs)):
            return
        ray, self.used = self._ray, self.used + 1
        rd: Any = importlib.import_module("ray.data")
        gpus = self._has("GPU") if gpu else 0
        workers = max(1, min(gpus or self._has("CPU"), len(listed)))
        _quiet(rd)
        numbers = rd.from_items([{"job": at} for at in range(len(listed))], override_num_blocks=len(listed))
        tries = self._tries()
        done = numbers.map_batches(  # Ray Data itself would begin a lost job again for ever
            _Worker, fn_constructor_args=(_sent(ray, work), ray.put(listed), tries), batch_size=1,
            **({"num_gpus": 1} if gpus else {"num_cpus": 1}),
            compute=rd.ActorPoolStrategy(min_size=1, max_size=workers, initial_size=workers),
        )  # fmt: skip
        waiting: dict[int, str] = {}
        told = 0
        with _said():
            for row in done.iter_rows():
                if row["error"]:
                    raise getattr(errors, row["error"], NlgaugeError)(row["result"])
                waiting[int(row["job"])] = row["result"]
                while told in waiting:
                    yield waiting.pop(told)
                    told += 1
        if told < len(listed):
            raise NlgaugeError(f"Ray lost {len(listed) - told} of {len(listed)} jobs; run the command again.")
        self.lost += ray.get(tries.again.remote())

    def _tries(self) -> Any:
        """Beside this process, which lives as long as the run."""
        strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
        node = self._ray.get_runtime_context().get_node_id()
        here = strategies.NodeAffinitySchedulingStrategy(node, soft=True)
        options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": here}
        return self._ray.remote(**options)(_Tries).remote()

    @cached_property
    def _ray(self) -> Any:
        """Connected, on the first use; a program that has called ray.init() keeps its own cluster."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own 15 starves on a machine with other work
        ray: Any = importlib.import_module("ray")
        if not ray.is_initialized():
            self._knock()
            self._connect(ray)
        return ray

    def _connect(self, ray: Any) -> None:
        told = {name: os.environ[name] for name in TOLD if name in os.environ}
        for name in PLACES:
            if os.environ.get(name):  # a worker stands in another folder
                told[name] = str(Path(os.environ[name]).expanduser().absolute())
        here = {} if self.address else {"include_dashboard": False}
        try:
            with _silent():
                ray.init(
                    address=self.address or "local", log_to_driver=False, logging_level=logging.ERROR,
                    runtime_env={"env_vars": told} if told else None, **here,
                )  # fmt: skip
        except Exception as error:  # Ray raises it bare when a machine is too busy to start it
            where = self.address or "this machine"
            raise NlgaugeError(f"--engine ray: no cluster at {where} ({_first_line(error)}).") from None
        # Ray tells of each lost worker on stdout, where a table is expected; it has no public switch for that.
        importlib.import_module("ray._private.worker").__dict__["_worker_logs_enabled"] = False

    def _knock(self) -> None:
        """Ray would try for many minutes."""
        host, _, port = (self.address or "").rpartition("://")[2].rpartition(":")
        if host and port.isdecimal():
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=REACH).close()
            except (OSError, OverflowError) as error:
                raise NlgaugeError(f"--address {self.address}: nobody listens there ({error}).") from None

    def _has(self, what: str) -> int:
        return int(self._ray.cluster_resources().get(what, 0 if what == "GPU" else 1))


def _chunk(work: Callable[[J], R], jobs: Sequence[J]) -> list[R]:
    return [work(job) for job in jobs]


class _Tries:
    """How often each job was begun; whoever asks is about to begin it."""

    def __init__(self) -> None:
        self.begun: Counter[int] = Counter()

    def begin(self, job: int) -> int:
        self.begun[job] += 1
        return self.begun[job]

    def again(self) -> int:
        return sum(times > 1 for times in self.begun.values())


class _Worker:
    """One process of the pool: it has the work, with its models, for as long as the run lasts."""

    def __init__(self, work: Any, jobs: Any, tries: Any) -> None:
        self.ray: Any = importlib.import_module("ray")
        os.environ.setdefault("NLGAUGE_THREADS", "1")  # one core is what it was given
        self.work, self.jobs, self.tries = self.ray.get(work), self.ray.get(jobs), tries

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {"job": [], "result": [], "error": []}
        for at in batch["job"].tolist():
            for name, value in zip(found, (at, *self._done(at)), strict=True):
                found[name].append(value)
        return found

    def _done(self, at: int) -> tuple[str, str]:
        """The result, or an error as text: Ray would wrap it in its own."""
        try:
            if self.ray.get(self.tries.begin.remote(at)) > 1 + RETRIES:
                raise NlgaugeError(
                    f"job {at + 1} of {len(self.jobs)} has ended its worker {1 + RETRIES} times (out of memory, or a metric "
                    "that crashes); what was finished is kept."
                )
            return self.work(self.jobs[at]), ""
        except NlgaugeError as wrong:
            return str(wrong), type(wrong).__name__
        except Exception as wrong:
            said = f"a worker on {socket.gethostname()} failed: {type(wrong).__name__}: {_first_line(wrong)}"
            return said, NlgaugeError.__name__


@contextmanager
def _said() -> Iterator[None]:
    """Ray's errors in one line."""
    e: Any = importlib.import_module("ray.exceptions")
    try:
        yield
    except e.RayTaskError as error:
        cause = error.cause if isinstance(getattr(error, "cause", None), Exception) else error
        if isinstance(cause, NlgaugeError):
            raise cause from None
        raise NlgaugeError(f"a Ray worker failed: {type(cause).__name__}: {_first_line(cause)}") from error
    except (e.WorkerCrashedError, e.ActorDiedError, e.ActorUnavailableError, e.OutOfMemoryError) as error:
        raise NlgaugeError(
            f"a Ray worker died {RETRIES + 1} times at one job ({_first_line(error)}); what was finished is kept, "
            "run the command again."
        ) from error


@contextmanager
def _silent() -> Iterator[None]:
    """Ray's own lines about how it starts go to the file descriptor itself."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _sent(ray: Any, work: Any) -> Any:
    """Into the cluster's memory; what comes from a user's own file, as a metric may, is sent with its code."""
    for name, module in list(sys.modules.items()):
        if name.startswith("nlgauge_user_"):
            ray.cloudpickle.register_pickle_by_value(module)
    return ray.put(work)


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _quiet(data: Any) -> None:
    """Ray Data tells its plans and draws bars of its own."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
