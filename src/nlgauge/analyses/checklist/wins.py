"""Who beats whom? Pairwise win fractions of systems, by people and by metrics (nimah2023, section 5.4, Figure 7)."""

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
from nlgauge.number import number, percent
from nlgauge.registry import did_you_mean
from nlgauge.stats.ranking.wins import TIE, Wins, score_votes, vote_counts, win_fractions
from nlgauge.stats.tests.two_samples import choice_test
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

Source = Literal["auto", "comparisons", "ratings"]
Places = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class WinCounts:
    """Win counts by people and by each metric on the same systems, and where they come from, in words."""

    systems: list[str]
    sides: dict[str, Wins]
    words: str
    ordered: bool


@analysis("wins", paper="nimah2023", takes="dataset", question="Which system beats which, by people and by a metric?")
def wins(choice: Choice, *, aspect: str | None = None, source: Source = "auto", merge: bool = False) -> Table:
    """Compute the win fractions of every ordered pair of systems, by human judgment and by metrics.

    Without `metrics`, the metric whose fractions are nearest to the human ones is shown.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    aspect : str, optional
        Aspect to look at; may be left out where there is only one.
    source : {'auto', 'comparisons', 'ratings'}, default 'auto'
        Direct `comparisons` of two outputs, or `ratings` (every two ratings that one annotator gave to outputs
        of one input). `auto` takes comparisons where there are any.
    merge : bool, default False
        Put A–B and B–A together also where annotators saw the outputs in an order.

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
    judged = data.voted(people=False)
    judged = judged if aspect is None else judged.filter(pl.col("aspect") == aspect)
    kept = [s for s in data.systems if choice.keep_people or s not in data.people]
    rated = aspect in data.aspects if aspect is not None else bool(data.aspects)
    if votes is None and not rated and judged.height and source == "auto":
        return _models_only(data, judged, kept, aspect or _only(judged))
    metrics = choice.metrics
    found = _by_votes(data, votes, kept, metrics) if votes is not None else _by_ratings(data, aspect, kept, metrics)
    found = _with_models(found, judged)
    if merge and found.ordered:
        found = WinCounts(found.systems, {n: w.merged() for n, w in found.sides.items()}, found.words, False)
    near = {n: distance(found.sides[HUMAN], w) for n, w in found.sides.items() if n != HUMAN}
    voters = [n for n in near if n in data.models]
    metric = [n for n in sorted(near, key=lambda n: (np.isnan(near[n]), near[n])) if n not in voters][:1]
    shown = list(near) if metrics is not None else [*voters, *metric]
    rows = [row for side in (HUMAN, *shown) for row in _rows(side, found)]
    named = aspect or (data.aspect() if votes is None else _only(votes))
    notes = (
        [f"left out, written by people: {', '.join(p)}."] if (p := [s for s in data.systems if s not in kept]) else []
    )
    if votes is not None and not merge:
        notes += _first_note(votes.filter(pl.col("first").is_in(kept) & pl.col("second").is_in(kept)))
    if votes is not None:
        notes += _same_choices(votes, judged)
    kind = "comparisons" if votes is not None else "ratings"
    return _table(data, found, named, rows, notes, kind, [_nearest(near)] if near else [])


def _nearest(near: dict[str, float]) -> str:
    best = ", ".join(f"{n} {number(near[n])}" for n in sorted(near, key=lambda n: near[n])[:5])
    return f"Nearest to people (mean difference of the fractions): {best}."


def _table(
    data: Dataset, found: WinCounts, named: str, rows: list[Row], notes: list[str], kind: str, answers: list[str]
) -> Table:
    return Table(
        title=Title(data.name, f"win fractions on {named}" + (", by models only" if kind == "models" else "")),
        rows=[{"aspect": named, **row} for row in rows],
        layout=Layout(
            ("side", "first"),
            "second",
            "value",
            line=": ".join,
            extra={"ties": lambda mine: _share(mine, "tied"), "n": lambda mine: sum(r["n"] for r in mine)},
        ),
        definitions={
            "cell": "share of the comparisons of A (line, first) with B (column, second) that A wins; "
            "what is missing to 1 are B's wins and ties"
        },
        heads={"first": "A"},
        method=found.words,
        answers=answers,
        notes=notes,
        signature=f"aspect:{named}|source:{kind}|order:{'kept' if found.ordered else 'merged'}",
    )


def distance(one: Wins, two: Wins) -> float:
    """Mean |difference| of the win fractions, over the pairs that both have."""
    gaps = np.abs(one.fraction - two.fraction)
    return float(np.nanmean(gaps)) if (~np.isnan(gaps)).any() else float("nan")


def _votes(data: Dataset, aspect: str | None, source: Source) -> pl.DataFrame | None:
    known = judged_aspects(data)
    if aspect is not None and aspect not in known:
        raise NameUnknown(
            f"{data.name}: no aspect '{aspect}'.{did_you_mean(aspect, known)} Aspects: {', '.join(known)}."
        )
    votes = data.voted(people=True)
    votes = votes if aspect is None else votes.filter(pl.col("aspect") == aspect)
    if source == "ratings" or (votes.is_empty() and source == "auto"):
        return None
    if votes.is_empty():
        raise DataError(
            "no comparisons of two outputs by people; use source=ratings.", data=data.name, code="no_choices"
        )
    if aspect is None:
        _only(votes)
    return votes


def _only(votes: pl.DataFrame) -> str:
    aspects = votes["aspect"].unique(maintain_order=True).to_list()
    if len(aspects) > 1:
        raise NameUnknown(f"comparisons on several aspects; choose one: {', '.join(aspects)}.")
    return str(aspects[0])


def _by_votes(data: Dataset, votes: pl.DataFrame, kept: list[str], metrics: Sequence[str] | None) -> WinCounts:
    votes = votes.filter(pl.col("first").is_in(kept) & pl.col("second").is_in(kept))
    systems = [s for s in kept if s in {*votes["first"], *votes["second"]}]
    if len(systems) < 2:
        raise DataError(
            f"comparisons need at least 2 systems, found {len(systems)}.", data=data.name, code="too_few_systems"
        )
    first, second, best = _placed(votes, systems)
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


def _placed(votes: pl.DataFrame, systems: list[str]) -> tuple[Places, Places, Places]:
    """Numbers of the two systems and of the preferred one, vote by vote."""
    place = {s: i for i, s in enumerate(systems)}
    first, second = (
        votes[side].replace_strict(place, return_dtype=pl.Int64).to_numpy() for side in ("first", "second")
    )
    said = votes["preferred"].to_numpy()
    return first, second, np.where(said == FIRST, first, np.where(said == SECOND, second, TIE))


def _model_sides(judged: pl.DataFrame, systems: list[str]) -> dict[str, Wins]:
    inside = judged.filter(pl.col("first").is_in(systems) & pl.col("second").is_in(systems))
    return {
        str(rater): vote_counts(*_placed(part, systems), len(systems))
        for (rater,), part in inside.group_by("rater", maintain_order=True)
    }


def _with_models(found: WinCounts, judged: pl.DataFrame) -> WinCounts:
    """Models that chose themselves stand beside the metrics, never among people."""
    sides = _model_sides(judged, found.systems)
    if not found.ordered:
        sides = {name: w.merged() for name, w in sides.items()}
    return replace(found, sides={**found.sides, **sides}) if sides else found


def _models_only(data: Dataset, judged: pl.DataFrame, kept: list[str], aspect: str) -> Table:
    """A judge's own order, where no people are to hold it against."""
    systems = [s for s in kept if s in {*judged["first"], *judged["second"]}]
    if len(systems) < 2:
        raise DataError(
            f"comparisons need at least 2 systems, found {len(systems)}.", data=data.name, code="too_few_systems"
        )
    sides = _model_sides(judged, systems)
    found = _sorted(systems, sides, f"{judged.height} direct comparisons by models, in the order shown.", ordered=True)
    names = ", ".join(sides)
    only = [
        f"only models chose here ({names}): this is their own order, and nothing says whether people agree. People's "
        "ratings or choices on the same outputs are needed."
    ]
    return _table(data, found, aspect, [row for side in sides for row in _rows(side, found)], [], "models", only)


