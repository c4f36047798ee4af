"""The ledger: one row for every printed cell of the five papers, and the counts derived from it.

A row has the cell (paper, table, key), the printed and the computed value, the verdict, its evidence, what the cell
needs that is not available, and the line of the file with the printed value. README, the pages of the papers, the
picture and `nlgauge reproduce -o cells.csv` are written from it.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nlgauge.datasets import entries, entry
from nlgauge.plugins import Row

if TYPE_CHECKING:
    from nlgauge_papers import Study

COLUMNS = ("paper", "table", "key", "printed", "ours", "verdict", "evidence", "needs", "source")
MATCHES, WITHIN, DIFFERS = "matches", "within tolerance", "differs"
ERROR = "matches after reproducing an error in the paper"
DOWNLOAD, WEIGHTS, NEVER = "needs a download", "needs weights", "never published"
LEFT_OUT, NOTHING = "left out", "nothing to compute"
JUDGED = (MATCHES, WITHIN, ERROR, DIFFERS)
# What a cell may need, in the order in which a reader gets it.
GET, PACKAGE, BROWSER, MODEL = "data get", "package", "browser", "weights"


def ledger_row(study: Study, key: Sequence[str], text: str, line: int, compared: Mapping[str, object]) -> Row:
    """Return a printed cell as a row of the ledger; `compared`: its row in the displayed table."""
    value, verdict, reason = compared["ours"], str(compared["verdict"]), str(compared["reason"])
    if isinstance(value, float):
        value = None if math.isnan(value) else round(value, len(text.partition(".")[2]) + 3)
    return {
        "paper": study.paper,
        "table": study.table,
        "key": "; ".join(key),
        "printed": text,
        "ours": value,
        "verdict": verdict,
        "evidence": reason or (f"computed from {', '.join(study.sets)}" if study.sets else "computed"),
        "needs": needs(verdict, reason),
        "source": f"{study.paper}/published/{study.table}.csv:{line}",
    }


def needs(verdict: str, reason: str) -> str:
    """Return what a cell without a value needs: `data get NAME`, `package`, `browser NAME`, or `weights`.

    >>> needs("needs a download", "mans-wp: … is not in the folder; `nlgauge data get mans-wp` says where it is")
    'browser mans-wp'
    """
    if verdict in (WEIGHTS, LEFT_OUT):
        return PACKAGE if "pip install" in reason else MODEL
    if verdict != DOWNLOAD:
        return ""
    available = {e.name for e in entries()}
    listed = re.findall(r"`nlgauge data (?:get|show) ([^`]+)`", reason)
    names = [name for some in listed for name in some.split() if name in available]
    by_hand = [name for name in names if not all(f.downloadable for f in entry(name).needed)]
    return f"{BROWSER} {by_hand[0]}" if by_hand else f"{GET} {' '.join(names)}" if names else BROWSER


def read(path: Path) -> list[dict[str, str]]:
    """Read a ledger."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(rows: Iterable[Row], path: Path, folder: Path) -> None:
    """Write a ledger; the name of the data folder in the evidence is left out."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            evidence = str(row["evidence"]).replace(f"is not in {folder};", "is not here;")
            writer.writerow({**row, "evidence": evidence.partition(", or name your folder")[0]})


def tiers(rows: Sequence[Mapping[str, object]]) -> dict[str, int]:
    """Count the cells by what a reader has to do for them.

    `here`: compared, or a value is shown next to the printed one; `data get`: a program downloads what is missing;
    `package`: an extra is not installed; `browser`: a manual download; `weights`: a model has to be run; `none`: only
    the authors can compute it, or there is nothing to compute.
    """
    counts = Counter(_tier(row) for row in rows)
    return {name: counts[name] for name in ("here", GET, PACKAGE, BROWSER, MODEL, "none")}


def _tier(row: Mapping[str, object]) -> str:
    if row["needs"]:
        return next(name for name in (GET, PACKAGE, BROWSER, MODEL) if str(row["needs"]).startswith(name))
    return "none" if row["verdict"] in (NEVER, NOTHING) else "here"
