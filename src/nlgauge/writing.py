"""Atomic writing of files: a file appears under its name completely, or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nlgauge.errors import NlgaugeError

# Advice for errors whose own message gives none.
ADVICE = {
    errno.ENOSPC: "free some space, or name another place",
    errno.EDQUOT: "free some space, or name another place",
    errno.EFBIG: "the system limits the size of a file; name another place",
    errno.EROFS: "name another place",
    errno.EACCES: "name another place",
    errno.EPERM: "name another place",
}


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` atomically when the block succeeds; otherwise the old file is kept.

    The name holds the machine and the number of the process, so that two runs that write the same file do not write
    into each other.

    >>> with whole("table.csv") as part:                             # doctest: +SKIP
    ...     part.write_text("a,b")
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    part = target.with_name(_part_name(target.name))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())  # before the name: a power cut must not leave an empty file under it
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except Exception as error:
        if (cause := os_error(error)) is None:
            raise
        raise unwritable(path, cause) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _part_name(name: str) -> str:
    """Return a name for what is being written; of a long name only the beginning, as a name has at most 255 bytes."""
    own = f".{socket.gethostname()}-{os.getpid()}.part"
    beginning = os.fsencode(name)[: 255 - len(os.fsencode(own))]
    return f"{beginning.decode('utf-8', 'ignore')}{own}"  # no half of a character


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a text or bytes atomically."""
    with whole(path) as part:
        # Lone surrogates, as in file names that are not UTF-8, are written as JSON escapes.
        part.write_bytes(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def os_error(error: Exception) -> OSError | None:
    """Return the system error behind one of a library; Polars and safetensors give its number only in their message.

    >>> os_error(RuntimeError("underlying IO error: No space left on device (os error 28)")).errno == errno.ENOSPC
    True
    """
    if isinstance(error, OSError) and error.errno:
        return error
    if said := re.search(r"\(os error (\d+)\)", str(error)):
        return OSError(int(said[1]), os.strerror(int(said[1])))
    return error if isinstance(error, OSError) else None


def unwritable(path: object, error: OSError) -> NlgaugeError:
    """Return the error for a file that cannot be written, as one line.

    >>> str(unwritable("t.csv", OSError(errno.ENOSPC, "No space left on device")))
    't.csv: cannot be written (No space left on device); free some space, or name another place.'
    """
    words = error.strerror or str(error) or type(error).__name__
    advice = ADVICE.get(error.errno or 0)
    return NlgaugeError(f"{path}: cannot be written ({words}){f'; {advice}' if advice else ''}.")
