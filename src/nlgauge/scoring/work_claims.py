"""Claims: several runs on one store share the work instead of computing, or paying, twice.

A claim belongs to a run, which has a random number and a lease. The operating system holds the lease while the process
lives (`file_locks`), in whatever container; a killed run blocks nobody. A thread renews it by counting a heartbeat: a
run whose process is there and whose heart stands still (stopped by Ctrl-Z, hung) loses its claims after LEASE_SECONDS.
Nobody looks at the time of day.
"""

from __future__ import annotations

import secrets
import threading
import time
import weakref
from collections.abc import Iterable
from contextlib import suppress
from sqlite3 import Connection

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.file_locks import ByteLocks, lock_path
from nlgauge.scoring.store import MAX_QUERY_KEYS, Store

BEAT_SECONDS = 5.0  # between two heartbeats
LEASE_SECONDS = 60.0  # without a heartbeat, after which the claims of a process that still exists end


class Claims:
    """The claims of one run.

    Claim first, then read what is stored: work that another run finished just before is seen, and none begins twice.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lease: _Lease | None = None
        self._held: set[bytes] = set()
        self._watched: dict[str, _Watched] = {}

    def take(self, keys: Iterable[bytes]) -> set[bytes]:
        """Claim the keys that no living run has claimed, and return them."""
        requested = list(dict.fromkeys(keys))
        if not requested:
            return set()
        if self._lease is None or not self._lease.valid():  # a forked process has a lease of its own
            self._lease, self._held = _Lease(self.store), set()
            weakref.finalize(self, self._lease.end)
        owner, claimed = self._lease.owner, set()
        for i in range(0, len(requested), MAX_QUERY_KEYS):
            some = requested[i : i + MAX_QUERY_KEYS]
            marks = ",".join("?" * len(some))
            with self.store.writing() as db:
                rows = db.execute(
                    "SELECT c.key, c.owner, o.beat FROM claims c LEFT JOIN owners o ON o.owner = c.owner "
                    f"WHERE c.key IN ({marks})",
                    some,
                ).fetchall()
                beats = {other: beat for _, other, beat in rows if other != owner}
                alive = {other: self._lives(other, beat) for other, beat in beats.items()}
                _forget(db, [other for other, lives in alive.items() if not lives])
                others = {key for key, other, _ in rows if alive.get(other)}
                free = [key for key in some if key not in others]
                db.execute("INSERT OR IGNORE INTO owners VALUES (?, 0)", [owner])
                db.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?)", [(key, owner) for key in free])
            claimed.update(free)
        self._held |= claimed
        return claimed

    def drop(self, keys: Iterable[bytes] | None = None) -> None:
        """Release these claims; None: all claims of this run, which ends its lease."""
        dropped = self._held & set(keys) if keys is not None else set(self._held)
        lease = self._lease
        if lease is not None and lease.valid() and (dropped or keys is None):
            with self.store.writing() as db:
                db.executemany(
                    "DELETE FROM claims WHERE key = ? AND owner = ?", [(key, lease.owner) for key in dropped]
                )
                if keys is None:
                    _forget(db, [lease.owner])
        self._held -= dropped
        if keys is None and lease is not None:
            lease.end()
            self._lease = None

    def _lives(self, owner: str, beat: object) -> bool:
        """Return whether the run with this number is still alive."""
        try:
            with ByteLocks.at(lock_path(self.store.path)) as locks:
                if beat is None or not locks.lives(int(owner)):
                    return False
        except (ValueError, OverflowError):  # damaged entry
            return False
        watched = self._watched.setdefault(owner, _Watched(beat))
        return watched.look(beat) < LEASE_SECONDS


class _Watched:
    """Seconds without a heartbeat of another run, by the clock of this run.

    No two looks count for more than a heartbeat: a pause of this process (a locked store, a suspended machine) says
    nothing about the other one.
    """

    def __init__(self, beat: object) -> None:
        self.beat, self.silent, self.last = beat, 0.0, time.monotonic()

    def look(self, beat: object) -> float:
        """Take note of a heartbeat and return the seconds without a new one."""
        now = time.monotonic()
        self.silent = self.silent + min(now - self.last, BEAT_SECONDS) if beat == self.beat else 0.0
        self.beat, self.last = beat, now
        return self.silent


class _Lease:
    """A random number that lives as long as its byte is locked, and a heart that beats."""

    def __init__(self, store: Store) -> None:
        number = 1 + secrets.randbits(62)
        self.store, self.number, self.owner = store, number, str(number)
        self._over = threading.Event()
        with ByteLocks.at(lock_path(store.path)) as locks:
            locks.take(number)
        threading.Thread(target=self._beat, name="nlgauge-lease", daemon=True).start()

    def valid(self) -> bool:
        """Return whether this process holds the lock; a child of a fork does not."""
        with ByteLocks.at(lock_path(self.store.path)) as locks:
            return self.number in locks.held

    def end(self) -> None:
        """Release the lock; remaining claims end with it."""
        self._over.set()
        with suppress(OSError), ByteLocks.at(lock_path(self.store.path)) as locks:
            locks.drop(self.number)

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            # The store may be locked or full: the next beat retries, and the run reports the error.
            with suppress(NlgaugeError), self.store.writing() as db:
                db.execute("UPDATE owners SET beat = beat + 1 WHERE owner = ?", [self.owner])


def _forget(db: Connection, owners: Iterable[str]) -> None:
    for owner in owners:
        db.execute("DELETE FROM claims WHERE owner = ?", [owner])
        db.execute("DELETE FROM owners WHERE owner = ?", [owner])
