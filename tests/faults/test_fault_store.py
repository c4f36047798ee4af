"""The store is locked, full, or shared by two runs at once; and the clock jumps."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fault_tools import assert_one_line, begun, nlgauge

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.rate_limits import Bucket, retry_after
from nlgauge.metrics.judge.replies import Reply, Request
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import DamagedCache, Store, StoredScore
from nlgauge.scoring.work_claims import Claims

Serve = Callable[..., Any]
JUDGE = ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--concurrency", "4"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["system,input,output,source,coherence"]
    lines += [f"s{i % 4},i{i // 4},output {i},article {i // 4},{1 + i % 5}" for i in range(60)]
    (tmp_path / "outputs.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def locked(folder: Path) -> Iterator[sqlite3.Connection]:
    """Another program holds the store."""
    Replies(Store(folder / "store.sqlite")).store.close()
    db = sqlite3.connect(folder / "store.sqlite", isolation_level=None, check_same_thread=False)
    db.execute("BEGIN EXCLUSIVE")
    yield db
    db.close()


def test_a_store_locked_for_too_long_is_one_line(folder: Path, locked: sqlite3.Connection) -> None:
    ran = nlgauge(folder, "cache", "prune", "--model", "m", NLGAUGE_STORE_WAIT="0.3")
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, "another program has kept it locked for 0.3 s; wait for it (NLGAUGE_STORE_WAIT=300")
    odd = nlgauge(folder, "cache", "info", NLGAUGE_STORE_WAIT="long")
    assert odd.returncode == 2
    assert_one_line(odd.stderr, "NLGAUGE_STORE_WAIT is 'long'; expected seconds")


def test_a_store_locked_for_a_while_is_waited_for(locked: sqlite3.Connection, folder: Path) -> None:
    threading.Timer(1.0, lambda: locked.execute("ROLLBACK")).start()
    store = Store(folder / "store.sqlite")
    store.put("s", {b"k": StoredScore(1.0)})
    assert store.counts() == {"s": 1}


def test_a_full_store_keeps_what_was_paid_and_goes_on_when_there_is_space(serve: Serve, folder: Path) -> None:
    server = serve(latency=0.005)
    whole = nlgauge(folder, *JUDGE, "-o", "whole.jsonl", NLGAUGE_BASE_URL=server.base_url, NLGAUGE_STORE="other.sqlite")
    assert whole.returncode == 0, whole.stderr
    asked = server.log()["stats"]["requests"]
    ran = nlgauge(folder, *JUDGE, "-o", "judged.jsonl", NLGAUGE_BASE_URL=server.base_url, limit=60_000)
    assert ran.returncode == 2, ran.stderr
    assert_one_line(ran.stderr, "score store")
    assert not (folder / "judged.jsonl").exists()
    kept = sum(row["replies"] for row in Replies(Store(folder / "store.sqlite")).summary())
    between = server.log()["stats"]["requests"]
    again = nlgauge(folder, *JUDGE, "-o", "judged.jsonl", NLGAUGE_BASE_URL=server.base_url)
    assert again.returncode == 0, again.stderr
    assert server.log()["stats"]["requests"] - between == asked - kept
    assert (folder / "judged.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()


def test_two_runs_on_one_store_pay_once_and_both_finish(serve: Serve, folder: Path) -> None:
    server = serve(latency=0.02)
    both = [begun(folder, *JUDGE, "-o", f"{k}.jsonl", NLGAUGE_BASE_URL=server.base_url) for k in "ab"]
    said = [run.communicate(timeout=120)[1] for run in both]
    assert [run.returncode for run in both] == [0, 0], said
    assert server.log()["stats"]["requests"] == 60
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


SCORER = """
import sys, time
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from nlgauge.metrics import Batch, Facts, Metric, Scores
from nlgauge.scoring.cached_runner import CachedRunner
from nlgauge.scoring.store import Store

@dataclass(frozen=True)
class Slow(Metric):
    facts: ClassVar[Facts] = Facts("slow", "test", frozenset({"output"}), False, (0.0, 1e9), 2026, "", "", "", "")
    def score(self, batch):
        time.sleep(0.05)
        with open(sys.argv[2], "a") as log:
            log.write("".join(f"{batch.text(i)}\\n" for i in batch.output.tolist()))
        return Scores(np.array([float(len(batch.text(i))) for i in batch.output.tolist()]))

