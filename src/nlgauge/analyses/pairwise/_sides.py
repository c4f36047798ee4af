"""Choices of people, models and metrics as arrays: what all analyses of choices start from."""

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

UNIT = "__unit__"  # what is independent, as a number


@dataclass(frozen=True)
class SidesVotes:
    """Choices of each side between the same systems, best first by the first side; units count what is independent."""

    systems: list[str]
    sides: dict[str, Ballots]
    aspect: str
    unit: str  # what is taken as independent, a column
    features: list[str]  # columns of the covariates
    notes: list[str]
    assumed: bool = False  # nobody is named who made the choices of "people"


def sides_of(choice: Choice, aspect: str | None, style: bool = False) -> SidesVotes:
    """People first, then models that chose, then the metrics asked for: they choose the higher score."""
    data = choice.data
    votes = _asked(data, aspect)
    kept = [s for s in data.systems if choice.keep_people or s not in data.people]
    left = [s for s in data.systems if s not in kept and s in {*votes["first"], *votes["second"]}]
    votes = votes.filter(
        pl.col("first").is_in(kept) & pl.col("second").is_in(kept) & (pl.col("first") != pl.col("second"))
    )
    notes = [f"left out, written by people: {some(left)} ({option('keep_people', True)} keeps them)."] if left else []
    if votes.is_empty():
        reason = " ".join(["no choice between outputs of two systems.", *notes])
        raise NeedsMissing(reason, data=data.name, code="no_choices")
    votes, features, said = _styled(data, votes) if style else (votes, [], [])
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
    if HUMAN in sides:  # a model or a metric stands for itself, not for others like it
        sides[HUMAN] = replace(sides[HUMAN], annotator=_number_annotators(parts[HUMAN]))
    pairs = votes.unique(["input", "first", "second"], maintain_order=True)
    for name in choice.metrics or ():
        sides[name] = _of_metric(data, pairs, name, _ballots(pairs, systems, numbered, features))
    return SidesVotes(
        systems, sides, str(votes["aspect"][0]), units.column or "input", features, [*notes, *said], data.voters_assumed
    )


def _asked(data: Dataset, aspect: str | None) -> pl.DataFrame:
    votes = data.comparisons
    if votes.is_empty():
        raise NeedsMissing(
            "no choices between two outputs (columns such as model_a, model_b, winner); "
            f"{call('judge FILE', mode='pairwise')} lets a model choose.",
            data=data.name,
            code="no_choices",
        )
    known = judged_aspects(data)
    if aspect is not None and aspect not in known:
        raise NameUnknown(f"{data.name}: no aspect '{aspect}'.{did_you_mean(aspect, known)} Aspects: {some(known, 8)}.")
    votes = votes if aspect is None else votes.filter(pl.col("aspect") == aspect)
    if votes.is_empty():
        raise NeedsMissing(f"no choices between two outputs on {aspect}.", data=data.name, code="no_choices")
    if votes["aspect"].n_unique() > 1:
        raise NameUnknown(f"choices on several aspects; name one: {', '.join(votes['aspect'].unique().sort())}.")
    return votes


def _best_first(votes: pl.DataFrame, every: pl.DataFrame) -> list[str]:
    """By the share of wins, ties as half; the order does not depend on names or on the file where shares differ."""
    half = pl.when(pl.col("preferred") == FIRST).then(1.0).when(pl.col("preferred") == SECOND).then(0.0).otherwise(0.5)
    sides = [
        votes.select(pl.col("first").alias("system"), half.alias("won")),
        votes.select(pl.col("second").alias("system"), (1 - half).alias("won")),
    ]
    found = pl.concat(sides).group_by("system").agg(pl.col("won").mean(), pl.len())
    order = found.sort(["won", "len", "system"], descending=[True, True, False])["system"].to_list()
    return [*order, *sorted({*every["first"], *every["second"]} - set(order))]


