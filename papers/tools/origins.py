"""Write src/nlgauge/datasets/sets/origins.csv from snapshots of the origin repositories, and check the converters.

`python papers/tools/origins.py SNAPSHOTS`: SNAPSHOTS holds a git repository `owner+name` (or `owner+name/repo`) for each
origin. Every pattern of `parts` in sets/*.toml is looked up at the commit of COMMITS, or at the newest one.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from nlgauge.datasets import entries

COMMITS = {
    "tanyuqian/ctc-gen-eval": "3a5974d8c7b6d5439f81de01be75e199bc74fc3e",
    "maiush/PPairS": "0beef74",
    "uber-research/PPLM": "f365d3e14e26be8c5cbc38076b2e5ab26606a3aa",
}
OUT = Path(__file__).parents[2] / "src/nlgauge/datasets/sets/origins.csv"


def git(repository: Path, *arguments: str) -> bytes:
    """Run git in a bare or ordinary repository; empty where it fails."""
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""


def repository(snapshots: Path, name: str) -> Path:
    """Return where the snapshot of a repository is."""
    folder = snapshots / name.replace("/", "+")
    return next((p for p in (folder / "repo/.git", folder / "repo", folder / ".git") if p.is_dir()), folder)


def found(snapshots: Path, pattern: str) -> Iterator[dict[str, object]]:
    """The files that a pattern names, with size and hashes; only git's name where the content is absent."""
    name, _, path = pattern.partition(" ")
    folder = repository(snapshots, name)
    commit = git(folder, "rev-parse", COMMITS.get(name, "HEAD")).decode().strip()
    for line in git(folder, "ls-tree", "-r", "-z", commit).decode().split("\0"):
        facts, _, file = line.partition("\t")
        if not file or not fnmatchcase(file, path):
            continue
        blob = facts.split()[2]
        content = git(folder, "cat-file", "blob", blob)
        seen = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()} if content else {}
        yield {"repository": name, "commit": commit, "path": file, "size": "", "sha256": "", "blob": blob} | seen


def main(snapshots: Path) -> None:
    """Write the table of all origin files."""
    patterns = sorted({pattern for e in entries() for f in e.files for pattern in f.parts})
    rows = {(r["repository"], r["path"]): r for pattern in patterns for r in found(snapshots, pattern)}
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["repository", "commit", "path", "size", "sha256", "blob"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows, key=str))
    print(f"{len(rows)} files, {sum(not r['sha256'] for r in rows.values())} not seen")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
