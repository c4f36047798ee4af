"""A folder of finished parts beside the file that is being made of them: an interrupted run goes on where it was.

`run.json` says what the parts depend on, and every part names that run. Files appear whole or not at all (`writing`),
so a run may be killed at any moment, and several processes and machines may work on one run.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nlgauge.errors import NlgaugeError
from nlgauge.writing import write_whole

PLAN = "run.json"
OWN = re.compile(r"\d{4,}\.\w+|shard-\d+-of-\d+\.json|run\.json|.+\.part")
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def file_facts(path: Path) -> dict[str, Any]:
    """By what a file is taken for the same one."""
    state = path.stat()
    return {"file": path.name, "bytes": state.st_size, "changed": state.st_mtime_ns}


@dataclass(frozen=True)
class PartsFolder:
    path: Path
    facts: dict[str, Any]

    @classmethod
    def open(cls, path: Path, facts: dict[str, Any]) -> Self:
        """A new folder, or that of an earlier run if it was the same one."""
        new = cls(path, json.loads(json.dumps(facts)))
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NlgaugeError(f"{path}: cannot be made ({error.strerror}).") from None
        if not (path / PLAN).exists():
            new.write(PLAN, json.dumps(new.facts))
        if other := cls.known(path).difference(new):
            raise NlgaugeError(
                f"{path}: is left from another run (other {other}); remove it, or write to another file."
            )
        return new

    @classmethod
    def known(cls, path: Path) -> Self:
        """The folder of an earlier run."""
        try:
            facts = json.loads((path / PLAN).read_bytes())
            if not isinstance(facts, dict):
                raise ValueError(f"found {type(facts).__name__}")
            return cls(path, facts)
        except FileNotFoundError:
            name = path.name.removesuffix(".parts")
            raise NlgaugeError(f"{path}: no such folder; nothing was scored for {name}.") from None
        except (OSError, ValueError) as error:
            raise NlgaugeError(f"{path / PLAN}: cannot be read ({error}).") from None

    def difference(self, other: PartsFolder) -> str:
        """The first fact in which two runs differ; nothing: they are one."""
        mine, theirs = self.facts, other.facts
        return next((key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)), "")

    @property
    def run(self) -> str:
        """Which run a part is of: no part of another one is ever taken for it."""
        return hashlib.blake2b(json.dumps(self.facts, sort_keys=True).encode(), digest_size=8).hexdigest()

    def write(self, name: str, content: str | bytes) -> None:
        try:
            write_whole(self.path / name, content)
        except NlgaugeError as error:
            raise NlgaugeError(f"{error} What is done is kept; the same command goes on with the rest.") from None

    def mark(self, name: str, **said: Any) -> None:
        """Write what is known of a part, which is done thereby."""
        self.write(f"{name}.json", json.dumps({"run": self.run, **said}, default=vars))

    def marked(self, name: str) -> dict[str, Any] | None:
        """What `mark` has written; None where there is nothing of this run, or nothing whole: then it is done again."""
        try:
            said = json.loads((self.path / f"{name}.json").read_bytes())
            return said if said["run"] == self.run else None
        except DAMAGED:
            return None

    def remove(self) -> None:
        """What runs have put into the folder, and the folder if nothing else is in it."""
        if not self.path.is_dir():
            return
        for path in self.path.iterdir():
            if OWN.fullmatch(path.name):
                path.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()