def _same_choices(votes: pl.DataFrame, judged: pl.DataFrame) -> list[str]:
    """How often a model chose as people did, over the pairs of outputs that both compared.

    Where both compared two systems equally often on one input, their choices belong together in the order of the file.
    """
    pair = ["input", "a", "b"]

    def winners(part: pl.DataFrame) -> pl.DataFrame:
        low, high = pl.min_horizontal("first", "second"), pl.max_horizontal("first", "second")
        chosen = pl.when(pl.col("preferred") == FIRST).then("first").when(pl.col("preferred") == SECOND).then("second")
        found = part.select("input", low.alias("a"), high.alias("b"), chosen.otherwise(pl.lit(None)).alias("won"))
        return found.with_columns(pl.len().over(pair).alias("n"), pl.int_range(pl.len()).over(pair).alias("k"))

    notes = []
    people = winners(votes)
    for (rater,), part in judged.group_by("rater", maintain_order=True):
        both = people.join(winners(part), on=pair, suffix=" model")
        both = both.filter((pl.col("n") != pl.col("n model")) | (pl.col("k") == pl.col("k model")))
        if both.height:
            same = both.select((pl.col("won").eq_missing(pl.col("won model"))).sum()).item()
            notes.append(
                f"{rater} chose as people did in {same} of {both.height} comparisons of the same two outputs "
                f"({percent(same / both.height)}; ties count as a choice)."
            )
    return notes


