"""Pairwise comparisons of annotators, models and metrics as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.data import provenance
from nlgauge.data.choice import Choice
from nlgauge.data.comparisons import FIRST, SECOND, judged_aspects
from nlgauge.data.dataset import Dataset
from nlgauge.data.units import units_of
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import some
from nlgauge.options import call, option
from nlgauge.registry import did_you_mean
from nlgauge.stats.ranking.ballots import TIE, Ballots
from nlgauge.stats.ranking.wins import UNKNOWN, score_votes
from nlgauge.text.formatting import FEATURES, format_counts
from nlgauge.types import Ints

UNIT = "__unit__"  # column of the number of the independent unit


@dataclass(frozen=True)
class SidesVotes:
    """Comparisons of the same systems by each side; the systems are in the order of the first side, best first."""

    systems: list[str]
    sides: dict[str, Ballots]
    aspect: str
    unit: str  # column of the independent unit
    features: list[str]  # columns of the covariates
    notes: list[str]
    assumed: bool = False  # the votes are assumed to be human: no annotator is named


def sides_of(choice: Choice, aspect: str | None, style: bool = False) -> SidesVotes:
    """Return the comparisons by annotators, then by models, then by the requested metrics (the higher score wins)."""
    data = choice.data
    votes = _votes(data, aspect)
    included = [s for s in data.systems if choice.keep_human or s not in data.human_systems]
    excluded = [
        s for s in data.systems if s not in included and s in {*votes["first"].unique(), *votes["second"].unique()}
    ]
    votes = votes.filter(
        pl.col("first").is_in(included) & pl.col("second").is_in(included) & (pl.col("first") != pl.col("second"))
    )
    include = option("keep_human", True)
    notes = [f"human-written outputs are excluded: {some(excluded)} ({include} includes them)."] if excluded else []
    if votes.is_empty():
        reason = " ".join(["there are no comparisons of two systems.", *notes])
        raise NeedsMissing(reason, code="no_choices")
    votes, features, style_notes = _styled(data, votes) if style else (votes, [], [])
    model = pl.col("rater").is_in(sorted(data.models)).fill_null(False)
    parts = {HUMAN: votes.filter(~model)}
    parts |= {str(r): part for (r,), part in sorted(votes.filter(model).group_by("rater"), key=lambda g: str(g[0][0]))}
    parts = {name: part for name, part in parts.items() if part.height}
    systems = _best_first(next(iter(parts.values())), votes)
    inputs = votes["input"].unique(maintain_order=True)
    units = units_of(data, inputs.to_list())
    numbered = pl.DataFrame({"input": inputs, UNIT: list(units.names) or inputs})
    numbered = numbered.with_columns(pl.col(UNIT).rank("dense").cast(pl.Int64) - 1)
    sides = {name: _ballots(part, systems, numbered, features) for name, part in parts.items()}
    if HUMAN in sides:  # annotators are a sample; a model or a metric is not
        sides[HUMAN] = replace(sides[HUMAN], annotator=_number_annotators(parts[HUMAN]))
    pairs = votes.unique(["input", "first", "second"], maintain_order=True)
    for name in choice.metrics or ():
        sides[name] = _of_metric(data, pairs, name, _ballots(pairs, systems, numbered, features))
    return SidesVotes(
        systems,
        sides,
        str(votes["aspect"][0]),
        units.column or "input",
        features,
        [*notes, *style_notes],
        data.voters_assumed,
    )


def _votes(data: Dataset, aspect: str | None) -> pl.DataFrame:
    votes = data.comparisons
    if votes.is_empty():
        raise NeedsMissing(
            "there are no pairwise comparisons (columns such as model_a, model_b, winner); "
            f"{call('judge FILE', mode='pairwise')} makes them with a model.",
            code="no_choices",
        )
    aspects = judged_aspects(data)
    if aspect is not None and aspect not in aspects:
        raise NameUnknown(
            f"{data.name}: aspect '{aspect}' not found.{did_you_mean(aspect, aspects)} Aspects: {some(aspects, 8)}."
        )
    votes = votes if aspect is None else votes.filter(pl.col("aspect") == aspect)
    if votes.is_empty():
        raise NeedsMissing(f"there are no pairwise comparisons on {aspect}.", code="no_choices")
    if votes["aspect"].n_unique() > 1:
        several = ", ".join(votes["aspect"].unique().sort())
        raise NameUnknown(f"comparisons are on several aspects; set {option('aspect')} to one of {several}.")
    return votes


def _best_first(votes: pl.DataFrame, every: pl.DataFrame) -> list[str]:
    """Sort systems by win rate, ties counting half; equal rates by number of comparisons, then by name."""
    half = pl.when(pl.col("preferred") == FIRST).then(1.0).when(pl.col("preferred") == SECOND).then(0.0).otherwise(0.5)
    sides = [
        votes.select(pl.col("first").alias("system"), half.alias("won")),
        votes.select(pl.col("second").alias("system"), (1 - half).alias("won")),
    ]
    rates = pl.concat(sides).group_by("system").agg(pl.col("won").mean(), pl.len())
    order = rates.sort(["won", "len", "system"], descending=[True, True, False])["system"].to_list()
    return [*order, *sorted({*every["first"].unique(), *every["second"].unique()} - set(order))]


def _ballots(votes: pl.DataFrame, systems: list[str], units: pl.DataFrame, features: list[str]) -> Ballots:
    index = {s: k for k, s in enumerate(systems)}
    first, second = (votes[c].replace_strict(index, return_dtype=pl.Int64).to_numpy() for c in ("first", "second"))
    preferred = votes["preferred"].to_numpy()
    outcome = np.where(preferred == FIRST, 0, np.where(preferred == SECOND, 1, TIE)).astype(np.int64)
    unit = votes.select("input").join(units, on="input", how="left", maintain_order="left")[UNIT].to_numpy()
    return Ballots(first, second, outcome, unit, votes.select(features).to_numpy() if features else None)


def _number_annotators(votes: pl.DataFrame) -> Ints | None:
    """Number the annotator of each vote, as in `Ballots.annotator`; None if no annotator ID is known.

    A label such as "human" or "expert" is not an annotator ID.
    """
    names = sorted({name for name in votes["rater"].drop_nulls() if not provenance.ANNOTATOR_WORDS.fullmatch(name)})
    if not names:
        return None
    number = {name: k for k, name in enumerate(names)}
    return np.array([number.get(name, -1 - row) for row, name in enumerate(votes["rater"])], np.int64)


def _of_metric(data: Dataset, votes: pl.DataFrame, metric: str, ballots: Ballots) -> Ballots:
    """Return the comparisons by a metric: the higher score wins."""
    scores = data.only_metrics([metric]).scores
    sign = -1.0 if metric in data.lower else 1.0
    both = [
        votes.select(pl.col(side).alias("system"), "input")
        .join(scores, on=["system", "input"], how="left", maintain_order="left")[metric]
        .cast(pl.Float64)
        .fill_null(np.nan)
        .to_numpy()
        * sign
        for side in ("first", "second")
    ]
    winner = score_votes(both[0], both[1], ballots.first, ballots.second)
    outcome = np.where(winner == ballots.first, 0, np.where(winner == ballots.second, 1, TIE)).astype(np.int64)
    scored = replace(ballots, outcome=outcome).part(winner != UNKNOWN)
    if not len(scored):
        raise NeedsMissing(f"{metric} has no scores of both outputs of a comparison.", code="no_scores_of_rated")
    return scored


def _styled(data: Dataset, votes: pl.DataFrame) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Add (first − second) / (first + second) of each feature, in standard deviations, to the comparisons."""
    texts = data.samples.filter(pl.col("output").is_not_null()) if "output" in data.samples.columns else None
    if texts is None or texts.is_empty():
        raise NeedsMissing("control for style requires the texts of the outputs; the file has none.", code="no_texts")
    counted = np.array([format_counts(t) for t in texts["output"]], np.float64)
    frame = texts.select("system", "input").with_columns(
        pl.Series(name, counted[:, k]) for k, name in enumerate(FEATURES)
    )
    joined = votes
    for side in ("first", "second"):
        of_side = frame.rename({"system": side, **{name: f"{name} {side}" for name in FEATURES}})
        joined = joined.join(of_side, on=[side, "input"], how="inner", maintain_order="left")
    if joined.is_empty():
        raise NeedsMissing("control for style requires the texts of both outputs of a comparison.", code="no_texts")
    notes = []
    if lost := votes.height - joined.height:
        notes.append(f"{lost:,} of {votes.height:,} comparisons without both texts are excluded.")
    columns: list[pl.Series] = []
    collinear = []
    for name in FEATURES:
        a, b = (joined[f"{name} {side}"].to_numpy() for side in ("first", "second"))
        share = np.divide(a - b, a + b, out=np.zeros_like(a), where=a + b > 0)
        others = np.stack([np.ones(len(share)), *(c.to_numpy() for c in columns)], axis=1)
        rest = share - others @ np.linalg.lstsq(others, share, rcond=None)[0]
        if rest.std() > 1e-6:
            columns.append(pl.Series(name, share / share.std()))
        else:
            collinear.append(name)
    if collinear:
        notes.append(f"no effect of {some(collinear, 4)}: constant, or collinear with the other features.")
    if not columns:
        raise NeedsMissing(
            "outputs do not differ in length or formatting, so there is no style to control for.", code="constant"
        )
    return joined.with_columns(columns), [c.name for c in columns], notes
