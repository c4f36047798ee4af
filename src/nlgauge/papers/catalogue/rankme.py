"""RankME: three E2E systems judged by Likert scale, by plain and by relative magnitudes (RankME)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Rating, csv_table, ratings

ASPECTS = {"inf": "informativeness", "nat": "naturalness", "qual": "quality"}
METHODS = {"likert": "likert", "plain": "plainME", "rank": "rankME"}
Judgement = tuple[
    str, str, str, str, list[tuple[str, str, float]]
]  # rater, MR, aspect, source, (system, text, value)


def load(folder: Path, method: str, setup: int) -> Dataset:
    """Setup 1 asked for all aspects at once, setup 2 for one at a time (other raters for each)."""
    judged = list(_judgements(folder / "rankme", METHODS[method], setup))
    texts: dict[tuple[str, str], tuple[str, str]] = {}
    long: list[Rating] = []
    for rater, mr, aspect, source, given in judged:
        for system, text, value in given:
            texts.setdefault((system, mr), (text, source))
            long.append((system, mr, aspect, rater, value))
    samples = pl.DataFrame(
        [(s, i, text, source) for (s, i), (text, source) in texts.items()],
        schema={"system": pl.String, "input": pl.String, "output": pl.String, "source": pl.String},
        orient="row",
    ).sort("system", pl.col("input").cast(pl.Int64))
    notes = [
        "some outputs are the same text for two systems; workers are numbered anew in every file of the "
        "release"
    ]
    if method != "likert":
        notes.append("magnitudes have no upper end; 100 stood for the reference output")
    if method == "rank":
        notes.append("comparisons come from the three values a worker gave side by side, in the order shown")
    return Dataset.of(
        f"rankme-{method}-{setup}",
        samples,
        ratings=ratings(long),
        comparisons=_comparisons(judged) if method == "rank" else None,
        persons=True,
        people=(),
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
    """MR text to MR number; one file of the release lacks the number."""
    return {row["mr"].strip(): row["mr_id"] for row in csv_table(path).iter_rows(named=True)}


def _comparisons(judged: list[Judgement]) -> pl.DataFrame:
    rows = [
        (
            mr,
            one[0],
            two[0],
            aspect,
            rater,
            "tie" if one[2] == two[2] else "first" if one[2] > two[2] else "second",
        )
        for rater, mr, aspect, _, given in judged
        for one, two in combinations(given, 2)
    ]
    return pl.DataFrame(rows, schema=Dataset.COMPARISONS, orient="row")


FILES = {
    "stp1_likert.csv": (186421, "f5664e9ed30f1a64cae8b0da2ffc6fe6b21611913b21e772d51435093d23b21a"),
    "stp1_plainME.csv": (185880, "1f55c6ea134c63253596096e9fd527a9fd8776a8e909b9bd3d8eb1ba711584aa"),
    "stp1_rankME.csv": (123718, "b1f76b4133ddc35acbfdfbe2ae70688a7a0ac917a6e49c9b679d31ec01a92ca0"),
    "stp2_likert_inf.csv": (177220, "ae55e56ca27ff0b83224974b56658fdeb1a1d49fbf261798f13d209a18fe259c"),
    "stp2_likert_nat.csv": (177216, "4578a6b78de6922be6257998f3f3cae82e871712ce2d2af34eadb5b5a9d4893e"),
    "stp2_likert_qual.csv": (179497, "ba908e918136180fdd4c5a493a28017eb4775cf88583f989c311ef30a0ffb5e7"),
    "stp2_plainME_inf.csv": (178750, "a069ed9d4d411f0eb5c3b7fc94893794127ee54929f56f1825d73b7f61331fba"),
    "stp2_plainME_nat.csv": (178245, "0ffd2f82854c6f6e11ebffa20b87e86315b041b39edbeefaec37214a6da47ee8"),
    "stp2_plainME_qual.csv": (187131, "d4821999be3c3529ab9bdba9bf65723cd8e1eb614cf6298585d88061a20ae97d"),
    "stp2_rankME_inf.csv": (115329, "6d98bdd82062c5b5950c713e3d9ae0fbc4bcce81165ea9f6214fe15acb08596f"),
    "stp2_rankME_nat.csv": (115174, "28ac7cbb491f9a5386b199a6a8c39a377603d1ecf32f8d1771a5c5e1390c05f5"),
    "stp2_rankME_qual.csv": (121024, "42861de097331a87a529fe2c634618855886928d099cc48a4fe4c9d171e124d5"),
}


def _files(method: str, setup: int) -> tuple[File, ...]:
    own = (
        [f"stp1_{METHODS[method]}.csv"]
        if setup == 1
        else [f"stp2_{METHODS[method]}_{short}.csv" for short in ASPECTS]
    )
    numbered = "stp1_rankME.csv" if setup == 1 else "stp2_rankME_inf.csv"
    one = "_worker_id, mr, ref, team, " + ("the three aspects" if setup == 1 else "one aspect")
    three = "_worker_id, mr, mr_id, ref1–3, team1–3, each aspect with 1–3"
    return tuple(
        File(f"rankme/{name}", *FILES[name], f"CSV: {three if 'rankME' in name else one}")
        for name in dict.fromkeys([*own, numbered])
    )


def _entry(method: str, setup: int) -> Entry:
    scale = "1–6" if method == "likert" else "magnitude, 100 = reference"
    how = {
        "likert": "Likert scale",
        "plain": "plain magnitude estimation",
        "rank": "relative magnitudes, side by side",
    }
    asked = "all aspects at once" if setup == 1 else "one aspect at a time"
    return Entry(
        name=f"rankme-{method}-{setup}",
        title=f"RankME on E2E, {how[method]}, {asked}",
        task="data-to-text",
        aspects=dict.fromkeys(ASPECTS.values(), scale),
        raters="3 crowd workers an output (a few have up to 5 in rankme-likert-1)",
        licence="CC BY-SA 4.0",
        cite="novikova-etal-2018-rankme",
        reference="Novikova, Dušek, Rieser (2018). RankME: Reliable Human Ratings for Natural Language "
        "Generation. NAACL.",
        origins=(Origin("jeknov/RankME", "d45380a", "data/*.zip"),),
        shape="3 systems × 100 MRs",
        files=_files(method, setup),
        missing="Metric scores and references. Time, place and CrowdFlower ids of the workers were "
        "removed in the mirror.",
        loader=partial(load, method=method, setup=setup),
    )


ENTRIES = tuple(_entry(method, setup) for method in METHODS for setup in (1, 2))
