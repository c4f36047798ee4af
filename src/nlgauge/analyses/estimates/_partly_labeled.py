"""Outputs of a data set for an estimate: mean human rating, scores of the judges, and sampling design of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nlgauge.analyses.estimates.system_labels import SystemLabels, count_system_labels
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.labels import PROBABILITY, STRATUM
from nlgauge.data.units import units_of
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.number import missing, number, p_text, row_interval, share_text
from nlgauge.options import option
from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.several_judges import LABELS_PER_JUDGE, cross_fitted
from nlgauge.stats.tests.ks import ks
from nlgauge.stats.tests.two_samples import mean_test, unit_means
from nlgauge.table import Row
from nlgauge.types import Array

FEWEST = 10  # labels that an interval requires
CLUSTERS = 10  # clusters with labels that an interval requires
UNLIKE = 0.01  # level of the test that labeled outputs differ from the others
TOGETHER = "all judges"


@dataclass(frozen=True)
class Rows:
    """Outputs with a score of every requested judge. `share`: labels are 1 (pass), 0 (fail) or shares of annotators."""

    name: str
    aspect: str
    system: NDArray[np.str_]
    input: NDArray[np.str_]
    unit: NDArray[np.int64]  # input or cluster of each row
    clustered: str  # column of the unit, if several outputs of a system share one
    labels: Array
    scores: dict[str, Array]  # of each judge, higher is better
    probability: Array | None
    strata: NDArray[np.int64] | None
    length: Array | None
    share: bool
    levels: tuple[float, ...]
    notes: tuple[str, ...]

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Return a mask of the rows with a label."""
        return np.isfinite(self.labels)

    def of(self, inside: NDArray[np.bool_]) -> Rows:
        """Return a subset of the rows."""
        return replace(
            self,
            system=self.system[inside],
            input=self.input[inside],
            unit=self.unit[inside],
            labels=self.labels[inside],
            scores={name: score[inside] for name, score in self.scores.items()},
            probability=None if self.probability is None else self.probability[inside],
            strata=None if self.strata is None else self.strata[inside],
            length=None if self.length is None else self.length[inside],
        )

    def sample(self, score: Array | None) -> PartlyLabeled:
        """Return the arguments of the statistics."""
        strata = None if self.strata is None else np.unique(self.strata, return_inverse=True)[1].reshape(-1)
        names, clusters = np.unique(self.unit, return_inverse=True)
        several = clusters.reshape(-1) if len(names) < len(self.unit) else None
        bounds = None if self.share or len(self.levels) < 2 else (min(self.levels), max(self.levels))
        return PartlyLabeled(self.labels, score, self.probability, strata, several, self.share, bounds)

    def label_counts(self) -> SystemLabels:
        """Count the labels of each system, and find the systems that they leave out."""
        expected = None
        if self.strata is not None:
            code = np.unique(self.strata, return_inverse=True)[1].reshape(-1)
            expected = (np.bincount(code, self.labeled) / np.bincount(code))[code]
        if self.probability is not None:
            overall = self.labeled.mean() if expected is None else expected
            expected = np.where(np.isfinite(self.probability), self.probability, overall)
        return count_system_labels(self.system, self.labeled, self.unit, expected)

    def lacking(self) -> str:
        """Return the reason why there is no interval; empty if there is one."""
        n = int(self.labeled.sum())
        if n < FEWEST:
            return f"requires at least {FEWEST} labels; found {n}"
        if not self.share and len(self.levels) < 2:
            return f"requires ratings that differ; all {n} are {self.levels[0]:g}"
        units = len(np.unique(self.unit[self.labeled]))
        if units < CLUSTERS:
            return f"requires labels in at least {CLUSTERS} different {self.clustered or 'inputs'}; found {units}"
        if self.strata is not None:
            few = [s for s in np.unique(self.strata) if (self.labeled & (self.strata == s)).sum() < 2]
            if few:
                return f"requires at least 2 labels in every stratum; {len(few)} have fewer"
        return ""