def _scores_of(data: Dataset, votes: pl.DataFrame, side: str, metric: str) -> Array:
    keyed = votes.select(pl.col(side).alias("system"), "input")
    values = keyed.join(
        data.scores.select("system", "input", metric), on=["system", "input"], how="left", maintain_order="left"
    )
    sign = -1.0 if metric in data.lower else 1.0
    return np.asarray(values[metric].cast(pl.Float64).fill_null(np.nan).to_numpy() * sign)


def _by_ratings(data: Dataset, aspect: str | None, kept: list[str], metrics: Sequence[str] | None) -> WinCounts:
    panel = data.panel(aspect, canonical=True, metrics=metrics, keep_people=len(kept) == len(data.systems))
    ratings = panel.raters.get(panel.aspect, panel.human[None])
    sides = {HUMAN: win_fractions(ratings)}
    rated = ~np.isnan(panel.human)
    for name, scores in panel.metrics.items():
        sides[name] = win_fractions(np.where(rated, -scores if name in panel.lower else scores, np.nan))
    who = "one rater's ratings of two systems" if panel.aspect in panel.raters else "the ratings of two systems"
    words = f"No direct comparisons: {who} on one input count as one, so that B-A is only A-B turned around."
    return _sorted(list(panel.systems), sides, words, ordered=False)


def _sorted(systems: list[str], sides: dict[str, Wins], words: str, ordered: bool) -> WinCounts:
    """Systems from people's best to worst; without people from the first model's."""
    human = sides.get(HUMAN, next(iter(sides.values()))).merged()
    total = human.n.sum(axis=1)
    strength = np.where(total > 0, human.wins.sum(axis=1) + human.ties.sum(axis=1) / 2, 0) / np.maximum(total, 1)
    order = np.argsort(-strength, kind="stable")
    at = np.ix_(order, order)
    turned = {n: Wins(w.wins[at], w.ties[at], w.n[at]) for n, w in sides.items()}
    return WinCounts([systems[i] for i in order], turned, words, ordered)


def _rows(side: str, found: WinCounts) -> list[Row]:
    w = found.sides[side]
    won, tied, n = w.fraction.tolist(), w.tied.tolist(), w.n.tolist()
    return [
        {"side": side, "first": a, "second": b, "value": won[i][j], "tied": tied[i][j], "n": n[i][j]}
        for i, a in enumerate(found.systems)
        for j, b in enumerate(found.systems)
    ]


def _share(rows: list[Row], name: str) -> float:
    n = sum(r["n"] for r in rows)
    return sum(r[name] * r["n"] for r in rows if r["n"]) / n if n else float("nan")


def _first_note(votes: pl.DataFrame) -> list[str]:
    """Did the place on the screen matter? Choices on one input are not independent."""
    decided = votes.filter(pl.col("preferred").is_in([FIRST, SECOND]))
    signs = np.where(decided["preferred"].to_numpy() == FIRST, 1, -1)
    won, lost = int((signs > 0).sum()), int((signs < 0).sum())
    if not won + lost:
        return []
    p = choice_test(signs, decided["input"].to_numpy())
    sure = "not the half that chance gives" if p < 0.05 else "as chance would"
    return [f"the output shown first won {won} of {won + lost} decided comparisons ({sure}, p {number(p)})."]
