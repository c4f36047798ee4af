"""What every engine promises, on the one of this process."""

from __future__ import annotations

import importlib.util
import threading
import time

import pytest

from nlgauge.engines import Local, current, engine_of, using
from nlgauge.errors import NeedsMissing, NlgaugeError


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_jobs(threads: int) -> None:
    def work(job: int) -> int:
        time.sleep(0.003 * (job % 3))
        return job * job

    assert list(Local(threads).run(work, range(200))) == [job * job for job in range(200)]
    assert list(Local(threads).run(str, [3, 1, 2], alone=True)) == ["3", "1", "2"]


def test_work_runs_on_several_threads_at_once() -> None:
    together = threading.Barrier(3, timeout=30)  # breaks, and fails the test, unless three wait at once
    assert list(Local(3).run(lambda _: together.wait() >= 0, range(6))) == [True] * 6


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_or_a_caller_who_leaves_stops_between_two_jobs(threads: int) -> None:
    begun: list[int] = []

    def work(job: int) -> int:
        begun.append(job)
        if job == 5:
            raise KeyError(job)
        time.sleep(0.01)
        return job

    with pytest.raises(KeyError):
        list(Local(threads).run(work, range(1000)))
    assert len(begun) < 100
    begun.clear()
    some = Local(threads).run(work, range(5))
    next(some)
    some.close()
    assert len(begun) <= 4


def test_large_jobs_are_made_when_they_are_needed() -> None:
    made: list[int] = []

    def jobs():
        for job in range(10_000):
            made.append(job)
            yield job

    results = Local(2).run(abs, jobs())
    next(results)
    assert len(made) < 100
    results.close()


def test_an_engine_is_in_use_inside_its_block_only() -> None:
    engine = Local(2)
    assert current() == Local()
    with using(engine):
        assert current() is engine
    assert current() == Local()


def test_unknown_engines_and_missing_extras_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NlgaugeError, match="no engine 'spark'; use local or ray"):
        engine_of("spark")
    with pytest.raises(NlgaugeError, match=r"only engine=.ray. has an address"):
        engine_of("local", "auto")
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ray" else find(name))
    with pytest.raises(NeedsMissing, match=r'needs the extra \'ray\': pip install "nlgauge\[ray\]"'):
        engine_of("ray")