def rows_of(
    data: Dataset,
    aspect: str,
    judges: Sequence[str] | None,
    *,
    cut: float | None = None,
    probability: str | None = None,
    strata: str | None = None,
    keep_human: bool = False,
) -> Rows:
    """Return all outputs of the data that have a score of every judge (of all judges by default)."""
    people = set() if keep_human else data.human_systems
    data = _with_design_columns(data, [column for column in (probability, strata) if column])
    judges = list(judges if judges is not None else [m for m in data.metrics if m not in (probability, strata)])
    data = data.only_metrics(judges)
    rated = data.ratings.filter(pl.col("aspect") == aspect)
    levels = np.unique(rated["value"].drop_nulls().to_numpy())
    share, notes = False, list[str]()
    if cut is not None or len(levels) == 2 or (len(levels) == 1 and levels[0] in (0.0, 1.0)):
        share = True
        pass_from = cut if cut is not None else 1.0 if len(levels) == 1 else float(levels[1])
        rated = rated.with_columns((pl.col("value") >= pass_from).cast(pl.Float64))
        notes.append(f"human labels: {pass_from:g}{' and above' if len(levels) > 2 else ''} = pass, below = fail.")
    means = rated.group_by(KEY, maintain_order=True).agg(pl.col("value").mean().alias("__label__"))
    frame = data.samples.join(means, on=KEY, how="left", maintain_order="left")
    frame = frame.join(data.scores, on=KEY, how="left", maintain_order="left", suffix="__score__")
    frame = frame.filter(~pl.col("system").is_in(list(people)))
    column = {j: f"{j}__score__" if f"{j}__score__" in frame.columns else j for j in judges}
    values = {j: np.where(np.isinf(v := _numbers(frame, c)), np.nan, v) for j, c in column.items()}
    whole = np.isfinite(np.array(list(values.values()))).all(axis=0) if values else np.ones(frame.height, bool)
    if not whole.all():
        notes.append(f"{int((~whole).sum()):,} outputs without a score of {' or '.join(judges[:3])} are excluded.")
    probability, strata = _design(frame, probability, PROBABILITY), _design(frame, strata, STRATUM)
    unit, clustered = _units(data, frame)
    rows = Rows(
        data.name,
        aspect,
        frame["system"].to_numpy().astype(str),
        frame["input"].to_numpy().astype(str),
        unit,
        clustered,
        _numbers(frame, "__label__"),
        {j: -v if j in data.lower else v for j, v in values.items()},
        None if probability is None else _probabilities(data, frame, probability),
        None if strata is None else frame[strata].cast(pl.String).rank("dense").to_numpy().astype(np.int64),
        frame["output"].str.len_chars().to_numpy().astype(np.float64) if "output" in frame.columns else None,
        share,
        tuple(levels.tolist()),
        tuple(notes),
    ).of(whole)
    if not rows.labeled.any():
        raise NeedsMissing(
            "no output has both a human label and a score of the judge.", aspect=aspect, code="no_scores_of_rated"
        )
    return rows


def _with_design_columns(data: Dataset, columns: Sequence[str]) -> Dataset:
    """Move columns of the sampling design from the scores to the samples, if they were read as scores."""
    for column in columns:
        if column in data.samples.columns:
            continue
        if column not in data.metrics:
            raise data.no_column(column)
        samples = data.samples.join(data.scores.select(*KEY, column), on=KEY, how="left", maintain_order="left")
        data = replace(data, samples=samples)
    return data


def _numbers(frame: pl.DataFrame, column: str) -> Array:
    return frame[column].cast(pl.Float64, strict=False).to_numpy().astype(np.float64)


def _design(frame: pl.DataFrame, named: str | None, default: str) -> str | None:
    """Return the named column, else the one that `nlgauge label` writes, if there is one."""
    return named or (default if default in frame.columns else None)


def _probabilities(data: Dataset, frame: pl.DataFrame, column: str) -> Array:
    if column not in frame.columns:
        raise data.no_column(column)
    probabilities = _numbers(frame, column)
    labeled = frame["__label__"].is_not_null().to_numpy()
    bad = labeled & ~((probabilities > 0) & (probabilities <= 1))
    if bad.any():
        raise DataError(
            f"column '{column}' must contain the sampling probability of each labeled output, above 0 and at most 1; "
            f"found {frame[column].filter(pl.Series(bad))[0]}.",
            code="unsuited_column",
        )
    return probabilities


def _units(data: Dataset, frame: pl.DataFrame) -> tuple[NDArray[np.int64], str]:
    """Number the independent unit of each row, and return the column of the units."""
    inputs = frame["input"].unique(maintain_order=True).to_list()
    units = units_of(data, inputs)
    names = dict(zip(inputs, units.names or inputs, strict=True))
    code = frame["input"].replace_strict(names, return_dtype=pl.String).rank("dense").to_numpy().astype(np.int64) - 1
    return code, units.column


