"""The score store: nothing twice, nothing lost, whoever kills whom."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from nlgauge import __version__
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, Facts, Metric, Scores
from nlgauge.scoring.cached_runner import CachedRunner, full_signature, sample_keys
from nlgauge.scoring.store import DamagedCache, Store, StoredScore
from nlgauge.scoring.work_claims import Claims

CALLS: list[str] = []


@dataclass(frozen=True)
class Slow(Metric):
    """Length of the output; writes down what it was asked. Not registered: only these tests know it."""

    factor: float = 1.0
    facts: ClassVar[Facts] = Facts(
        "slow", "test", frozenset({"output", "source"}), False, (0.0, math.inf), 2026, "", "", "", ""
    )

    def score(self, batch: Batch) -> Scores:
        texts = [batch.text(i) or "" for i in batch.output.tolist()]
        CALLS.extend(texts)
        values = np.array([self.factor * len(t) if t else math.nan for t in texts])
        empty = {i: "empty output" for i, t in enumerate(texts) if not t}
        return Scores(values, empty, {i: "one letter" for i, t in enumerate(texts) if len(t) == 1})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    CALLS.clear()
    return Store(tmp_path / "scores.sqlite")


def batch(outputs: list[str]) -> Batch:
    return Batch.from_columns(outputs, ["source"] * len(outputs), references=[["r"]] * len(outputs))


def test_a_second_run_computes_nothing_and_gives_the_same(store: Store) -> None:
    given = batch(["aa", "b", "", "cccc"])
    once, again = (CachedRunner(s).score(Slow(), given) for s in (store, Store(store.path)))
    assert CALLS == ["aa", "b", "", "cccc"]
    np.testing.assert_array_equal(once.values, again.values)
    assert again.reasons == {2: "empty output"} and again.notes == {1: "one letter"}


def test_equal_samples_are_computed_once_and_new_ones_alone(store: Store) -> None:
    assert CachedRunner(store).score(Slow(), batch(["aa", "b", "aa"])).values.tolist() == [2, 1, 2]
    assert CachedRunner(store).score(Slow(), batch(["ddd", "aa"])).values.tolist() == [3, 2]
    assert CALLS == ["aa", "b", "ddd"]


def test_other_options_or_other_texts_are_other_scores(store: Store) -> None:
    CachedRunner(store).score(Slow(), batch(["aa"]))
    assert CachedRunner(store).score(Slow(factor=2.0), batch(["aa"])).values.tolist() == [4]
    other = Batch.from_columns(["aa"], ["another source"])
    CachedRunner(store).score(Slow(), other)
    assert CALLS == ["aa"] * 3


def test_texts_that_a_metric_does_not_look_at_do_not_count() -> None:
    one = Batch.from_columns(["a"], ["s"], references=[["r"]])
    two = Batch.from_columns(["a"], ["s"], references=[["another"]])
    assert sample_keys(Slow(), one) == sample_keys(Slow(), two)
    assert sample_keys(Slow(), Batch.from_columns(["as"], [""])) != sample_keys(
        Slow(), Batch.from_columns(["a"], ["s"])
    )
    assert sample_keys(Slow(), Batch.from_columns(["a"], [None])) != sample_keys(
        Slow(), Batch.from_columns(["a"], [""])
    )


def test_an_interrupted_run_keeps_its_finished_chunks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = [f"text {i}" for i in range(10)]
    score, chunks = Slow.score, []

    def stop_at_the_third(self: Slow, some: Batch) -> Scores:
        chunks.append(len(some))
        if len(chunks) == 3:
            raise KeyboardInterrupt
        return score(self, some)

    monkeypatch.setattr(Slow, "score", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        CachedRunner(store, chunk=2).score(Slow(), batch(outputs))
    CALLS.clear()
    CachedRunner(store, chunk=2).score(Slow(), batch(outputs))
    assert outputs[4:] == CALLS


WRITER = """
import sys
from nlgauge.scoring.store import StoredScore, Store
store, who = Store(sys.argv[1]), sys.argv[2]
for i in range(int(sys.argv[3])):
    store.put("s", {f"{who}-{i}-{k}".encode(): StoredScore(float(k)) for k in range(50)})
    print(i, flush=True)
