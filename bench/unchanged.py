"""Do results stay the same when the code moves? Records them, and compares two recordings number by number.

    python -m bench.unchanged record FOLDER          results.json of several data sets, and every fast table of the papers
    python -m bench.unchanged compare BEFORE AFTER   numbers that differ by more than 1e-12, and rows that come or go

Published sets are read from the folder NLGAUGE_DATA. Names that changed between two recordings stand in RENAMED, so that
a renamed column is not a lost one. Tables that need weights or long runs are left out (`--no-slow`).
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUNS: dict[str, list[str]] = {
    "example": ["run", str(ROOT / "examples" / "mine.csv")],
    "verdicts": ["run", str(ROOT / "examples" / "judged.csv")],
    "summeval": ["run", "summeval-table", "--quick"],
    "usr-topical": ["run", "usr-topical", "--quick"],
    "hanna": ["run", "hanna", "--aspect", "Coherence", "--quick"],
    "wmt23-en-de": ["run", "wmt23-en-de", "--aspect", "mqm", "--quick"],
}
PAPERS = ("nimah2023", "deng2021", "gao2025", "colombo2023", "novikova2017")
TOLERANCE = 1e-12
RENAMED = {"correlation": "correlate", "ranking": "compare", "significance": "compare-pairs"}  # key before → after
VOLATILE = {
    "seconds",
    "took",
    "time",
    "date",
    "created",
    "version",
    "path",
    "command",
    "file",
    "nlgauge",
    "platform",
    "schema_version",
}


def record(folder: Path) -> None:
    """Write one JSON file per data set and paper; those that are there already are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in RUNS.items():
        if not (folder / f"{name}.results.json").exists():
            command = [sys.executable, "-m", "nlgauge", *words, "-o", str(folder / f"{name}.html")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            print(name, done.returncode, done.stderr[-300:] if done.returncode else "", flush=True)
    for paper in PAPERS:
        target = folder / f"{paper}.json"
        if not target.exists():
            command = [sys.executable, "-m", "nlgauge", "reproduce", paper, "--no-slow", "-f", "json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            print(paper, done.returncode, done.stderr[-300:] if done.returncode else "", flush=True)
            target.write_text(done.stdout)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every number of a JSON document with its path, renamed keys under their new names."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in VOLATILE:
                yield from leaves(each, (*path, RENAMED.get(key, key)))
    elif isinstance(value, list):
        for k, each in enumerate(value):
            yield from leaves(each, (*path, str(k)))
    elif isinstance(value, int | float):
        yield path, float(value)


def compare(before: Path, after: Path) -> int:
    """Print what differs per file; the number of files that do."""
    different = 0
    for old in sorted(before.glob("*.json")):
        new = after / old.name
        if not new.exists():
            print(f"{old.name}: missing")
            different += 1
            continue
        a, b = (dict(leaves(json.loads(f.read_text()))) for f in (old, new))
        changed = [p for p in a.keys() & b.keys() if not _same(a[p], b[p])]
        lost, added = a.keys() - b.keys(), b.keys() - a.keys()
        different += bool(changed or lost or added)
        print(f"{old.name}: {len(a)} numbers, {len(changed)} changed, {len(lost)} lost, {len(added)} added")
        for p in sorted(changed)[:10]:
            print("   changed", "/".join(p), a[p], b[p])
        for word, paths in (("lost", lost), ("added", added)):
            for p in sorted(paths)[:5]:
                print("  ", word, "/".join(p))
    return different


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= TOLERANCE * max(1.0, abs(a))


def main() -> None:
    match sys.argv[1:]:
        case ["record", folder]:
            record(Path(folder))
        case ["compare", before, after]:
            sys.exit(compare(Path(before), Path(after)) > 0)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
