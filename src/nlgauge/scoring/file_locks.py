"""Locks of the operating system: they end with their process and work across containers.

A run of nlgauge holds one byte of a lock file, at a place that is its random number. Another run that cannot lock the
same byte knows that the first one lives. No process number is looked at: two containers count theirs separately, and
one that is used again belongs to somebody else.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, ClassVar

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

BUSY = frozenset({errno.EACCES, errno.EAGAIN})
LOCK_SECONDS = 60.0  # a writer waits for another one


class ByteLocks:
    """The bytes of one lock file that runs of this process hold.

    These locks belong to the process, and closing any descriptor of the file would let go all of them: there is one
    descriptor for each file, which is closed with the last lock. A forked child holds none of them.
    """

    _guard = threading.RLock()
    _by_path: ClassVar[dict[str, ByteLocks]] = {}

    def __init__(self, path: str) -> None:
        self.path = path
        self.held: set[int] = set()
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)

    @classmethod
    @contextmanager
    def at(cls, path: Path) -> Iterator[ByteLocks]:
        """Yield the locks of this process on a file.

        The file is opened if no lock on it is held yet, and closed if no lock is held afterwards.
        """
        with cls._guard:
            key = os.path.realpath(path)
            locks = cls._by_path.get(key)
            if locks is None:
                locks = cls._by_path[key] = cls(key)
            try:
                yield locks
            finally:
                if not locks.held:
                    del cls._by_path[key]
                    os.close(locks.descriptor)

    def take(self, number: int) -> bool:
        """Lock a byte, and return whether this succeeded; it fails if another process holds the lock."""
        if fcntl is not None:
            try:
                fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
            except OSError as error:
                if error.errno in BUSY:
                    return False
                raise
        self.held.add(number)
        return True

    def drop(self, number: int) -> None:
        """Release a byte that this process holds."""
        if number in self.held:
            self.held.remove(number)
            if fcntl is not None:
                fcntl.lockf(self.descriptor, fcntl.LOCK_UN, 1, number)

    def lives(self, number: int) -> bool:
        """Return whether a run holds the lock of this byte; True if this cannot be determined."""
        if fcntl is None or number in self.held:
            return True
        if not self.take(number):
            return True
        self.drop(number)
        return False


def _after_fork() -> None:
    ByteLocks._guard = threading.RLock()  # another thread of the parent may have held it
    ByteLocks._by_path = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def lock_path(path: Path) -> Path:
    """Return the lock file next to a file that several runs share."""
    return path.with_name(f"{path.name}-runs")


def locks_work(path: Path) -> bool:
    """Return whether the file system of a file has locks."""
    if fcntl is None:
        return True
    try:
        with ByteLocks.at(lock_path(path)) as locks:
            locks.lives(0)
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL):
            return False
        raise
    return True


@contextmanager
def locked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read and append, made where it is missing, while no other process or thread has it locked.

    A program that replaces the file instead of writing into it leaves the lock on the old one; then the new one is
    opened and locked.
    """
    last = time.monotonic() + LOCK_SECONDS
    while True:
        file = path.open("a+b")
        try:
            if _exclusive(file) and _is_at(file, path):
                yield file
                return
        finally:
            file.close()  # releases the lock
        if time.monotonic() > last:
            raise OSError(errno.EAGAIN, f"locked by another program for {LOCK_SECONDS:g} s")
        time.sleep(0.01)


def _exclusive(file: IO[Any]) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt  # a byte far behind the text, as these locks keep others from reading

            file.seek(1 << 40)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError as error:
        if error.errno in BUSY | {errno.EDEADLK}:
            return False
        raise
    return True


def _is_at(file: IO[Any], path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False
