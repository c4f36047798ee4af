"""The durable score store: SQLite, keyed by a metric's signature and the texts it saw.

A run that was killed goes on where it was, a repeated run costs nothing, several processes may write at once. Each
chunk is one transaction: what was reported as done is kept.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError, PartlyDone
from nlgauge.metrics import take
from nlgauge.metrics.base import Metric
from nlgauge.metrics.batch import Scores
from nlgauge.places import kept_at
from nlgauge.scoring.work_claims import Claims
from nlgauge.text.batch import Batch

CHUNK = 256
ASK = 500  # keys in one question: SQLite allows at least 999
WAIT = 60.0  # seconds that a writer waits for another one, unless NLGAUGE_STORE_WAIT says otherwise
LOOK = 0.2  # seconds between two looks at what another run has done
PATIENCE = 600.0  # seconds without anything new after which its work is taken over
TABLES = """
CREATE TABLE IF NOT EXISTS signatures (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS scores (
  signature INTEGER NOT NULL REFERENCES signatures (id), texts BLOB NOT NULL,
  value REAL, reason TEXT, note TEXT, made REAL NOT NULL, PRIMARY KEY (signature, texts)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredScore:
    """One score as it is kept: a value, or NaN with its reason; and what there is to note."""

    value: float
    reason: str | None = None
    note: str | None = None


def store_path() -> Path:
    """Where scores are kept: NLGAUGE_STORE, or a file in the user's cache folder."""
    return kept_at("NLGAUGE_STORE", "scores.sqlite")


class Store:
    """Scores on disk. Cheap to open; safe to kill; safe to share between threads and processes.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "scores.sqlite")
    >>> store.put("bleu|version:1", {b"k": StoredScore(0.5)})
    >>> store.get("bleu|version:1", [b"k", b"other"])
    {b'k': StoredScore(value=0.5, reason=None, note=None)}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else store_path()
        self._lock = threading.RLock()
        self._open: tuple[int, sqlite3.Connection] | None = None

    def get(self, signature: str, keys: Iterable[bytes]) -> dict[bytes, StoredScore]:
        """What is kept under these keys; a key that is not there is not in the answer."""
        asked = list(dict.fromkeys(keys))
        found: dict[bytes, StoredScore] = {}
        with self.work() as db:
            number = _number(db, signature)
            query = "SELECT texts, value, reason, note FROM scores WHERE signature = ? AND texts IN ({})"
            for texts, value, reason, note in self.select(db, query, asked if number is not None else [], number):
                # SQLite keeps any type in any column: a flipped bit may have made a text of a number
                if not isinstance(value, float | int | None) or not all(
                    isinstance(x, str | None) for x in (reason, note)
                ):
                    raise self.damaged()
                found[bytes(texts)] = StoredScore(math.nan if value is None else value, reason, note)
        return found

    @staticmethod
    def select(db: sqlite3.Connection, query: str, keys: Sequence[bytes], *before: object) -> Iterator[tuple[Any, ...]]:
        """The rows of a query `… IN ({})` for any number of keys; `before`: values of the marks before them."""
        for i in range(0, len(keys), ASK):
            some = keys[i : i + ASK]
            yield from db.execute(query.format(",".join("?" * len(some))), [*before, *some])

    def put(self, signature: str, rows: dict[bytes, StoredScore]) -> None:
        """Keep these scores, all or none."""
        if not rows:
            return
        now = time.time()
        with self.writing() as db:
            db.execute("INSERT OR IGNORE INTO signatures (signature) VALUES (?)", [signature])
            number = _number(db, signature)
            db.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (number, key, None if math.isnan(k.value) else k.value, k.reason, k.note, now)
                    for key, k in rows.items()
                ],
            )

    def counts(self) -> dict[str, int]:
        """How many scores are kept of each signature."""
        with self.work() as db:
            rows = db.execute(
                "SELECT s.signature, COUNT(*) FROM scores JOIN signatures s ON s.id = scores.signature "
                "GROUP BY s.id ORDER BY s.signature"
            )
            return dict(rows.fetchall())

    def forget(self, signature: str) -> int:
        """Remove what is kept of a signature; gives how many scores that were."""
        with self.work() as db:
            gone = db.execute(
                "DELETE FROM scores WHERE signature = (SELECT id FROM signatures WHERE signature = ?)", [signature]
            )
            return gone.rowcount

    def close(self) -> None:
        with self._lock:
            if self._open and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    @contextmanager
    def work(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection()
            except (sqlite3.Error, OSError) as error:
                raise NlgaugeError(f"score store {self.path}: {_advice(error)}") from None
            except UnicodeDecodeError:  # SQLite quotes bytes of a damaged file in its error
                raise self.damaged() from None

    def damaged(self) -> NlgaugeError:
        """What was read is not what was written: the one thing to say about it."""
        return NlgaugeError(f"score store {self.path}: {_advice(sqlite3.DatabaseError('file is damaged'))}")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing of what is done in the block."""
        with self.work() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # a full disk ends it by itself
                    db.execute("ROLLBACK")
                raise

    def _connection(self) -> sqlite3.Connection:
        # A connection must not cross a fork: another process opens its own.
        if self._open is None or self._open[0] != os.getpid():
            if "\0" in str(self.path):
                raise OSError("no file has a NUL character in its name")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                # It holds prompts and replies; SQLite gives its side files the same rights.
                self.path.touch(mode=0o600)
            wait = _wait()
            db = sqlite3.connect(self.path, timeout=wait, isolation_level=None, check_same_thread=False)
            _patiently(lambda: db.execute("PRAGMA journal_mode = WAL").fetchone(), wait)
            db.execute("PRAGMA synchronous = NORMAL")
            _patiently(lambda: db.executescript(TABLES), wait)
            self._open = os.getpid(), db
        return self._open[1]


def _wait() -> float:
    given = os.environ.get("NLGAUGE_STORE_WAIT", "")
    try:
        return float(given or WAIT)
    except ValueError:
        raise NlgaugeError(f"NLGAUGE_STORE_WAIT is '{given}': give seconds, as in NLGAUGE_STORE_WAIT=300.") from None


def _advice(error: Exception) -> str:
    """What happened and what helps."""
    if "locked" in str(error):
        return (
            f"another program has kept it locked for {_wait():g} s; wait for it (NLGAUGE_STORE_WAIT=300 waits longer), "
            "or name another file with NLGAUGE_STORE."
        )
    if "full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC:
        return f"{error}; free some space, or name another file with NLGAUGE_STORE. What was kept before is whole."
    return f"{error}; name another file with NLGAUGE_STORE, or move this one away."


def _patiently(step: Callable[[], object], wait: float) -> None:
    """Switching to WAL does not wait for a lock by itself when two processes create the file at once."""
    last = time.monotonic() + wait
    while True:
        try:
            step()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.02)


def _number(db: sqlite3.Connection, signature: str) -> int | None:
    row = db.execute("SELECT id FROM signatures WHERE signature = ?", [signature]).fetchone()
    return None if row is None else int(row[0])


def full_signature(metric: Metric) -> str:
    """Return what a score depends on apart from the texts: the metric with its options, and its signature."""
    return f"{metric}|{metric.signature}"


def keys_of(metric: Metric, batch: Batch) -> list[bytes]:
    """One key per sample: a hash of the texts that the metric looks at, and of no others."""
    texts = batch.texts.list()
    needs = metric.facts.needs
    looked = [f for f in ("output", "source", "context") if f in needs]
    columns = [getattr(batch, f).tolist() for f in looked]
    refs, start = batch.reference.tolist(), batch.start.tolist()
    keys = []
    for i in range(len(batch)):
        parts: list[str | None] = [None if c[i] < 0 else texts[c[i]] for c in columns]
        if "control" in needs:
            parts.append(batch.control[i])
        if "references" in needs:
            parts += [texts[r] for r in refs[start[i] : start[i + 1]]]
        keys.append(_hash(parts))
    return keys


def _hash(parts: Sequence[str | None]) -> bytes:
    """Texts with their lengths, so that ('ab', 'c') is not ('a', 'bc'); None is not ''."""
    h = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = b"" if part is None else part.encode("utf-8", "surrogatepass")
        h.update(b"-" if part is None else str(len(raw)).encode())
        h.update(b":" + raw)
    return h.digest()


def lacks(metric: Metric, batch: Batch, store: Store) -> bool:
    """Whether `stored` would have anything to compute."""
    keys = keys_of(metric, batch)
    return len(store.get(full_signature(metric), keys)) < len(set(keys))


def stored(metric: Metric, batch: Batch, store: Store, *, chunk: int = CHUNK) -> Scores:
    """The metric's scores, computing only what the store does not hold; every finished chunk is kept at once.

    A score that depends on the other samples (`corpus`) is computed afresh, as its texts alone do not determine it.
    """
    if metric.facts.corpus:
        return metric.score(batch)
    signature, keys = full_signature(metric), keys_of(metric, batch)
    known = store.get(signature, keys)
    first: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        if key not in known:
            first.setdefault(key, i)

    def compute(some: list[bytes]) -> None:
        found = metric.score(take(batch, np.array([first[key] for key in some], np.int64)))
        new = {
            key: StoredScore(float(found.values[k]), found.reasons.get(k), found.notes.get(k))
            for k, key in enumerate(some)
        }
        store.put(signature, new)
        known.update(new)

    # Samples of one source side by side: what is encoded for one of them serves the next.
    todo = sorted(first, key=lambda key: (batch.source[first[key]], batch.context[first[key]], first[key]))
    if todo:
        _shared(store, signature, [todo[i : i + chunk] for i in range(0, len(todo), chunk)], known, compute)
    mine = [known[key] for key in keys]
    return Scores(
        np.array([k.value for k in mine], np.float64),
        {i: k.reason for i, k in enumerate(mine) if k.reason},
        {i: k.note for i, k in enumerate(mine) if k.note},
    )


def _shared(
    store: Store, signature: str, chunks: list[list[bytes]], known: dict[bytes, StoredScore],
    compute: Callable[[list[bytes]], None],
) -> None:  # fmt: skip
    """Compute the chunks, each unless another run is at it; then wait for that one, or take over what it leaves."""
    claims, mark = Claims(store), _hash([signature])
    changed = time.monotonic()
    try:
        while chunks:
            later, was = [], len(known)
            for some in chunks:
                force = time.monotonic() - changed > PATIENCE
                mine = {key[len(mark) :] for key in claims.take((mark + key for key in some), force=force)}
                known |= store.get(signature, some)  # another run may have been quicker than our claim
                if ours := [key for key in some if key in mine and key not in known]:
                    compute(ours)
                claims.drop()
                if left := [key for key in some if key not in known]:
                    later.append(left)
            chunks = later
            if len(known) > was:
                changed = time.monotonic()
            elif chunks:
                time.sleep(LOOK)
    finally:
        claims.drop()


@dataclass(frozen=True)
class Storing:
    """An engine for `scoring.run`: metrics with weights are looked up first, others are quicker than that."""

    store: Store

    def __call__(self, metric: Metric, batch: Batch) -> Scores:
        from nlgauge.metrics.judge.judge import Judge

        if isinstance(metric, Judge):
            # A judge keeps each reply, not only the score read from it.
            from nlgauge.scoring.judging import judged
            from nlgauge.scoring.replies import Replies

            result = judged(metric, batch, Replies(self.store))
            if result.stopped:  # no batch that was cut short is kept as done
                came = len(result.found) - result.failures
                raise PartlyDone(
                    f"{metric}: {result.stopped}. {came:,} replies came and are kept; the same command goes on."
                )
            return result.scores
        slow = bool(metric.facts.weights or metric.facts.extra)
        return stored(metric, batch, self.store) if slow else metric.score(batch)

    def lacks(self, metric: Metric, batch: Batch) -> bool:
        return lacks(metric, batch, self.store)
