"""A judge's columns and the outputs that people rated, as the checks of its biases take them."""

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
from nlgauge.stats.estimation.judge_bias import Ratings, rater_products
from nlgauge.text.formatting import EMOJI, FEATURES, format_counts
from nlgauge.types import Array

FEWEST = 20  # inputs with anchors, or with labels, that a comparison of runs needs

LAYOUT = ("lists", "headers", "bold", "emoji")
LEAST_EACH = 15  # inputs with outputs that have a feature, and without it


@dataclass(frozen=True)
class JudgeColumn:
    """A column of scores: whose it is, and the aspects it is held against."""

    metric: str
    judge: str
    aspects: list[str]


def judge_columns(metrics: Sequence[str], aspects: Sequence[str]) -> list[JudgeColumn]:
    """A column whose name holds the name of one aspect ('gpt-4-fluency') is of that aspect; others are of all.

    >>> [(c.judge, c.aspects) for c in judge_columns(["gpt-4-fluency", "bleu"], ["fluency", "wit"])]
    [('gpt-4', ['fluency']), ('bleu', ['fluency', 'wit'])]
    """
    found = []
    for metric in metrics:
        named = {a: m for a in aspects if (m := re.search(rf"(?<![a-z0-9]){re.escape(a)}(?![a-z0-9])", metric, re.I))}
        if len(named) == 1:
            ((aspect, match),) = named.items()
            rest = re.sub(
                r"[-_. /:()]+$|^[-_. /:()]+", "", metric[: match.start()].rstrip("-_. ") + metric[match.end() :]
            )
            found.append(JudgeColumn(metric, rest or metric, [aspect]))
        else:
            found.append(JudgeColumn(metric, metric, list(aspects)))
    return found


def ratings_beside(panel: Panel, metric: str) -> tuple[Ratings, NDArray[np.bool_]]:
    """The outputs that people rated and the judge scored, and where they stand in the panel."""
    y = panel.oriented()[panel.names.index(metric)]
    there = np.isfinite(y) & np.isfinite(panel.human)
    cube = panel.raters.get(panel.aspect)
    pairs = np.full(y.shape, np.nan) if cube is None else rater_products(cube)
    return Ratings(y[there], panel.human[there], pairs[there], panel.unit_codes(np.nonzero(there)[1])), there


def text_features(data: Dataset, panel: Panel) -> dict[str, Array]:
    """Doublings of length; 1 or 0 for lists, headers, bold words and emoji; systems × inputs, NaN without a text."""
    if "output" not in data.samples.columns:
        return {}
    rows = {s: k for k, s in enumerate(panel.systems)}
    places = {i: k for k, i in enumerate(panel.inputs)}
    found = np.full((len(FEATURES) + 1, *panel.human.shape), np.nan)
    for system, given, text in data.samples.select(*KEY, pl.col("output").cast(pl.String)).iter_rows():
        if text is not None and system in rows and given in places:
            found[:, rows[system], places[given]] = [*format_counts(text), len(EMOJI.findall(text))]
    layout = {
        name: np.where(np.isfinite(v), v > 0, np.nan) for name, v in zip([*FEATURES, "emoji"], found, strict=True)
    }
    return {**layout, "length": np.log2(np.maximum(found[0], 1.0))}


def family_of_systems(family: Mapping[str, str], systems: Sequence[str], judge: str) -> Array | None:
    """1 for systems of the judge's own family, 0 for others; None where nothing is said of this judge.

    `family` maps patterns of systems to the judge of whose family they are.
    """
    mine = [p for p, name in family.items() if judge == name or judge.lower().startswith(name.lower())]
    return np.array([float(any(fnmatchcase(s, p) for p in mine)) for s in systems]) if mine else None


def parse_family(
    words: str | Sequence[str] | Mapping[str, str], judges: Sequence[str], systems: Sequence[str]
) -> dict[str, str]:
    """'gpt-*=gpt-4o,claude-*=claude' as {'gpt-*': 'gpt-4o', …}; judges and systems must be those there are."""
    if not isinstance(words, Mapping):
        listed = words.split(",") if isinstance(words, str) else [w for each in words for w in each.split(",")]
        pairs = [w.rpartition("=") for w in listed if w.strip()]
        if bad := [w for p, _, w in pairs if not p]:
            raise NameUnknown(f"family '{bad[0]}': write SYSTEMS=JUDGE, as in gpt-*=gpt-4o.")
        words = {p.strip(): j.strip() for p, _, j in pairs}
    for name in words.values():
        if not any(j.lower().startswith(name.lower()) for j in judges):
            raise NameUnknown(f"family: no judge '{name}'; there are {', '.join(dict.fromkeys(judges))}.")
    if unseen := [p for p in words if not any(fnmatchcase(s, p) for s in systems)]:
        raise NameUnknown(f"family '{unseen[0]}': no system is called so; there are {some(systems, 12)}.")
    return dict(words)


def same_scale(panel: Panel, metric: str) -> bool:
    """Whether the judge's values lie on people's scale: inside the range of their ratings, at least a point apart, and
    only pass and fail where people gave only those."""
    ratings = panel.raters.get(panel.aspect)
    people = panel.human if ratings is None else ratings
    people, judge = people[np.isfinite(people)], panel.metrics[metric]
    judge = judge[np.isfinite(judge)]
    if not len(judge) or not len(people) or metric in panel.lower:
        return False
    inside = judge.min() >= people.min() and judge.max() <= people.max() and np.ptp(people) >= 1
    two = len(np.unique(people)) == 2
    return bool(inside and (np.isin(judge, people).all() if two else np.ptp(judge) >= 1))


def labelled_rows(panel: Panel, metric: str) -> tuple[Ratings, NDArray[np.str_]]:
    """The outputs that people rated and the judge scored, and the name of the input (or document) of each."""
    rows, there = ratings_beside(panel, metric)
    return rows, np.asarray(panel.units)[np.nonzero(there)[1]]
