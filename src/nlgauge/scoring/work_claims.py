"""Claims: two runs on one store share the work instead of doing, or paying for, all of it twice.

A claim belongs to a process. It ends when its score or reply is stored, when its run ends, or with the process. No
clock is involved, so a killed run blocks nobody.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from nlgauge.scoring.store import MAX_QUERY_KEYS, Store

TABLE = "CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID"
_numbers = count()


class Claims:
    """The claims of one run.

    Claim first, then read what is stored: work that another run finished just before is seen, and none begins twice.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.owner = f"{os.getpid()}.{next(_numbers)}"
        self._held: set[bytes] = set()
        with store.work() as db:
            db.execute(TABLE)

    def take(self, keys: Iterable[bytes], *, force: bool = False) -> set[bytes]:
        """Claim the keys that no other run has claimed (with `force`: all of them) and return them."""
        asked = list(dict.fromkeys(keys))
        mine: set[bytes] = set()
        alive: dict[str, bool] = {self.owner: False}  # our own may be taken again
        for i in range(0, len(asked), MAX_QUERY_KEYS):
            some = asked[i : i + MAX_QUERY_KEYS]
            with self.store.writing() as db:
                marks = ",".join("?" * len(some))
                rows = db.execute(f"SELECT key, owner FROM claims WHERE key IN ({marks})", some).fetchall()
                for _, owner in rows:
                    alive.setdefault(owner, _alive(owner))
                others = set() if force else {bytes(key) for key, owner in rows if alive[owner]}
                free = [key for key in some if key not in others]
                db.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?)", [(k, self.owner) for k in free])
            mine.update(free)
        self._held |= mine
        return mine

    def drop(self, keys: Iterable[bytes] | None = None) -> None:
        """Release these claims; None: all claims of this run."""
        gone = self._held & set(keys) if keys is not None else set(self._held)
        if gone:
            with self.store.writing() as db:
                db.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", [(key, self.owner) for key in gone])
        self._held -= gone


def _alive(owner: str) -> bool:
    """Return whether the process still runs. Where that is unknown, assume so: a waiting run takes over in the end."""
    try:
        pid = int(owner.partition(".")[0])
        if sys.platform == "win32":
            return True
        os.kill(pid, 0)
    except (ProcessLookupError, ValueError, TypeError, OverflowError):  # or a name that no run has: damage
        return False
    except OSError:
        return True
    try:  # a process that ended and was not asked for its exit code has a number still
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return True
