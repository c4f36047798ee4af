"""The engine of a Ray cluster: the numbers of this process to the bit, and nothing lost with a worker or a machine."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge import registry
from nlgauge.engines import using
from nlgauge.engines_ray import RETRIES, SETTINGS, Ray
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.scoring.stream import stream
from nlgauge.stats.correlation.measure import TWELVE
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.resampling.draws import BLOCK
from nlgauge.stats.tests.permutation import permutation_pairs

ray = pytest.importorskip("ray", reason='the engine of Ray is not tested: pip install "nlgauge[ray]"')
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    os.environ.setdefault("RAY_worker_niceness", "0")
    for last in (False, False, True):
        try:
            ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
            break
        except Exception as error:  # Ray gives itself 30 seconds, which a busy machine may not have
            ray.shutdown()
            if last or "timed out" not in str(error):
                raise
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def known_only_here() -> Iterator[None]:
    yield
    registry._found["metric"].pop("fragile", None)


def outputs(folder: Path, n: int, kill: int = -1) -> Path:
    rows = [
        {"system": "AB"[i % 2], "input": str(i), "output": f"o{i} and more{' KILL' * (i == kill)}"} for i in range(n)
    ]
    path = folder / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def fragile(folder: Path, wait: float = 0.0) -> list[str]:
    return [f"{HERE / 'fragile.py'}@fragile(folder={str(folder)!r}, wait={wait})", "len"]


def scored(folder: Path) -> Counter[str]:
    """How often each batch was begun, by its first output."""
    return Counter((folder / "log").read_text().split())


class Interrupted(BaseException):
    pass


def test_a_run_of_this_process_goes_on_on_ray_and_loses_one_batch_with_a_killed_worker(
    tmp_path: Path, cluster: None
) -> None:
    path = outputs(tmp_path, 40, kill=21)
    (tmp_path / "quiet").mkdir()
    (tmp_path / "quiet" / "killed").touch()
    whole = stream(path, fragile(tmp_path / "quiet"), tmp_path / "whole.csv", batch=4)

    def stop_after_three(done: int, of: int, rows: int) -> None:
        if rows == 12:
            raise Interrupted

    out, engine = tmp_path / "scores.csv", Ray()
    with pytest.raises(Interrupted):
        stream(path, fragile(tmp_path), out, batch=4, progress=stop_after_three)
    with using(engine):
        again = stream(path, fragile(tmp_path), out, batch=4)
    assert again.resumed == 3
    assert engine.lost == 1
    assert scored(tmp_path) == {f"o{i}": 1 + (i == 20) for i in range(0, 40, 4)}
    said, mine = ((tmp_path / name).read_text().splitlines() for name in ("whole.csv", "scores.csv"))
    assert mine[1:] == said[1:]  # the head names the folder of the log
    assert [row["value"] for row in again.groups.rows] == [row["value"] for row in whole.groups.rows]
    assert not (tmp_path / "scores.csv.parts").exists()


def test_what_a_user_can_mend_is_one_line_from_a_worker_too(tmp_path: Path, cluster: None) -> None:
    path = tmp_path / "outputs.jsonl"
    lines = ['{"output": "a b"}'] * 1500
    lines[1200] = '{"output": 3}'
    path.write_text("\n".join(lines))
    with using(Ray()), pytest.raises(DataError, match=r"^row 1,201, column 'output': found int, expected a text\.$"):
        stream(path, ["len"], batch=500)


def test_the_environment_of_the_caller_stays_as_it_was(
    cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAY_BACKEND_LOG_LEVEL", "error")
    before = dict(os.environ)
    with using(Ray()):
        stream(outputs(tmp_path, 4), ["len"], tmp_path / "scores.csv", batch=2)
    assert dict(os.environ) == before


def test_a_job_that_always_ends_its_worker_is_given_up(cluster: None, tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def ends(job: int) -> int:
        with begun.open("a") as log:
            log.write(f"{job}\n")
        if job == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return job

    engine = Ray()
    with pytest.raises(NlgaugeError, match=r"a Ray worker died 4 times at one job .* what was finished is kept"):
        list(engine.run(ends, range(3), alone=True))
    assert engine.lost == RETRIES
    assert Counter(begun.read_text().split()) == {"0": 1, "1": 1, "2": 1 + RETRIES}


def small_panel() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    human = rng.integers(1, 6, (6, 20)).astype(float)
    scores = human + rng.normal(0, np.linspace(1, 4, 5)[:, None, None], (5, 6, 20))
    scores[1] = np.round(scores[1])
    scores[2, 0, :4] = np.nan
    return scores, human


@pytest.mark.parametrize("profile", ["nlgauge", "nlpstats"])
def test_tests_and_intervals_are_those_of_this_process_to_the_bit(cluster: None, profile: str) -> None:
    x, z = small_panel()
    if profile == "nlpstats":  # which has no way with missing scores
        x = np.nan_to_num(x)

    def found() -> list[Any]:
        # two blocks of draws, of which the second is a stream of its own; and a measure without a kernel
        cases = [(TWELVE[:6], BLOCK + 70), (["input/kendall", "input/top-1"], 20)]
        all_found: list[Any] = []
        for measures, draws in cases:
            tests = permutation_pairs(x, z, measures, draws=draws, seed=5, profile=profile)
            spread = bootstrap(x, z, measures, draws=draws, seed=5, profile=profile)
            all_found += [tests.p, tests.difference, tests.undefined, tests.cells, spread.value, spread.samples]
        return all_found

    here = found()
    with using("ray") as engine:
        there = found()
    assert engine.used == 4
    assert [a.tobytes() for a in there] == [a.tobytes() for a in here]


def test_the_command_gives_the_same_table_on_ray(cluster: None, capsys: pytest.CaptureFixture[str]) -> None:
    from nlgauge.cli import build

    def ask(analysis: str, *options: str) -> tuple[str, str]:
        words = ["analyze", analysis, "example", "--measures", "input/kendall", "-f", "json", *options]
        build("analyze")(words, standalone_mode=False)
        shown = capsys.readouterr()
        return shown.out, " ".join(shown.err.split())  # the console breaks lines

    alone, far = ask("intervals"), ask("intervals", "--engine", "ray")  # significance remembers its results
    assert far[0] == alone[0]
    assert "no jobs to distribute" not in far[1]
    assert "'correlate' has no jobs to distribute" in ask("correlate", "--engine", "ray")[1]


def test_a_removed_machine_costs_its_unfinished_batches(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    ray.shutdown()
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        lost = machines.add_node(num_cpus=1)
        ray.init(address=machines.address, log_to_driver=False, logging_level="ERROR")
        path, out, begun = outputs(tmp_path, 32), tmp_path / "scores.csv", tmp_path / "log"

        def remove() -> None:
            while not begun.exists() or len(begun.read_text().split()) < 5:
                time.sleep(0.05)
            machines.remove_node(lost, allow_graceful=False)

        removing = threading.Thread(target=remove)
        removing.start()
        with using(Ray()):
            done = stream(path, fragile(tmp_path, wait=0.5), out, batch=2)
        removing.join()
        assert done.rows == 32
        times = scored(tmp_path)
        assert set(times) == {f"o{i}" for i in range(0, 32, 2)}
        assert sum(times.values()) <= 16 + 1  # what the machine was at; one worker has one batch at a time
        values = [line.split(",")[3] for line in out.read_text().splitlines()[1:]]
        assert values == [repr(len(f"o{i} and more") / 7) for i in range(32)]
    finally:
        ray.shutdown()
        machines.shutdown()


def test_an_address_where_nobody_listens_is_said_at_once() -> None:
    ray.shutdown()
    with pytest.raises(NlgaugeError, match=r"address=.127\.0\.0\.1:9.: no Ray cluster answers at this address"):
        list(Ray("127.0.0.1:9").run(str, [1]))
