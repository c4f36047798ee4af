"""RankME: three E2E systems judged by Likert scale, by plain and by relative magnitudes (RankME)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import csv_table, long_ratings

ASPECTS = {"inf": "informativeness", "nat": "naturalness", "qual": "quality"}
METHODS = {"likert": "likert", "plain": "plainME", "rank": "rankME"}
Judgement = tuple[str, str, str, str, list[tuple[str, str, float]]]  # rater, MR, aspect, source, (system, text, value)


def load(folder: Path, entry: Entry, method: str, setup: int) -> Dataset:
    """Load RankME; annotators rated all aspects together in setup 1, and one aspect each in setup 2."""
    judged = list(_judgements(folder / "rankme", METHODS[method], setup))
    texts: dict[tuple[str, str], tuple[str, str]] = {}
    long: list[tuple[str, str, str, str, float]] = []
    for rater, mr, aspect, source, given in judged:
        for system, text, value in given:
            texts.setdefault((system, mr), (text, source))
            long.append((system, mr, aspect, rater, value))
    samples = pl.DataFrame(
        [(s, i, text, source) for (s, i), (text, source) in texts.items()],
        schema={"system": pl.String, "input": pl.String, "output": pl.String, "source": pl.String},
        orient="row",
    ).sort("system", pl.col("input").cast(pl.Int64))
    notes = ["some outputs are the same text for two systems; workers are numbered anew in every file of the release"]
    if method != "likert":
        notes.append("magnitudes have no upper end; 100 stood for the reference output")
    if method == "rank":
        notes.append("comparisons come from the three values a worker gave side by side, in the order shown")
    return Dataset.of(
        entry.name,
        samples,
        ratings=long_ratings(long),
        comparisons=_comparisons(judged) if method == "rank" else None,
        persons=True,
        human_systems=(),
        notes=notes,
    )


def _judgements(home: Path, method: str, setup: int) -> Iterator[Judgement]:
    numbers = _mr_numbers(home / f"stp{setup}_rankME{'' if setup == 1 else '_inf'}.csv")
    for short, aspect in ASPECTS.items():
        path = home / (f"stp1_{method}.csv" if setup == 1 else f"stp2_{method}_{short}.csv")
        for row in csv_table(path).iter_rows(named=True):
            # One person has different numbers in different files.
            rater = row["_worker_id"] if setup == 1 else f"{short} {row['_worker_id']}"
            source = row["mr"].strip()
            yield rater, numbers[source], aspect, source, _values(row, aspect, short)


def _values(row: dict[str, Any], aspect: str, short: str) -> list[tuple[str, str, float]]:
    if "team" in row:
        return [(row["team"], row["ref"], float(row[aspect]))]
    name = aspect if f"{aspect}1" in row else short
    return [(row[f"team{k}"], row[f"ref{k}"], float(row[f"{name}{k}"])) for k in (1, 2, 3)]


def _mr_numbers(path: Path) -> dict[str, str]:
    """Map the text of each meaning representation to its number, because one file of the release lacks the numbers."""
    return {row["mr"].strip(): row["mr_id"] for row in csv_table(path).iter_rows(named=True)}


def _comparisons(judged: list[Judgement]) -> pl.DataFrame:
    rows = [
        (mr, one[0], two[0], aspect, rater, "tie" if one[2] == two[2] else "first" if one[2] > two[2] else "second")
        for rater, mr, aspect, _, given in judged
        for one, two in combinations(given, 2)
    ]
    return pl.DataFrame(rows, schema=Dataset.COMPARISONS, orient="row")