"""


def writer(path: Path, who: str, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), who, str(rounds)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_kill_9_loses_nothing_that_was_reported_done(store: Store) -> None:
    process = writer(store.path, "w", 100_000)
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    said = 20 + len(process.stdout.read().split())
    process.wait()
    kept = store.counts()["s"]
    assert kept >= 50 * said - 50 and kept % 50 == 0  # whole chunks only; the last line may be half printed
    found = store.get("s", [f"w-{i}-{k}".encode() for i in range(19) for k in range(50)])
    assert len(found) == 19 * 50


def test_two_processes_write_at_once(store: Store) -> None:
    both = [writer(store.path, who, 40) for who in ("a", "b")]
    assert [p.wait(timeout=120) for p in both] == [0, 0]
    for p in both:
        assert p.stdout is not None
        p.stdout.close()
    assert store.counts() == {"s": 2 * 40 * 50}


def test_nan_comes_back_with_its_reason(store: Store) -> None:
    store.put("s", {b"1": StoredScore(math.nan, "empty output")})
    found = store.get("s", [b"1"])[b"1"]
    assert math.isnan(found.value) and found.reason == "empty output"


def test_a_file_that_is_no_store_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.sqlite"
    path.write_text("not a database " * 100)
    with pytest.raises(NlgaugeError, match=r"score store .*not a database.*NLGAUGE_STORE"):
        Store(path).counts()


def test_the_signature_names_the_options() -> None:
    assert full_signature(Slow(factor=2.0)) == f"slow(factor=2.0)|version:nlgauge-{__version__}"


def test_forget_removes_one_signature(store: Store) -> None:
    store.put("a", {b"1": StoredScore(1.0)})
    store.put("b", {b"1": StoredScore(1.0)})
    assert store.forget("a") == 1 and store.counts() == {"b": 1}


def test_lacks_says_whether_there_is_work(store: Store) -> None:
    assert CachedRunner(store).lacks(Slow(), batch(["aa", "b"]))
    CachedRunner(store).score(Slow(), batch(["aa", "b"]))
    assert not CachedRunner(store).lacks(Slow(), batch(["b", "aa", "aa"]))


def test_the_engine_stores_only_metrics_that_need_weights(store: Store) -> None:
    engine = CachedRunner(store)
    engine(Slow(), batch(["aa"]))
    assert store.counts() == {}

    class Heavy(Slow):
        facts: ClassVar[Facts] = replace(Slow.facts, weights="some")

    engine(Heavy(), batch(["aa"]))
    assert sum(store.counts().values()) == 1


def test_the_file_is_for_its_owner_only_and_written_ahead(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "b" / "scores.sqlite")
    store.put("s", {b"k": StoredScore(0.5)})
    assert store.path.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_closed_store_opens_again(store: Store) -> None:
    store.put("s", {b"k": StoredScore(0.5)})
    with store.work() as db:
        store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
    assert store.get("s", [b"k"]) == {b"k": StoredScore(0.5)}


def test_another_thread_uses_the_same_connection(store: Store) -> None:
    store.put("s", {b"k": StoredScore(0.5)})
    with ThreadPoolExecutor(1) as pool, store.work() as db:
        assert pool.submit(lambda: db.execute("SELECT 1").fetchone()).result() == (1,)
    with store.work() as again:
        assert again is db


def test_a_block_that_fails_writes_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.writing() as db:
        db.execute("INSERT INTO signatures (signature) VALUES ('s')")
        raise ZeroDivisionError
    with store.work() as db:
        assert db.execute("SELECT COUNT(*) FROM signatures").fetchone() == (0,)
    store.put("s", {b"k": StoredScore(0.5)})
    assert store.counts() == {"s": 1}


@pytest.mark.parametrize(("column", "value"), [("value", "five"), ("reason", b"\xff"), ("value", 0.25), ("made", 1.0)])
def test_a_row_that_was_changed_on_the_disk_is_counted_and_computed_again(
    store: Store, column: str, value: object
) -> None:
    given = batch(["aa", "b"])
    CachedRunner(store).score(Slow(), given)
    with store.work() as db:
        db.execute(f"UPDATE scores SET {column} = ? WHERE value = 2", [value])
    CALLS.clear()
    with pytest.warns(DamagedCache, match="1 damaged rows are computed again"):
        assert CachedRunner(store).score(Slow(), given).values.tolist() == [2, 1]
    assert (CALLS, len(store.damaged)) == (["aa"], 1)
    assert CachedRunner(Store(store.path)).stored(Slow(), given).values.tolist() == [2, 1]


def test_a_negative_zero_and_infinity_pass_the_checksum(store: Store) -> None:
    values = {b"1": StoredScore(-0.0), b"2": StoredScore(-math.inf, "why"), b"3": StoredScore(np.float64(1 / 3))}
    store.put("s", values)
    assert store.get("s", values) == values and not store.damaged


def test_scores_of_a_signature_that_became_another_one_are_not_given(store: Store) -> None:
    store.put("a", {b"k": StoredScore(1.0)})
    with store.work() as db:
        db.execute("UPDATE signatures SET signature = 'b'")
    with pytest.warns(DamagedCache):
        assert store.get("b", [b"k"]) == {}


def test_a_store_of_a_newer_version_is_one_clear_line_and_is_left_alone(store: Store) -> None:
    store.put("s", {b"k": StoredScore(0.5)})
    with store.work() as db:
        db.execute("PRAGMA user_version = 99")
    store.close()
    before = store.path.read_bytes()
    with pytest.raises(
        NlgaugeError, match=r"newer version of nlgauge \(format 99, this version reads 1\); update nlgauge"
    ):
        store.get("s", [b"k"])
    assert store.path.read_bytes() == before


BEFORE_CHECKSUMS = """
CREATE TABLE signatures (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE);
CREATE TABLE scores (
  signature INTEGER NOT NULL REFERENCES signatures (id), texts BLOB NOT NULL,
  value REAL, reason TEXT, note TEXT, made REAL NOT NULL, PRIMARY KEY (signature, texts)) WITHOUT ROWID;
