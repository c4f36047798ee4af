"""Win fractions of all pairs of systems, by human judgments and by metrics (Nimah et al. 2023, section 5.4, Figure "
"7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.data.choice import Choice
from nlgauge.data.comparisons import FIRST, SECOND, judged_aspects
from nlgauge.data.dataset import Dataset
from nlgauge.errors import DataError, NameUnknown
from nlgauge.number import number, p_text, percent
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.stats.ranking.wins import TIE, Wins, score_votes, vote_counts, win_fractions
from nlgauge.stats.tests.two_samples import choice_test
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

Source = Literal["auto", "comparisons", "ratings"]
Places = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class WinCounts:
    """Win counts by human judgments and by each metric on the same systems, and a description of their origin."""

    systems: list[str]
    sides: dict[str, Wins]
    words: str
    ordered: bool


@analysis(
    "wins",
    paper="nimah2023",
    takes="dataset",
    question="What are the win rates of each pair of systems, by human judgments and by metrics?",
)
def wins(choice: Choice, *, aspect: str | None = None, source: Source = "auto", merge: bool = False) -> Table:
    """Compute the win fractions of every ordered pair of systems, by human judgment and by metrics.

    Without `metrics`, the metric whose win fractions are closest to the human ones is shown.

    Parameters
    ----------
    source : {'auto', 'comparisons', 'ratings'}, default 'auto'
        Direct `comparisons` of two outputs, or `ratings` (every two ratings by one annotator of outputs of one input).
        `auto` uses comparisons if there are any.
    merge : bool, default False
        Merge A–B and B–A even if the presentation order is known.

    Returns
    -------
    Table
        One row per side (human, then models and metrics) and ordered pair: share of comparisons that the first
        system wins, share of ties, number of comparisons.

    References
    ----------
    Nimah et al. (2023), section 5.4, Figure 7.
    """
    data = choice.data
    votes = _votes(data, aspect, source)
    judged = data.voted(human=False)
    judged = judged if aspect is None else judged.filter(pl.col("aspect") == aspect)
    systems = [s for s in data.systems if choice.keep_human or s not in data.human_systems]
    rated = aspect in data.aspects if aspect is not None else bool(data.aspects)
    if votes is None and not rated and judged.height and source == "auto":
        return _models_only(data, judged, systems, aspect or _only(judged))
    metrics = choice.metrics
    counts = _by_ratings(data, aspect, systems, metrics) if votes is None else _by_votes(data, votes, systems, metrics)
    counts = _with_models(counts, judged)
    if merge and counts.ordered:
        counts = WinCounts(counts.systems, {n: w.merged() for n, w in counts.sides.items()}, counts.words, False)
    distances = {n: distance(counts.sides[HUMAN], w) for n, w in counts.sides.items() if n != HUMAN}
    voters = [n for n in distances if n in data.models]
    by_distance = sorted(distances, key=lambda n: (np.isnan(distances[n]), distances[n]))
    closest = [n for n in by_distance if n not in voters][:1]
    shown = list(distances) if metrics is not None else [*voters, *closest]
    rows = [row for side in (HUMAN, *shown) for row in _rows(side, counts)]
    on = aspect or (data.aspect() if votes is None else _only(votes))
    excluded = [s for s in data.systems if s not in systems]
    notes = [f"human-written outputs are excluded: {', '.join(excluded)}."] if excluded else []
    if votes is not None and not merge:
        notes += _first_note(votes.filter(pl.col("first").is_in(systems) & pl.col("second").is_in(systems)))
    if votes is not None:
        notes += _model_agreement(votes, judged)
    kind = "comparisons" if votes is not None else "ratings"
    return _table(data, counts, on, rows, notes, kind, [_closest(distances)] if distances else [])


def _closest(distances: dict[str, float]) -> str:
    best = ", ".join(f"{n} {number(distances[n])}" for n in sorted(distances, key=lambda n: distances[n])[:5])
    return f"Closest to the human win fractions (mean absolute difference): {best}."


def _table(
    data: Dataset, counts: WinCounts, on: str, rows: list[Row], notes: list[str], kind: str, answers: list[str]
) -> Table:
    return Table(
        title=Title(data.name, f"win fractions on {on}" + (", by models only" if kind == "models" else "")),
        rows=[{"aspect": on, **row} for row in rows],
        layout=Layout(
            ("side", "first"),
            "second",
            "value",
            line=": ".join,
            extra={"ties": lambda line: _share(line, "tied"), "n": lambda line: sum(r["n"] for r in line)},
        ),
        definitions={
            "cell": "share of the comparisons of A (line, first) with B (column, second) that A wins; the rest are "
            "wins "
            "of B and ties"
        },
        heads={"first": "A"},
        method=counts.words,
        answers=answers,
        notes=notes,
        signature=f"aspect:{on}|source:{kind}|order:{'kept' if counts.ordered else 'merged'}",
    )


def distance(one: Wins, two: Wins) -> float:
    """Return the mean absolute difference of the win fractions, over the pairs that both have."""
    gaps = np.abs(one.fraction - two.fraction)
    return float(np.nanmean(gaps)) if (~np.isnan(gaps)).any() else float("nan")


def _votes(data: Dataset, aspect: str | None, source: Source) -> pl.DataFrame | None:
    aspects = judged_aspects(data)
    if aspect is not None and aspect not in aspects:
        raise NameUnknown(
            f"{data.name}: aspect '{aspect}' not found.{did_you_mean(aspect, aspects)} Aspects: {', '.join(aspects)}."
        )
    votes = data.voted(human=True)
    votes = votes if aspect is None else votes.filter(pl.col("aspect") == aspect)
    if source == "ratings" or (votes.is_empty() and source == "auto"):
        return None
    if votes.is_empty():
        raise DataError(
            f"there are no human pairwise comparisons; use {option('source', 'ratings')}.", code="no_choices"
        )
    if aspect is None:
        _only(votes)
    return votes


def _only(votes: pl.DataFrame) -> str:
    aspects = votes["aspect"].unique(maintain_order=True).to_list()
    if len(aspects) > 1:
        raise NameUnknown(f"comparisons are on several aspects; set {option('aspect')} to one of {', '.join(aspects)}.")
    return str(aspects[0])


def _compared(data: Dataset, votes: pl.DataFrame, included: list[str]) -> list[str]:
    """Return the included systems that occur in the comparisons; raise an error with fewer than two."""
    compared = {*votes["first"].unique(), *votes["second"].unique()}
    systems = [s for s in included if s in compared]
    if len(systems) < 2:
        raise DataError(f"comparisons require at least 2 systems; found {len(systems)}.", code="too_few_systems")
    return systems


def _by_votes(data: Dataset, votes: pl.DataFrame, included: list[str], metrics: Sequence[str] | None) -> WinCounts:
    votes = votes.filter(pl.col("first").is_in(included) & pl.col("second").is_in(included))
    systems = _compared(data, votes, included)
    first, second, best = _placed(votes, systems)
    sides = {HUMAN: vote_counts(first, second, best, len(systems))}
    scores = data.only_metrics(metrics) if metrics is not None else data
    for name in scores.metrics:
        x, y = (_scores_of(scores, votes, side, name) for side in ("first", "second"))
        sides[name] = vote_counts(first, second, score_votes(x, y, first, second), len(systems))
    words = (
        f"{votes.height} direct comparisons by presentation order: A-B and B-A are different cells. A metric prefers "
        "the "
        "output with the higher score."
    )
    return _sorted(systems, sides, words, ordered=True)


def _placed(votes: pl.DataFrame, systems: list[str]) -> tuple[Places, Places, Places]:
    """Return the indices of the two systems and of the preferred one for each vote."""
    index = {s: i for i, s in enumerate(systems)}
    first, second = (
        votes[side].replace_strict(index, return_dtype=pl.Int64).to_numpy() for side in ("first", "second")
    )
    preferred = votes["preferred"].to_numpy()
    return first, second, np.where(preferred == FIRST, first, np.where(preferred == SECOND, second, TIE))


def _model_sides(judged: pl.DataFrame, systems: list[str]) -> dict[str, Wins]:
    inside = judged.filter(pl.col("first").is_in(systems) & pl.col("second").is_in(systems))
    return {
        str(rater): vote_counts(*_placed(part, systems), len(systems))
        for (rater,), part in inside.group_by("rater", maintain_order=True)
    }


def _with_models(counts: WinCounts, judged: pl.DataFrame) -> WinCounts:
    """Add the models that made comparisons, next to the metrics and never among the annotators."""
    sides = _model_sides(judged, counts.systems)
    if not counts.ordered:
        sides = {name: w.merged() for name, w in sides.items()}
    return replace(counts, sides={**counts.sides, **sides}) if sides else counts


def _models_only(data: Dataset, judged: pl.DataFrame, included: list[str], aspect: str) -> Table:
    """Return the win fractions of models without human judgments."""
    systems = _compared(data, judged, included)
    sides = _model_sides(judged, systems)
    words = f"{judged.height} direct comparisons by models, by presentation order."
    counts = _sorted(systems, sides, words, ordered=True)
    only = [
        f"Only models made comparisons ({', '.join(sides)}), so their agreement with humans is unknown: human "
        "ratings or "
        "comparisons of the same outputs are required."
    ]
    return _table(data, counts, aspect, [row for side in sides for row in _rows(side, counts)], [], "models", only)


def _model_agreement(votes: pl.DataFrame, judged: pl.DataFrame) -> list[str]:
    """State how often a model and the annotators prefer the same output, over the pairs that both compared.

    If both compared two systems equally often on an input, their comparisons are matched in the order of the file.
    """
    pair = ["input", "a", "b"]

    def winners(part: pl.DataFrame) -> pl.DataFrame:
        low, high = pl.min_horizontal("first", "second"), pl.max_horizontal("first", "second")
        chosen = pl.when(pl.col("preferred") == FIRST).then("first").when(pl.col("preferred") == SECOND).then("second")
        frame = part.select("input", low.alias("a"), high.alias("b"), chosen.otherwise(pl.lit(None)).alias("won"))
        return frame.with_columns(pl.len().over(pair).alias("n"), pl.int_range(pl.len()).over(pair).alias("k"))

    notes = []
    people = winners(votes)
    for (rater,), part in judged.group_by("rater", maintain_order=True):
        both = people.join(winners(part), on=pair, suffix=" model")
        both = both.filter((pl.col("n") != pl.col("n model")) | (pl.col("k") == pl.col("k model")))
        if both.height:
            same = both.select((pl.col("won").eq_missing(pl.col("won model"))).sum()).item()
            notes.append(
                f"{rater} agrees with the annotators in {same} of {both.height} comparisons of the same outputs "
                f"({percent(same / both.height)}; ties are a category)."
            )
    return notes


def _scores_of(data: Dataset, votes: pl.DataFrame, side: str, metric: str) -> Array:
    keyed = votes.select(pl.col(side).alias("system"), "input")
    values = keyed.join(
        data.scores.select("system", "input", metric), on=["system", "input"], how="left", maintain_order="left"
    )
    sign = -1.0 if metric in data.lower else 1.0
    return np.asarray(values[metric].cast(pl.Float64).fill_null(np.nan).to_numpy() * sign)


def _by_ratings(data: Dataset, aspect: str | None, included: list[str], metrics: Sequence[str] | None) -> WinCounts:
    panel = data.panel(aspect, canonical=True, metrics=metrics, keep_human=len(included) == len(data.systems))
    ratings = panel.raters.get(panel.aspect, panel.human[None])
    sides = {HUMAN: win_fractions(ratings)}
    rated = ~np.isnan(panel.human)
    for name, scores in panel.metrics.items():
        sides[name] = win_fractions(np.where(rated, -scores if name in panel.lower else scores, np.nan))
    who = "two ratings by one annotator" if panel.aspect in panel.raters else "two ratings"
    words = f"No direct comparisons: {who} on the same input count as a comparison, so B-A is the reverse of A-B."
    return _sorted(list(panel.systems), sides, words, ordered=False)


def _sorted(systems: list[str], sides: dict[str, Wins], words: str, ordered: bool) -> WinCounts:
    """Sort the systems by human win rate (without human judgments, by that of the first model)."""
    human = sides.get(HUMAN, next(iter(sides.values()))).merged()
    total = human.n.sum(axis=1)
    strength = np.where(total > 0, human.wins.sum(axis=1) + human.ties.sum(axis=1) / 2, 0) / np.maximum(total, 1)
    order = np.argsort(-strength, kind="stable")
    cells = np.ix_(order, order)
    reordered = {n: Wins(w.wins[cells], w.ties[cells], w.n[cells]) for n, w in sides.items()}
    return WinCounts([systems[i] for i in order], reordered, words, ordered)


def _rows(side: str, counts: WinCounts) -> list[Row]:
    w = counts.sides[side]
    won, tied, n = w.fraction.tolist(), w.tied.tolist(), w.n.tolist()
    return [
        {"side": side, "first": a, "second": b, "value": won[i][j], "tied": tied[i][j], "n": n[i][j]}
        for i, a in enumerate(counts.systems)
        for j, b in enumerate(counts.systems)
    ]


def _share(rows: list[Row], name: str) -> float:
    n = sum(r["n"] for r in rows)
    return sum(r[name] * r["n"] for r in rows if r["n"]) / n if n else float("nan")


def _first_note(votes: pl.DataFrame) -> list[str]:
    """Test for position bias, clustered by input."""
    decided = votes.filter(pl.col("preferred").is_in([FIRST, SECOND]))
    signs = np.where(decided["preferred"].to_numpy() == FIRST, 1, -1)
    won, lost = int((signs > 0).sum()), int((signs < 0).sum())
    if not won + lost:
        return []
    p = choice_test(signs, decided["input"].to_numpy())
    verdict = "significantly different from half" if p < 0.05 else "not significantly different from half"
    return [f"the output shown first won {won} of {won + lost} decided comparisons ({verdict}, {p_text(p)})."]
