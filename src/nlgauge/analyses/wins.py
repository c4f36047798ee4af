"""Who beats whom? Pairwise win fractions of systems, by people and by metrics (paper 000, section 5.4, Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses._pairs import HUMAN
from nlgauge.data.choices import FIRST, SECOND, judged_aspects
from nlgauge.data.dataset import Dataset
from nlgauge.data.panel import Array
from nlgauge.errors import DataError, NameUnknown
from nlgauge.number import number
from nlgauge.registry import did_you_mean
from nlgauge.stats.wins import TIE, Wins, score_votes, vote_counts, win_fractions
from nlgauge.table import Layout, Row, Table

Source = Literal["auto", "comparisons", "ratings"]


@dataclass(frozen=True)
class Sides:
    """Win counts by people and by each metric on the same systems, and where they come from, in words."""

    systems: list[str]
    sides: dict[str, Wins]
    words: str
    ordered: bool


@analysis(
    "wins", paper="000", takes="dataset", question="Which system beats which, by people and by a metric?"
)
def wins(
    data: Dataset,
    *,
    aspect: str | None = None,
    metrics: Sequence[str] | None = None,
    source: Source = "auto",
    merge: bool = False,
    keep_people: bool = False,
) -> Table:
    """One row per side (people, then metrics) and ordered pair A-B: wins of A, ties, comparisons.

    Direct comparisons (votes) where there are any, else every two ratings of one rater on one input. A-B and B-A are
    kept apart where people saw an order; `merge` puts them together. Without `metrics` the one nearest to people stands
    beside them.
    """
    votes = _votes(data, aspect, source)
    kept = [s for s in data.systems if keep_people or s not in data.people]
    found = (
        _by_votes(data, votes, kept, metrics)
        if votes is not None
        else _by_ratings(data, aspect, kept, metrics)
    )
    if merge and found.ordered:
        found = Sides(found.systems, {n: w.merged() for n, w in found.sides.items()}, found.words, False)
    near = {n: distance(found.sides[HUMAN], w) for n, w in found.sides.items() if n != HUMAN}
    shown = (
        list(near) if metrics is not None else sorted(near, key=lambda n: (np.isnan(near[n]), near[n]))[:1]
    )
    rows = [row for side in (HUMAN, *shown) for row in _rows(side, found)]
    named = aspect or (data.aspect() if votes is None else _only(votes))
    notes = (
        [f"left out, written by people: {', '.join(p)}."]
        if (p := [s for s in data.systems if s not in kept])
        else []
    )
    if votes is not None and not merge:
        notes += _first_note(found.sides[HUMAN])
    if near:
        best = ", ".join(f"{n} {number(near[n])}" for n in sorted(near, key=lambda n: near[n])[:5])
        notes.append(f"nearest to people (mean difference of the fractions): {best}.")
    return Table(
        title=f"{data.name}: win fractions on {named}",
        rows=[{"aspect": named, **row} for row in rows],
        layout=Layout("A", "second", "wins",                       extra={"ties": lambda mine: _share(mine, "tied"), "n": lambda mine: str(sum(r["n"] for r in mine))}),
        definitions={"cell": "share of the comparisons of A (line, first) with B (column, second) that A wins; what is missing to 1 are B's wins and ties"},
        method=found.words,
        notes=notes,
        signature=f"aspect:{named}|source:{'comparisons' if votes is not None else 'ratings'}|order:{'kept' if found.ordered else 'merged'}",
    )  # fmt: skip


def distance(one: Wins, two: Wins) -> float:
    """Mean |difference| of the win fractions, over the pairs that both have."""
    gaps = np.abs(one.fraction - two.fraction)
    return float(np.nanmean(gaps)) if (~np.isnan(gaps)).any() else float("nan")


def _votes(data: Dataset, aspect: str | None, source: Source) -> pl.DataFrame | None:
    if source not in ("auto", "comparisons", "ratings"):
        raise NameUnknown(f"no source '{source}'; use auto, comparisons or ratings.")
    known = judged_aspects(data)
    if aspect is not None and aspect not in known:
        raise NameUnknown(
            f"{data.name}: no aspect '{aspect}'.{did_you_mean(aspect, known)} Aspects: {', '.join(known)}."
        )
    votes = data.comparisons if aspect is None else data.comparisons.filter(pl.col("aspect") == aspect)
    if source == "ratings" or (votes.is_empty() and source == "auto"):
        return None
    if votes.is_empty():
        raise DataError(f"{data.name}: no comparisons of two outputs; use source=ratings.")
    if aspect is None:
        _only(votes)
    return votes


def _only(votes: pl.DataFrame) -> str:
    aspects = votes["aspect"].unique(maintain_order=True).to_list()
    if len(aspects) > 1:
        raise NameUnknown(f"comparisons on several aspects; choose one: {', '.join(aspects)}.")
    return str(aspects[0])


def _by_votes(data: Dataset, votes: pl.DataFrame, kept: list[str], metrics: Sequence[str] | None) -> Sides:
    votes = votes.filter(pl.col("first").is_in(kept) & pl.col("second").is_in(kept))
    systems = [s for s in kept if s in {*votes["first"], *votes["second"]}]
    if len(systems) < 2:
        raise DataError(f"{data.name}: comparisons need at least 2 systems, found {len(systems)}.")
    place = {s: i for i, s in enumerate(systems)}
    first, second = (
        votes[side].replace_strict(place, return_dtype=pl.Int64).to_numpy() for side in ("first", "second")
    )
    said = votes["preferred"].to_numpy()
    best = np.where(said == FIRST, first, np.where(said == SECOND, second, TIE))
    sides = {HUMAN: vote_counts(first, second, best, len(systems))}
    scores = data.only_metrics(metrics) if metrics is not None else data
    for name in scores.metrics:
        x, y = (_scores_of(scores, votes, side, name) for side in ("first", "second"))
        sides[name] = vote_counts(first, second, score_votes(x, y, first, second), len(systems))
    words = (
        f"{votes.height} direct comparisons, in the order shown: A-B and B-A are different cells. "
        "A metric votes in each of them for the higher score."
    )
    return _sorted(systems, sides, words, ordered=True)


def _scores_of(data: Dataset, votes: pl.DataFrame, side: str, metric: str) -> Array:
    keyed = votes.select(pl.col(side).alias("system"), "input")
    values = keyed.join(
        data.scores.select("system", "input", metric),
        on=["system", "input"],
        how="left",
        maintain_order="left",
    )
    sign = -1.0 if metric in data.lower else 1.0
    return np.asarray(values[metric].cast(pl.Float64).fill_null(np.nan).to_numpy() * sign)


def _by_ratings(data: Dataset, aspect: str | None, kept: list[str], metrics: Sequence[str] | None) -> Sides:
    panel = data.panel(aspect, metrics=metrics, keep_people=len(kept) == len(data.systems))
    ratings = panel.raters.get(panel.aspect, panel.human[None])
    sides = {HUMAN: win_fractions(ratings)}
    rated = ~np.isnan(panel.human)
    for name, scores in panel.metrics.items():
        sides[name] = win_fractions(np.where(rated, -scores if name in panel.lower else scores, np.nan))
    who = (
        "one rater's ratings of two systems" if panel.aspect in panel.raters else "the ratings of two systems"
    )
    words = f"No direct comparisons: {who} on one input count as one, so that B-A is only A-B turned around."
    return _sorted(list(panel.systems), sides, words, ordered=False)


def _sorted(systems: list[str], sides: dict[str, Wins], words: str, ordered: bool) -> Sides:
    """Systems from people's best to worst."""
    human = sides[HUMAN].merged()
    total = human.n.sum(axis=1)
    strength = np.where(total > 0, human.wins.sum(axis=1) + human.ties.sum(axis=1) / 2, 0) / np.maximum(
        total, 1
    )
    order = np.argsort(-strength, kind="stable")
    at = np.ix_(order, order)
    turned = {n: Wins(w.wins[at], w.ties[at], w.n[at]) for n, w in sides.items()}
    return Sides([systems[i] for i in order], turned, words, ordered)


def _rows(side: str, found: Sides) -> list[Row]:
    w = found.sides[side]
    return [
        {"side": side, "A": f"{side}: {a}", "first": a, "second": b, "wins": float(w.fraction[i, j]),
         "tied": float(w.tied[i, j]), "n": int(w.n[i, j])}
        for i, a in enumerate(found.systems) for j, b in enumerate(found.systems)
    ]  # fmt: skip


def _share(rows: list[Row], name: str) -> str:
    n = sum(r["n"] for r in rows)
    share = sum(r[name] * r["n"] for r in rows if r["n"]) / n if n else float("nan")
    return number(share) if n else "–"


def _first_note(human: Wins) -> list[str]:
    """Did the place on the screen matter?"""
    from scipy.stats import binomtest

    won, lost = int(human.wins.sum()), int((human.n - human.wins - human.ties).sum())
    if not won + lost:
        return []
    p = binomtest(won, won + lost).pvalue
    sure = "not the half that chance gives" if p < 0.05 else "as chance would"
    return [f"the output shown first won {won} of {won + lost} decided comparisons ({sure}, p {p:.3f})."]