CREATE TABLE claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO signatures VALUES (7, 's');
INSERT INTO scores VALUES (7, x'6b', 0.5, NULL, 'a note', 3.0);
INSERT INTO claims VALUES (x'6b', '1.0');
"""


def test_a_store_without_checksums_gets_them_and_keeps_its_scores(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as db:
        db.executescript(BEFORE_CHECKSUMS)
    assert store.get("s", [b"k"]) == {b"k": StoredScore(0.5, None, "a note")}
    assert Claims(store).take([b"k"]) == {b"k"}
    with store.work() as db:
        db.execute("UPDATE scores SET value = 0.75")
    with pytest.warns(DamagedCache):
        assert store.get("s", [b"k"]) == {}


def test_no_flipped_bit_becomes_a_wrong_value(store: Store, tmp_path: Path) -> None:
    """150 bits at random places of the file: each score is the right one, missing, or the file is refused."""
    right = {
        f"metric-{m}": {bytes([m, k]): StoredScore(m + k / 7, None, f"note {k % 3}") for k in range(60)}
        for m in range(3)
    }
    for signature, rows in right.items():
        store.put(signature, rows)
    with store.work() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    raw, rng = store.path.read_bytes(), np.random.default_rng(0)
    outcomes: Counter[str] = Counter()
    for place, bit in zip(rng.integers(0, len(raw), 150), rng.integers(0, 8, 150), strict=True):
        flipped = bytearray(raw)
        flipped[place] ^= 1 << bit
        path = tmp_path / f"{place}-{bit}.sqlite"
        path.write_bytes(flipped)
        damaged = Store(path)
        try:
            with warnings.catch_warnings(action="ignore", category=DamagedCache):
                scores = {signature: damaged.get(signature, rows) for signature, rows in right.items()}
        except NlgaugeError:
            outcomes["refused"] += 1
            continue
        finally:
            damaged.close()
        wrong = sum(score != right[s][key] for s, rows in scores.items() for key, score in rows.items())
        missing = sum(len(right[s]) - len(rows) for s, rows in scores.items())
        outcomes["wrong" if wrong else "computed again" if missing else "without effect"] += 1
    assert outcomes["wrong"] == 0, outcomes
    assert outcomes["computed again"] > 5, outcomes


def test_a_lock_is_waited_for_and_then_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("s", {b"k": StoredScore(0.5)})
    monkeypatch.setenv("NLGAUGE_STORE_WAIT", "0.05")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NlgaugeError, match=r"another program has kept it locked for 0\.05 s"):
            Store(store.path).put("s", {b"k": StoredScore(0.6)})
    monkeypatch.setenv("NLGAUGE_STORE_WAIT", "soon")
    with pytest.raises(NlgaugeError, match="NLGAUGE_STORE_WAIT is 'soon'; expected seconds"):
        Store(store.path).counts()


def test_a_name_that_no_file_can_have_is_one_clear_line() -> None:
    with pytest.raises(NlgaugeError, match="no file has a NUL character in its name"):
        Store("a\0b").counts()


def test_the_path_is_that_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "mine.sqlite"))
    assert Store().path == tmp_path / "mine.sqlite"


@dataclass(frozen=True)
class Everything(Slow):
    """A metric that reads the references and the control as well."""

    facts: ClassVar[Facts] = Facts(
        "everything", "test", frozenset({"output", "references", "control"}), False, (0.0, 1.0), 2026, "", "", "", ""
    )


def test_each_text_that_a_metric_reads_changes_the_key() -> None:
    def key(references: list[str], control: str, source: str = "s") -> bytes:
        one = Batch.from_columns(["a", "b"], [source] * 2, references=[["r"], references], control=["c", control])
        return sample_keys(Everything(), one)[1]

    same = key(["r1", "r2"], "c")
    assert same == key(["r1", "r2"], "c", source="another")
    assert len({same, key(["r1"], "c"), key(["r2", "r1"], "c"), key(["r1", "r2"], "d"), key(["r1r2"], "c")}) == 5


def test_what_is_stored_is_shown_and_nothing_is_computed(store: Store) -> None:
    runner = CachedRunner(store)
    runner.score(Slow(), batch(["aa"]))
    CALLS.clear()
    scores = runner.stored(Slow(), batch(["aa", "new"]))
    assert scores.values[0] == 2 and math.isnan(scores.values[1])
    assert scores.reasons == {1: "not in the store"} and CALLS == []
