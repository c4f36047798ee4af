"""Columns of a judge, and the outputs with its score and a human rating, for the tests of biases and drift."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown
from nlgauge.number import some
from nlgauge.options import option
from nlgauge.stats.estimation.judge_bias import Ratings, rater_products
from nlgauge.text.formatting import EMOJI, FEATURES, format_counts
from nlgauge.types import Array

FEWEST = 20  # inputs with anchors, or with labels, that a comparison of runs requires

LAYOUT = ("lists", "headers", "bold", "emoji")
LEAST_EACH = 15  # inputs with a feature, and inputs without it, that a test requires


@dataclass(frozen=True)
class JudgeColumn:
    """A column of scores: its judge, and the aspects it is compared with."""

    metric: str
    judge: str
    aspects: list[str]


def judge_columns(metrics: Sequence[str], aspects: Sequence[str]) -> list[JudgeColumn]:
    """Return judge and aspects of columns: a name with an aspect ('gpt-4-fluency') is of that aspect, others of all.

    >>> [(c.judge, c.aspects) for c in judge_columns(["gpt-4-fluency", "bleu"], ["fluency", "wit"])]
    [('gpt-4', ['fluency']), ('bleu', ['fluency', 'wit'])]
    """
    columns = []
    for metric in metrics:
        named = {a: m for a in aspects if (m := re.search(rf"(?<![a-z0-9]){re.escape(a)}(?![a-z0-9])", metric, re.I))}
        if len(named) == 1:
            ((aspect, match),) = named.items()
            rest = re.sub(
                r"[-_. /:()]+$|^[-_. /:()]+", "", metric[: match.start()].rstrip("-_. ") + metric[match.end() :]
            )
            columns.append(JudgeColumn(metric, rest or metric, [aspect]))
        else:
            columns.append(JudgeColumn(metric, metric, list(aspects)))
    return columns


def rated_and_scored(panel: Panel, metric: str) -> tuple[Ratings, NDArray[np.bool_]]:
    """Return the outputs with a human rating and a score of the judge, and their mask in the panel."""
    y = panel.oriented()[panel.names.index(metric)]
    both = np.isfinite(y) & np.isfinite(panel.human)
    cube = panel.raters.get(panel.aspect)
    pairs = np.full(y.shape, np.nan) if cube is None else rater_products(cube)
    return Ratings(y[both], panel.human[both], pairs[both], panel.unit_codes(np.nonzero(both)[1])), both


def text_features(data: Dataset, panel: Panel) -> dict[str, Array]:
    """Return log2 of the length, and 1 or 0 for lists, headings, bold text and emoji; NaN without a text."""
    if "output" not in data.samples.columns:
        return {}
    rows = {s: k for k, s in enumerate(panel.systems)}
    columns = {i: k for k, i in enumerate(panel.inputs)}
    counts = np.full((len(FEATURES) + 1, *panel.human.shape), np.nan)
    for system, given, text in data.samples.select(*KEY, pl.col("output").cast(pl.String)).iter_rows():
        if text is not None and system in rows and given in columns:
            counts[:, rows[system], columns[given]] = [*format_counts(text), len(EMOJI.findall(text))]
    layout = {
        name: np.where(np.isfinite(v), v > 0, np.nan) for name, v in zip([*FEATURES, "emoji"], counts, strict=True)
    }
    return {**layout, "length": np.log2(np.maximum(counts[0], 1.0))}


def family_of_systems(family: Mapping[str, str], systems: Sequence[str], judge: str) -> Array | None:
    """Return 1 for systems of the judge's own family and 0 for others; None if the judge has no declared family.

    `family` maps patterns of systems to the judge whose family they belong to.
    """
    own = [p for p, name in family.items() if judge == name or judge.lower().startswith(name.lower())]
    return np.array([float(any(fnmatchcase(s, p) for p in own)) for s in systems]) if own else None


def parse_family(
    words: str | Sequence[str] | Mapping[str, str], judges: Sequence[str], systems: Sequence[str]
) -> dict[str, str]:
    """Parse 'gpt-*=gpt-4o,claude-*=claude' as {'gpt-*': 'gpt-4o', …}; judges and systems must exist."""
    if not isinstance(words, Mapping):
        listed = words.split(",") if isinstance(words, str) else [w for each in words for w in each.split(",")]
        pairs = [w.rpartition("=") for w in listed if w.strip()]
        if bad := [w for p, _, w in pairs if not p]:
            raise NameUnknown(f"{option('family')}: expected SYSTEMS=JUDGE, as in gpt-*=gpt-4o; got '{bad[0]}'.")
        words = {p.strip(): j.strip() for p, _, j in pairs}
    for name in words.values():
        if not any(j.lower().startswith(name.lower()) for j in judges):
            raise NameUnknown(
                f"{option('family')}: judge '{name}' not found; the data have {', '.join(dict.fromkeys(judges))}."
            )
    if unseen := [p for p in words if not any(fnmatchcase(s, p) for s in systems)]:
        raise NameUnknown(f"{option('family')}: no system matches '{unseen[0]}'; the data have {some(systems, 12)}.")
    return dict(words)


def same_scale(panel: Panel, metric: str) -> bool:
    """Return whether judge and annotators use the same scale.

    The judge's values lie in the range of the human ratings and differ by at least a point; if the human ratings are
    pass and fail, so are the judge's.
    """
    ratings = panel.raters.get(panel.aspect)
    people = panel.human if ratings is None else ratings
    people, judge = people[np.isfinite(people)], panel.metrics[metric]
    judge = judge[np.isfinite(judge)]
    if not len(judge) or not len(people) or metric in panel.lower:
        return False
    inside = judge.min() >= people.min() and judge.max() <= people.max() and np.ptp(people) >= 1
    two = len(np.unique(people)) == 2
    return bool(inside and (np.isin(judge, people).all() if two else np.ptp(judge) >= 1))


def labeled_rows(panel: Panel, metric: str) -> tuple[Ratings, NDArray[np.str_]]:
    """Return the outputs with a human rating and a score of the judge, and the input (or document) of each."""
    rows, both = rated_and_scored(panel, metric)
    return rows, np.asarray(panel.units)[np.nonzero(both)[1]]