def predictor(rows: Rows) -> tuple[str, Array | None, list[str]]:
    """Return the judge, or several judges as one prediction: name, score of every row, and notes."""
    names = list(rows.scores)
    if len(names) < 2:
        return (names[0], rows.scores[names[0]], []) if names else ("", None, [])
    scores = np.column_stack(list(rows.scores.values()))
    n = int(rows.labeled.sum())
    if n >= LABELS_PER_JUDGE * (len(names) + 1) and n >= FEWEST:
        note = f"{TOGETHER}: cross-fitted regression on the {len(names)} scores."
        return TOGETHER, cross_fitted(rows.labels, scores, rows.unit), [note]
    spread = scores.std(axis=0)
    mean = ((scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).mean(axis=1)
    note = (
        f"{TOGETHER}: mean of the {len(names)} standardized scores; a regression requires "
        f"{LABELS_PER_JUDGE * (len(names) + 1)} labels. Select one judge with {option('judge')}."
    )
    return TOGETHER, mean, [note]


def representative(rows: Rows) -> list[tuple[str, float]]:
    """Test whether labeled outputs are representative: p by score or length (Kolmogorov and Smirnov, Bonferroni)."""
    if rows.probability is not None or rows.strata is not None:
        return []  # the design draws them unequally
    labeled = rows.labeled
    if labeled.all() or labeled.sum() < FEWEST:
        return []
    measured = {**rows.scores, **({} if rows.length is None else {"output length": rows.length})}
    # Unequal numbers of labels per system are not selection of outputs: each system is tested separately.
    one_sample = [np.ones(len(labeled), bool)]
    groups = one_sample if rows.label_counts().even else [rows.system == name for name in np.unique(rows.system)]
    tests = [
        (
            name,
            _smallest_p(
                [_difference_p(rows.unit[g], v[g], labeled[g]) for g in groups if 0 < labeled[g].sum() < g.sum()]
            ),
        )
        for name, v in measured.items()
        if np.isfinite(v).all()
    ]
    return [(name, min(1.0, p * len(tests))) for name, p in tests if np.isfinite(p)]


def _smallest_p(each: Sequence[float]) -> float:
    """Return the smallest p of several tests, times their number (Bonferroni); NaN if there is none."""
    finite = [p for p in each if np.isfinite(p)]
    return min(1.0, min(finite) * len(finite)) if finite else float("nan")


def _difference_p(unit: NDArray[np.int64], values: Array, labeled: NDArray[np.bool_]) -> float:
    """Return p of the difference between labeled and other outputs, by unit; binary values are compared by means."""
    first, second = (unit_means(values[inside], unit[inside]) for inside in (labeled, ~labeled))
    return mean_test(first, second) if len(np.unique(values)) < 3 else ks(first, second).p


def check_words(tests: Sequence[tuple[str, float]]) -> tuple[str, bool]:
    """State the result of the tests of `representative`, and whether they are passed."""
    name, p = min(tests, key=lambda pair: pair[1])
    if p >= UNLIKE:
        names = ", ".join(n for n, _ in tests[:3]) + (", …" if len(tests) > 3 else "")
        return (
            f"no evidence that labeled outputs differ from the others in {names} (smallest p = {number(p, 2)}).",
            True,
        )
    return (
        f"labeled outputs differ from the others in {name} ({p_text(p)}), so they may not be representative: label "
        "outputs drawn at random (`nlgauge label`), or name the column of their sampling probability "
        f"({option('probability')}) or stratum ({option('strata')})."
    ), False


def design_notes(rows: Rows, counts: SystemLabels) -> list[str]:
    """Describe the sampling design of the labels and the clusters."""
    notes = [f"{int(rows.labeled.sum()):,} of {len(rows.labels):,} outputs are labeled.", counts.count_text()]
    if rows.probability is not None:
        notes.append("labeled outputs are weighted by the inverse of their sampling probability.")
    if rows.strata is not None and len(np.unique(rows.strata)) > 1:
        notes.append(f"{len(np.unique(rows.strata))} strata, weighted by their number of outputs.")
    if rows.clustered or len(counts.names) > 1:
        notes.append(f"outputs with the same '{rows.clustered or 'input'}' are a cluster.")
    return [note for note in notes if note]


def value_text(row: Row, share: bool, signed: bool = False) -> str:
    """Return a value with its interval: '71% [65%, 76%]' for a share, else as `row_interval` writes it."""
    if missing(row["value"]):
        return "–"
    sign = "+" if signed and row["value"] > 0 else ""
    return sign + (share_text({**row, "hits": None}) if share else row_interval(row))
