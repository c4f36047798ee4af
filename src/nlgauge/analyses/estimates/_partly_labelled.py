"""Rows of a data set for an estimate: every output, people's mean rating where they gave one, the judges' scores, how
the labelled ones were drawn.
"""

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
from nlgauge.number import number
from nlgauge.options import option
from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.several_judges import LABELS_PER_JUDGE, cross_fitted
from nlgauge.stats.tests.ks import ks
from nlgauge.stats.tests.two_samples import mean_test, unit_means
from nlgauge.table import Row
from nlgauge.types import Array

FEWEST = 10  # labels below which there is no interval
CLUSTERS = 10  # clusters with labels below which there is none
UNLIKE = 0.01  # p below which labelled rows are said to differ from the others
TOGETHER = "all judges"


@dataclass(frozen=True)
class Rows:
    """Outputs with a score of every judge asked for. `share`: labels are pass (1) and fail (0), or shares of raters."""

    name: str
    aspect: str
    system: NDArray[np.str_]
    input: NDArray[np.str_]
    unit: NDArray[np.int64]  # input or cluster of each row
    clustered: str  # what a unit is, where several rows of one system share it
    labels: Array
    scores: dict[str, Array]  # judge → more is better
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
        """Some of the rows."""
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
        """As the statistics take them."""
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
        """What is missing for an interval; empty where nothing is."""
        n = int(self.labeled.sum())
        if n < FEWEST:
            return f"needs at least {FEWEST} labels, found {n}"
        if not self.share and len(self.levels) < 2:
            return f"needs ratings that differ; all {n} are {self.levels[0]:g}"
        units = len(np.unique(self.unit[self.labeled]))
        if units < CLUSTERS:
            return f"needs labels in at least {CLUSTERS} different {self.clustered or 'inputs'}, found {units}"
        if self.strata is not None:
            few = [s for s in np.unique(self.strata) if (self.labeled & (self.strata == s)).sum() < 2]
            if few:
                return f"needs at least 2 labels in every stratum; {len(few)} have fewer"
        return ""


def rows_of(
    data: Dataset,
    aspect: str,
    judges: Sequence[str] | None,
    *,
    cut: float | None = None,
    probability: str | None = None,
    strata: str | None = None,
    keep_people: bool = False,
) -> Rows:
    """Return all outputs of the data that have a score of every judge (of all judges by default)."""
    people = set() if keep_people else data.people
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
        notes.append(f"people: {pass_from:g}{' and more' if len(levels) > 2 else ''} = pass, less = fail.")
    means = rated.group_by(KEY, maintain_order=True).agg(pl.col("value").mean().alias("__label__"))
    frame = data.samples.join(means, on=KEY, how="left", maintain_order="left")
    frame = frame.join(data.scores, on=KEY, how="left", maintain_order="left", suffix="__score__")
    frame = frame.filter(~pl.col("system").is_in(list(people)))
    column = {j: f"{j}__score__" if f"{j}__score__" in frame.columns else j for j in judges}
    values = {j: np.where(np.isinf(v := _numbers(frame, c)), np.nan, v) for j, c in column.items()}
    whole = np.isfinite(np.array(list(values.values()))).all(axis=0) if values else np.ones(frame.height, bool)
    if not whole.all():
        notes.append(f"rows without a score of {' or '.join(judges[:3])}, left out: {int((~whole).sum()):,}.")
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
            "no output has a label of people and a score of the judge.",
            data=data.name,
            aspect=aspect,
            code="no_scores_of_rated",
        )
    return rows


def _with_design_columns(data: Dataset, columns: Sequence[str]) -> Dataset:
    """Take columns that say how an output was drawn from the scores, where reading took their numbers as scores."""
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


def _design(frame: pl.DataFrame, asked: str | None, usual: str) -> str | None:
    """The column named, else the one that `nlgauge label` writes, where it is there."""
    return asked or (usual if usual in frame.columns else None)


def _probabilities(data: Dataset, frame: pl.DataFrame, column: str) -> Array:
    if column not in frame.columns:
        raise data.no_column(column)
    found = _numbers(frame, column)
    labelled = frame["__label__"].is_not_null().to_numpy()
    bad = labelled & ~((found > 0) & (found <= 1))
    if bad.any():
        raise DataError(
            f"column '{column}' must hold the probability with which each row was drawn to be labelled, "
            f"above 0 and at most 1; found {frame[column].filter(pl.Series(bad))[0]} in a labelled row.",
            data=data.name,
            code="unsuited_column",
        )
    return found


def _units(data: Dataset, frame: pl.DataFrame) -> tuple[NDArray[np.int64], str]:
    """Number the independent unit of each row, and name what a unit is."""
    inputs = frame["input"].unique(maintain_order=True).to_list()
    found = units_of(data, inputs)
    names = dict(zip(inputs, found.names or inputs, strict=True))
    code = frame["input"].replace_strict(names, return_dtype=pl.String).rank("dense").to_numpy().astype(np.int64) - 1
    return code, found.column