given = Batch.from_columns([f"text {i}" for i in range(60)])
print(CachedRunner(Store(sys.argv[1]), chunk=4).score(Slow(), given).values.tolist())
"""


def test_two_runs_with_a_slow_metric_compute_each_score_once(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SCORER, str(tmp_path / "s.sqlite"), str(tmp_path / "log")]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (json.loads(run.communicate(timeout=120)[0]) for run in both)
    assert first == second == [float(len(f"text {i}")) for i in range(60)]
    computed = (tmp_path / "log").read_text().split("\n")[:-1]
    assert sorted(computed) == sorted(f"text {i}" for i in range(60))


def test_the_claims_of_a_dead_run_hinder_nobody(tmp_path: Path) -> None:
    code = "import sys; from nlgauge.scoring.store import Store; from nlgauge.scoring.work_claims import Claims; "
    code += "claims = Claims(Store(sys.argv[1])); print(claims.take([b'a', b'b'])); sys.stdout.flush(); "
    store = Store(tmp_path / "s.sqlite")
    run = subprocess.Popen(
        [sys.executable, "-c", code + "sys.stdin.read()", str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert run.stdout is not None
    run.stdout.readline()
    mine = Claims(store)
    assert mine.take([b"a", b"c"]) == {b"c"}
    assert Claims(store).take([b"c"]) == set()  # nor those of another run in this process
    run.kill()  # and nobody has asked for its exit code yet
    time.sleep(0.2)
    assert mine.take([b"a", b"b"]) == {b"a", b"b"}
    run.communicate()
    mine.drop()
    assert Claims(store).take([b"a", b"c"]) == {b"a", b"c"}


def test_no_flipped_bit_becomes_another_reply(tmp_path: Path) -> None:
    """150 bits at random places of the file: each reply is the right one, missing, or the file is refused."""
    requests = [Request("http://h/v1", {"model": "m", "messages": [f"prompt {k}" * 9]}) for k in range(60)]
    right = {r.key: Reply(f"Rating: {k % 5 + 1}", "m-1", "f", "stop", 9 + k, k, 0.5) for k, r in enumerate(requests)}
    replies = Replies(Store(tmp_path / "s.sqlite"))
    replies.keep(right, {r.key: r for r in requests})
    with replies.store.work() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    replies.store.close()
    raw, rng = replies.store.path.read_bytes(), random.Random(0)
    damaged = 0
    for k in range(150):
        flipped = bytearray(raw)
        flipped[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path = tmp_path / f"{k}.sqlite"
        path.write_bytes(flipped)
        store = Store(path)
        try:
            with warnings.catch_warnings(action="ignore", category=DamagedCache):
                read = Replies(store).known(right)
        except NlgaugeError:
            continue
        finally:
            store.close()
        assert all(right[key] == reply for key, reply in read.items())
        damaged += len(read) < len(right)
    assert damaged > 5


def test_a_damaged_reply_is_asked_for_again_and_counted(serve: Serve, folder: Path) -> None:
    server = serve()
    words = [*JUDGE, "-o", "judged.jsonl"]
    whole = nlgauge(folder, *words, NLGAUGE_BASE_URL=server.base_url)
    assert whole.returncode == 0, whole.stderr
    before = (folder / "judged.jsonl").read_bytes()
    with closing(sqlite3.connect(folder / "store.sqlite")) as db, db:
        db.execute("UPDATE replies SET reply = ? WHERE key = (SELECT MIN(key) FROM replies)", [b"x"])
        db.execute("UPDATE replies SET draw = 3 WHERE key = (SELECT MAX(key) FROM replies)")
    again = nlgauge(folder, *words, NLGAUGE_BASE_URL=server.base_url)
    assert again.returncode == 0, again.stderr
    assert f"nlgauge: score store {folder}/store.sqlite: 2 damaged rows are asked for again.\n" in again.stderr
    assert server.log()["stats"]["requests"] == 62
    assert (folder / "judged.jsonl").read_bytes() == before
    third = nlgauge(folder, *words, NLGAUGE_BASE_URL=server.base_url)
    assert "damaged" not in third.stderr and server.log()["stats"]["requests"] == 62


# A clock that jumps by years at every look, as after a wrong battery or a restored machine.
JUMPING = """
import itertools, time
real, jump = time.time, itertools.cycle([0, -3e8, 3e8, -6e8])
time.time = lambda: real() + next(jump)
from nlgauge.cli import main
main()
"""


def test_a_clock_that_jumps_changes_nothing(serve: Serve, folder: Path) -> None:
    from fault_tools import NLGAUGE, environment

    server = serve(faults={"429": 0.3})
    for name, code in (("jumping", JUMPING), ("straight", NLGAUGE[-1])):
        env = environment(folder, NLGAUGE_BASE_URL=server.base_url)
        if name == "straight":
            env["NLGAUGE_STORE"] = "other.sqlite"
        words = [sys.executable, "-c", code, *JUDGE, "--rpm", "6000", "-o", f"{name}.jsonl"]
        ran = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stderr
    assert (folder / "jumping.jsonl").read_bytes() == (folder / "straight.jsonl").read_bytes()


def test_limits_and_waits_do_not_look_at_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = Bucket(60)
    bucket.wait(1)
    for moment in (0.0, 4e9):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        assert 0 <= bucket.wait(1) < 4
        # A server's date is taken against the server's own clock.
        headers = {"retry-after": "Fri, 06 Nov 2026 10:00:07 GMT", "date": "Fri, 06 Nov 2026 10:00:00 GMT"}
        assert retry_after(headers) == 7.0


def test_scores_are_found_again_whatever_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "s.sqlite")
    for moment in (2e9, 1.0, -5.0):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        store.put("s", {str(moment).encode(): StoredScore(moment)})
    assert store.counts() == {"s": 3}
    with pytest.raises(NlgaugeError, match="store"):
        Store(tmp_path).counts()  # a folder is no store
