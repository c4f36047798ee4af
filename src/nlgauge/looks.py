"""Log of the uses of a held-out test set: JSON lines next to its file, to which entries are only appended."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

from nlgauge.errors import Note


def log_of(path: str | Path) -> Path:
    """Return the path of the access log of a file."""
    return Path(f"{path}.looks.jsonl")


def is_test_part(path: object) -> bool:
    """Return whether a file is the test part of a split, whose uses are logged."""
    try:
        return isinstance(path, str | Path) and log_of(path).is_file()
    except OSError:  # the name of the file is as long as names can be, so it has no log
        return False


def begin_log(path: Path) -> None:
    """Start to record all uses of this file; earlier entries are kept."""
    log_of(path).touch()


def look(path: str | Path) -> str:
    """Record a use of the file, and return a note on the number of uses."""
    who = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    words = ["nlgauge" if who in ("nlgauge", "__main__.py") else "python" if who == "-c" else who, *sys.argv[1:]]
    command = " ".join(words)
    line = {"time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "command": command}
    log = log_of(path)
    try:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=not command.isprintable()) + "\n")
        n = sum(1 for _ in log.open(encoding="utf-8"))
    except OSError as error:
        return Note(f"held-out test part; this use could not be recorded in {log.name} ({error.strerror})", "look")
    return Note(
        f"held-out test part, use number {n} ({log.name}): changes based on these results bias later results on it",
        "look",
    )