def predictor(rows: Rows) -> tuple[str, Array | None, list[str]]:
    """The judge, or several as one prediction: its name, a score of every row, how it was made."""
    names = list(rows.scores)
    if len(names) < 2:
        return (names[0], rows.scores[names[0]], []) if names else ("", None, [])
    scores = np.column_stack(list(rows.scores.values()))
    n = int(rows.labeled.sum())
    if n >= LABELS_PER_JUDGE * (len(names) + 1) and n >= FEWEST:
        note = f"{TOGETHER}: the {len(names)} scores weighed by a regression fitted without the rows it is used for."
        return TOGETHER, cross_fitted(rows.labels, scores, rows.unit), [note]
    spread = scores.std(axis=0)
    mean = ((scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).mean(axis=1)
    note = (
        f"{TOGETHER}: the mean of the {len(names)} standardised scores; a regression needs "
        f"{LABELS_PER_JUDGE * (len(names) + 1)} labels. {option('judge')} names one."
    )
    return TOGETHER, mean, [note]


def representative(rows: Rows) -> list[tuple[str, float]]:
    """Are labelled rows like the others? Judge's score or length → p (Kolmogorov and Smirnov, Bonferroni)."""
    if rows.probability is not None or rows.strata is not None:
        return []  # drawn unalike on purpose
    held = rows.labeled
    if held.all() or held.sum() < FEWEST:
        return []
    measured = {**rows.scores, **({} if rows.length is None else {"length of the output": rows.length})}
    # Systems with more labels than others must not look like rows that were chosen: each is tested by itself.
    one_sample = [np.ones(len(held), bool)]
    groups = one_sample if rows.label_counts().even else [rows.system == name for name in np.unique(rows.system)]
    found = [
        (name, _smallest_p([_unlike(rows.unit[g], v[g], held[g]) for g in groups if 0 < held[g].sum() < g.sum()]))
        for name, v in measured.items()
        if np.isfinite(v).all()
    ]
    return [(name, min(1.0, p * len(found))) for name, p in found if np.isfinite(p)]


def _smallest_p(each: Sequence[float]) -> float:
    """Return the smallest p of several tests, times their number (Bonferroni); NaN where none has one."""
    given = [p for p in each if np.isfinite(p)]
    return min(1.0, min(given) * len(given)) if given else float("nan")


def _unlike(unit: NDArray[np.int64], values: Array, held: NDArray[np.bool_]) -> float:
    """p of a difference between labelled rows and others, one value for the rows of a unit. Two values: their means."""
    labelled, others = (unit_means(values[inside], unit[inside]) for inside in (held, ~held))
    return mean_test(labelled, others) if len(np.unique(values)) < 3 else ks(labelled, others).p


def check_words(found: Sequence[tuple[str, float]]) -> tuple[str, bool]:
    """The check in one line, and whether it was passed."""
    name, p = min(found, key=lambda pair: pair[1])
    if p >= UNLIKE:
        names = ", ".join(n for n, _ in found[:3]) + (", …" if len(found) > 3 else "")
        return f"nothing shows that labelled rows differ from the others in {names} (smallest p {number(p, 2)}).", True
    return (
        f"labelled rows differ from the others in {name} ({'p < .001' if p < 0.001 else f'p {number(p)}'}), so they "
        "may not stand for all: label rows drawn at random (`nlgauge label`), or name the column with the probability "
        f"({option('probability')}) or the stratum ({option('strata')}) by which they were drawn."
    ), False


def design_notes(rows: Rows, counts: SystemLabels) -> list[str]:
    """How the labeled rows were drawn, and which count together."""
    notes = [f"{int(rows.labeled.sum()):,} of {len(rows.labels):,} outputs are labelled.", counts.count_text()]
    if rows.probability is not None:
        notes.append("labelled rows count by the inverse of the probability with which they were drawn.")
    if rows.strata is not None and len(np.unique(rows.strata)) > 1:
        notes.append(f"{len(np.unique(rows.strata))} strata, each weighed by its number of rows.")
    if rows.clustered or len(counts.names) > 1:
        notes.append(f"rows of one '{rows.clustered or 'input'}' are not independent and count together.")
    return [note for note in notes if note]


def value_text(row: Row, share: bool, signed: bool = False) -> str:
    """'71 % [65 76]' or '3.42 [3.30 3.55]'."""
    if not np.isfinite(row["value"]):
        return "–"
    sign = "+" if signed and row["value"] > 0 else ""
    ends = ""
    if share:
        ends = f" [{points_text(row['low'])} {points_text(row['high'])}]" if np.isfinite(row["low"]) else ""
        return f"{sign}{points_text(row['value'])} %{ends}"
    if np.isfinite(row["low"]):
        ends = f" [{number(row['low'], 2)}, {number(row['high'], 2)}]"
    return f"{sign}{number(row['value'], 2)}{ends}"


def points_text(value: float) -> str:
    """A share in percent; one decimal near 0 and 1."""
    return number(100 * value, 1 if 0 < abs(value) < 0.01 or 0.99 < value < 1 else 0)