def _ballots(votes: pl.DataFrame, systems: list[str], units: pl.DataFrame, features: list[str]) -> Ballots:
    place = {s: k for k, s in enumerate(systems)}
    first, second = (votes[c].replace_strict(place, return_dtype=pl.Int64).to_numpy() for c in ("first", "second"))
    said = votes["preferred"].to_numpy()
    outcome = np.where(said == FIRST, 0, np.where(said == SECOND, 1, TIE)).astype(np.int64)
    unit = votes.select("input").join(units, on="input", how="left", maintain_order="left")[UNIT].to_numpy()
    return Ballots(first, second, outcome, unit, votes.select(features).to_numpy() if features else None)


def _number_annotators(votes: pl.DataFrame) -> Ints | None:
    """Number who cast each vote, as `Ballots.annotator` does; None where no annotator ID is known.

    A label such as "human" or "expert" says what somebody is, not who.
    """
    names = sorted({name for name in votes["rater"].drop_nulls() if not provenance.ANNOTATOR_WORDS.fullmatch(name)})
    if not names:
        return None
    number = {name: k for k, name in enumerate(names)}
    return np.array([number.get(name, -1 - row) for row, name in enumerate(votes["rater"])], np.int64)


def _of_metric(data: Dataset, votes: pl.DataFrame, metric: str, ballots: Ballots) -> Ballots:
    """The metric's own choices in these comparisons."""
    known = data.only_metrics([metric]).scores
    sign = -1.0 if metric in data.lower else 1.0
    both = [
        votes.select(pl.col(side).alias("system"), "input")
        .join(known, on=["system", "input"], how="left", maintain_order="left")[metric]
        .cast(pl.Float64)
        .fill_null(np.nan)
        .to_numpy()
        * sign
        for side in ("first", "second")
    ]
    said = score_votes(both[0], both[1], ballots.first, ballots.second)
    outcome = np.where(said == ballots.first, 0, np.where(said == ballots.second, 1, TIE)).astype(np.int64)
    found = replace(ballots, outcome=outcome).part(said != UNKNOWN)
    if not len(found):
        raise NeedsMissing(
            f"{metric} scored no two outputs that were compared.", data=data.name, code="no_scores_of_rated"
        )
    return found


def _styled(data: Dataset, votes: pl.DataFrame) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Choices with (first − second) / (first + second) of each feature, in standard deviations."""
    texts = data.samples.filter(pl.col("output").is_not_null()) if "output" in data.samples.columns else None
    if texts is None or texts.is_empty():
        raise NeedsMissing(
            "control for style needs the texts of the outputs, and the file has none.", data=data.name, code="no_texts"
        )
    counted = np.array([format_counts(t) for t in texts["output"]], np.float64)
    frame = texts.select("system", "input").with_columns(
        pl.Series(name, counted[:, k]) for k, name in enumerate(FEATURES)
    )
    joined = votes
    for side in ("first", "second"):
        theirs = frame.rename({"system": side, **{name: f"{name} {side}" for name in FEATURES}})
        joined = joined.join(theirs, on=[side, "input"], how="inner", maintain_order="left")
    if joined.is_empty():
        raise NeedsMissing(
            "control for style needs the texts of both outputs of a choice.", data=data.name, code="no_texts"
        )
    notes = []
    if lost := votes.height - joined.height:
        notes.append(f"{lost:,} of {votes.height:,} choices without both texts are left out.")
    columns: list[pl.Series] = []
    flat = []
    for name in FEATURES:
        a, b = (joined[f"{name} {side}"].to_numpy() for side in ("first", "second"))
        share = np.divide(a - b, a + b, out=np.zeros_like(a), where=a + b > 0)
        known = np.stack([np.ones(len(share)), *(c.to_numpy() for c in columns)], axis=1)
        rest = share - known @ np.linalg.lstsq(known, share, rcond=None)[0]
        if rest.std() > 1e-6:
            columns.append(pl.Series(name, share / share.std()))
        else:
            flat.append(name)
    if flat:
        notes.append(f"no effect of {some(flat, 4)}: the same in all pairs of outputs, or moving with other features.")
    if not columns:
        raise NeedsMissing(
            "no two outputs differ in length or layout; there is no style to control for.",
            data=data.name,
            code="constant",
        )
    return joined.with_columns(columns), [c.name for c in columns], notes
