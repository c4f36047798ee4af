"""`nlgauge …` inside the process of the tests: the same entry point, without half a second for a new interpreter.

`tests/cli/verb_outputs.py` runs every verb in a process of its own, and so do the tests of signals and of the disk.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from nlgauge.cli import main

SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


def run_command(*words: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `python -m nlgauge WORDS` prints and its exit code; the environment is ours and what is given here."""
    argv = ["nlgauge", *map(str, words)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = 0
    with _surroundings(argv, cwd, environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(argv, code, _text(out), _text(err))


@contextlib.contextmanager
def _surroundings(argv: list[str], cwd: Path | None, environment: dict[str, str]) -> Iterator[None]:
    """Whatever a command changes of its process is as before afterwards."""
    before, handlers, typed, inward = dict(os.environ), {s: signal.getsignal(s) for s in SIGNALS}, sys.argv, sys.stdin
    os.environ.update(environment)
    sys.argv, sys.stdin = argv, io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        with contextlib.chdir(cwd or Path.cwd()), warnings.catch_warnings():
            yield
    finally:
        sys.argv, sys.stdin = typed, inward
        os.environ.clear()
        os.environ.update(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8").replace("\r\n", "\n")  # type: ignore[attr-defined]
