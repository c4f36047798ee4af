"""What the fault tests share: the real command line in a process of its own, on a disk or a folder that misbehaves."""

from __future__ import annotations

import functools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NLGAUGE = [sys.executable, "-c", "from nlgauge.cli import main; main()"]
OLD = "what was here before\n"


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "NLGAUGE_STORE": str(folder / "store.sqlite"), "NO_COLOR": "1", **more}


def nlgauge(
    folder: Path, *words: str, before: list[str] | None = None, limit: int | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `before` is put in front of it, `limit` is the most bytes a file may have."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [*(before or []), *NLGAUGE, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(folder, **more),
        check=False,
        preexec_fn=limited,
        timeout=300,
    )


def begun(folder: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*NLGAUGE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(folder, **more),
    )


def interrupted(run: subprocess.Popen[str], number: signal.Signals, when: Callable[[], object]) -> str:
    """Send the signal as soon as `when` says so; what was said on stderr, after the checks that hold for all commands."""
    until = time.monotonic() + 120
    while not when():
        assert run.poll() is None, f"ended before the signal: {run.communicate()[1]}"
        assert time.monotonic() < until, "never got there"
        time.sleep(0.005)
    run.send_signal(number)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 128 + number, said
    assert_one_line(said, "what was finished is kept; run the same command again")
    return said


def assert_one_line(stderr: str, words: str) -> None:
    """The last line says it, in one line, and there is no traceback anywhere."""
    last = stderr.rstrip("\n").splitlines()[-1]
    assert last.startswith("nlgauge: "), stderr
    assert words in last, stderr
    assert "Traceback" not in stderr, stderr


def write_outputs(path: Path, rows: int, words: int = 12) -> Path:
    """A table of outputs with their references."""
    texts = ["the hotel", "is near a park", "and has no rooms left", "with a view", "of the old town", "in winter"]
    with path.open("w") as file:
        for i in range(rows):
            said = [" ".join(texts[(i * k + j) % 6] for j in range(words // 3)) for k in (1, 5)]
            row: dict[str, Any] = {"system": f"s{i % 5}", "input": str(i // 5), "output": f"{said[0]} {i}"}
            file.write(json.dumps({**row, "references": [said[1]]}) + "\n")
    return path


def lines_of(run: subprocess.Popen[str], words: str, then: float = 0.0) -> Callable[[], bool]:
    """True once a line with these words was said on stderr, and so many seconds went by."""
    heard: list[bool] = []

    def when() -> bool:
        if not heard and run.stderr is not None:
            for line in run.stderr:
                if words in line:
                    time.sleep(then)
                    heard.append(True)
                    break
        return bool(heard)

    return when


@functools.cache
def mounts() -> bool:
    """Whether this user may mount in a name space of its own: as root, or where user name spaces are allowed."""
    if shutil.which("unshare") is None:
        return False
    test = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(test, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not mounts(), reason="no right to mount (unshare -rm): the disk stays as it is")


def in_namespace(script: str, *arguments: str) -> list[str]:
    """A command prefix: the script prepares mounts that only this process sees, then runs what follows."""
    return ["unshare", "-rm", "sh", "-ec", f'{script}\n"$@"', "sh", *arguments]
