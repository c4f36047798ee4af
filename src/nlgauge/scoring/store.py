"""The persistent score store: an SQLite database with the metric's signature and the texts as the key.

An interrupted run continues where it stopped, a repeated run costs nothing, and several processes can write at the same
time. Each chunk is one transaction, so finished work is never lost. Each row has a checksum; a row that was damaged on
the disk counts as missing and is never used as a value.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.places import cache_path, network_file_system
from nlgauge.scoring.file_locks import locks_work

MAX_QUERY_KEYS = 500  # keys in one question: SQLite allows at least 999
LOCK_WAIT_SECONDS = 60.0  # seconds that a writer waits for another one, unless NLGAUGE_STORE_WAIT is set
FORMAT = 1  # of the file, as PRAGMA user_version holds it; 0 is the one without checksums
TABLES = """
CREATE TABLE IF NOT EXISTS signatures (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS scores (
  signature INTEGER NOT NULL REFERENCES signatures (id), texts BLOB NOT NULL,
  value REAL, reason TEXT, note TEXT, made REAL NOT NULL, checksum BLOB,
  PRIMARY KEY (signature, texts)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replies (
  key BLOB PRIMARY KEY, url TEXT NOT NULL, model TEXT NOT NULL, draw INTEGER NOT NULL, request BLOB NOT NULL,
  reply BLOB NOT NULL, answered_by TEXT, fingerprint TEXT, finish TEXT, prompt_tokens INTEGER,
  completion_tokens INTEGER, seconds REAL, made REAL NOT NULL, checksum BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS judges (signature TEXT PRIMARY KEY, spec TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owners (owner TEXT PRIMARY KEY, beat INTEGER NOT NULL) WITHOUT ROWID;
"""
# What a row's checksum covers: all its other columns, and the text of a signature rather than its number.
SUMMED_SCORE = "(SELECT s.signature FROM signatures s WHERE s.id = scores.signature), texts, value, reason, note, made"
SUMMED_REPLY = (
    "key, url, model, draw, request, reply, answered_by, fingerprint, finish, prompt_tokens, completion_tokens, "
    "seconds, made"
)


@dataclass(frozen=True, slots=True)
class StoredScore:
    """One score as it is stored: a value, or NaN with its reason, and perhaps a note."""

    value: float
    reason: str | None = None
    note: str | None = None


class DamagedCache(UserWarning):
    """Rows of the cache whose bytes changed on the disk."""


def checksum(values: Sequence[object]) -> bytes:
    """Return the checksum of a row's values; each has the type with which SQLite returns it.

    >>> checksum([1.0, "a"]) == checksum([1.0, "a"]) != checksum([1, "a"])
    True
    """
    return hashlib.blake2b(repr(tuple(values)).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def store_path() -> Path:
    """Return where scores are stored: NLGAUGE_STORE, or a file in the user's cache folder."""
    return cache_path("NLGAUGE_STORE", "scores.sqlite")


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
        self.damaged: set[object] = set()  # the rows with a wrong checksum that were read

    def get(self, signature: str, keys: Iterable[bytes]) -> dict[bytes, StoredScore]:
        """Return the scores that are stored under these keys; a key without an intact score is left out."""
        requested = list(dict.fromkeys(keys))
        scores: dict[bytes, StoredScore] = {}
        bad = set()
        with self.work() as db:
            number = _number(db, signature)
            query = (
                "SELECT texts, value, reason, note, made, checksum FROM scores WHERE signature = ? AND texts IN ({})"
            )
            for *row, check in self.select(db, query, requested if number is not None else [], number):
                if check != checksum([signature, *row]):
                    bad.add((signature, row[0]))
                    continue
                texts, value, reason, note, _ = row
                scores[texts] = StoredScore(math.nan if value is None else value, reason, note)
        self.count_damage(bad, "computed again")
        return scores

    def count_damage(self, rows: Iterable[object], remedy: str) -> None:
        """Count rows whose checksum is wrong, and warn of those that were not known as damaged."""
        if new := set(rows) - self.damaged:
            self.damaged |= new
            warnings.warn(
                f"score store {self.path}: {len(new):,} damaged rows are {remedy}.", DamagedCache, stacklevel=3
            )

    @staticmethod
    def select(db: sqlite3.Connection, query: str, keys: Sequence[bytes], *before: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query `… IN ({})` for any number of keys.

        `before` holds the query parameters that precede the keys.
        """
        for i in range(0, len(keys), MAX_QUERY_KEYS):
            some = keys[i : i + MAX_QUERY_KEYS]
            yield from db.execute(query.format(",".join("?" * len(some))), [*before, *some])

    def put(self, signature: str, rows: dict[bytes, StoredScore]) -> None:
        """Store these scores, all or none."""
        if not rows:
            return
        now = time.time()
        with self.writing() as db:
            db.execute("INSERT OR IGNORE INTO signatures (signature) VALUES (?)", [signature])
            number = _number(db, signature)
            db.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(number, *row, checksum([signature, *row])) for row in (_row(*item, now) for item in rows.items())],
            )

    def counts(self) -> dict[str, int]:
        """Return how many scores are stored for each signature."""
        with self.work() as db:
            rows = db.execute(
                "SELECT s.signature, COUNT(*) FROM scores JOIN signatures s ON s.id = scores.signature "
                "GROUP BY s.id ORDER BY s.signature"
            )
            return dict(rows.fetchall())

    def forget(self, signature: str) -> int:
        """Remove the scores of a signature and return how many there were."""
        with self.work() as db:
            deleted = db.execute(
                "DELETE FROM scores WHERE signature = (SELECT id FROM signatures WHERE signature = ?)", [signature]
            )
            return deleted.rowcount

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._open and self._open[0] == os.getpid():
                self._open[1].close()
            self._open = None

    @contextmanager
    def work(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, and convert an error of SQLite to one line that names the file."""
        with self._lock:
            try:
                yield self._connection()
            except (sqlite3.Error, OSError) as error:
                raise NlgaugeError(f"score store {self.path}: {_advice(error)}") from None
            except UnicodeDecodeError:  # SQLite quotes bytes of a damaged file in its error
                advice = _advice(sqlite3.DatabaseError("file is damaged"))
                raise NlgaugeError(f"score store {self.path}: {advice}") from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction: the block is written completely or not at all."""
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
            self._check_file_system()
            if not self.path.exists():
                # It holds prompts and replies; SQLite gives its side files the same rights.
                self.path.touch(mode=0o600)
            wait = _wait()
            db = sqlite3.connect(self.path, timeout=wait, isolation_level=None, check_same_thread=False)
            # Bytes that are no UTF-8 mean a damaged row, which its checksum tells; they must not end the whole query.
            db.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
            try:
                self._prepare(db, wait)
            except BaseException:
                db.close()
                raise
            self._open = os.getpid(), db
        return self._open[1]

    def _check_file_system(self) -> None:
        """Refuse a place where two runs would damage the file, or pay twice."""
        if kind := network_file_system(self.path.parent):
            raise NlgaugeError(
                f"score store {self.path}: is on a network file system ({kind}), where locks between machines do not "
                "work; set NLGAUGE_STORE to a file on a local disk."
            )
        if not locks_work(self.path):
            raise NlgaugeError(
                f"score store {self.path}: this file system has no file locks, which several runs need; set "
                "NLGAUGE_STORE to a file on a local disk."
            )

    def _prepare(self, db: sqlite3.Connection, wait: float) -> None:
        """Make the tables, or bring those of an older version to the present format."""
        _patiently(lambda: self._check_format(db), wait)
        _patiently(lambda: db.execute("PRAGMA journal_mode = WAL").fetchone(), wait)
        db.execute("PRAGMA synchronous = NORMAL")
        if self._check_format(db) == FORMAT:
            return
        _patiently(lambda: db.execute("BEGIN IMMEDIATE"), wait)
        try:
            if self._check_format(db) < FORMAT:  # no other process was faster
                _upgrade(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def _check_format(self, db: sqlite3.Connection) -> int:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if version > FORMAT:
            raise NlgaugeError(
                f"score store {self.path}: was written by a newer version of nlgauge (format {version}, this version "
                f"reads {FORMAT}); update nlgauge, or name another file with NLGAUGE_STORE."
            )
        return version


def _wait() -> float:
    given = os.environ.get("NLGAUGE_STORE_WAIT", "")
    try:
        return float(given or LOCK_WAIT_SECONDS)
    except ValueError:
        raise NlgaugeError(
            f"NLGAUGE_STORE_WAIT is '{given}'; expected seconds, as in NLGAUGE_STORE_WAIT=300."
        ) from None


def _advice(error: Exception) -> str:
    """Describe what happened and what to do."""
    if "locked" in str(error):
        return (
            f"another program has kept it locked for {_wait():g} s; wait for it (NLGAUGE_STORE_WAIT=300 waits longer), "
            "or name another file with NLGAUGE_STORE."
        )
    if "full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC:
        return f"{error}; free some space, or name another file with NLGAUGE_STORE. Earlier scores are intact."
    return f"{error}; name another file with NLGAUGE_STORE, or move this one away."


def _patiently(step: Callable[[], object], wait: float) -> None:
    """Repeat a step until it succeeds or the time is over.

    Switching to WAL does not wait for a lock by itself when two processes create the file at once.
    """
    last = time.monotonic() + wait
    while True:
        try:
            step()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.02)


def _upgrade(db: sqlite3.Connection) -> None:
    """Create missing tables and columns, and add checksums to rows without one."""
    db.create_function("row_checksum", -1, lambda *values: checksum(values), deterministic=True)
    for table, summed in (("scores", SUMMED_SCORE), ("replies", SUMMED_REPLY)):
        columns = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
        if columns and "checksum" not in columns:
            db.execute(f"ALTER TABLE {table} ADD COLUMN checksum BLOB")
            db.execute(f"UPDATE {table} SET checksum = row_checksum({summed})")
    db.execute("DROP TABLE IF EXISTS claims")  # of processes by their numbers
    for statement in filter(str.strip, TABLES.split(";")):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {FORMAT}")


def _row(key: bytes, score: StoredScore, made: float) -> tuple[bytes, float | None, str | None, str | None, float]:
    """Return the columns of a score as SQLite returns them; a negative zero comes back as zero."""
    value = None if math.isnan(score.value) else float(score.value) + 0.0
    return key, value, score.reason, score.note, made


def _number(db: sqlite3.Connection, signature: str) -> int | None:
    row = db.execute("SELECT id FROM signatures WHERE signature = ?", [signature]).fetchone()
    return None if row is None else int(row[0])
