"""Easy and hard pairs of systems (Nimah et al. 2023, section 4.2): with large and small differences in human "
"ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge.analyses._common import finite_mean
from nlgauge.analyses.checklist.rater_rows import RaterRows
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.table import Row, grouped
from nlgauge.types import Array

Pair = tuple[str, str]
Pairs = str | Sequence[Sequence[str]] | Mapping[str, Sequence[Sequence[str]]]
EASY, HARD, ALL = "easy", "hard", "all"
HUMAN = "Human"
MAX_PAIRS = 1000  # pairs of a group that are tested: a third of the pairs of 78 systems


@dataclass(frozen=True)
class SystemPairs:
    """Pairs of indices of `panel.systems` by group (easy, hard, all …), and a description of how they were chosen."""

    groups: dict[str, list[tuple[int, int]]]
    words: str

    def heads(self, systems: Sequence[str]) -> dict[Any, str]:
        """Return the headings of groups of pairs and of single pairs."""
        single = {
            (systems[a], systems[b]): f"{systems[a]} – {systems[b]}" for some in self.groups.values() for a, b in some
        }
        return {**{name: f"{name} ({len(some)})" for name, some in self.groups.items()}, **single}


def system_pairs(rows: RaterRows, pairs: Pairs | None = None, share: float = 1 / 3) -> SystemPairs:
    """Return the pairs: easy and hard ones, all of them (`pairs="all"`), or a list or {"easy": […], "hard": […]}."""
    systems = rows.panel.systems
    if len(systems) < 2:
        raise NeedsMissing(
            f"pairs of systems require at least 2 systems; found {len(systems)}.", code="too_few_systems"
        )
    every = list(combinations(range(len(systems)), 2))
    if pairs is None and len(every) > 1:
        return _by_rule(rows, every, share)
    if pairs is None or pairs == ALL:
        return SystemPairs({ALL: every}, f"all {len(every)} pairs" if len(every) > 1 else "the only pair")
    if isinstance(pairs, str):
        raise NlgaugeError(
            f"{option('pairs')} must be all, a list of pairs, or {{'easy': [('A', 'B')], 'hard': [('C', 'D')]}}; got "
            f"'{pairs}'."
        )
    listed = pairs if isinstance(pairs, Mapping) else {"given": pairs}
    groups = {name: [_indices(pair, rows) for pair in some] for name, some in listed.items()}
    return SystemPairs(groups, "pairs chosen by the user: " + _sizes(groups))


def human_order(rows: RaterRows) -> Array:
    """Return the mean rating of each system over aspects, each aspect standardized over its rows."""
    scaled = []
    for aspect, means in rows.system_means().items():
        values = rows.human[aspect]
        spread = np.nanstd(values)
        scaled.append((means - np.nanmean(values)) / (spread if spread > 0 else 1.0))
    stacked = np.stack(scaled)
    rated = ~np.isnan(stacked).all(axis=0)
    order = np.full(stacked.shape[1], np.nan)
    order[rated] = np.nanmean(stacked[:, rated], axis=0)
    return order


def _by_rule(rows: RaterRows, every: list[tuple[int, int]], share: float) -> SystemPairs:
    if not 0 < share <= 0.5:
        raise NlgaugeError(f"{option('share')} must be above 0 and at most 0.5; got {share}.")
    order = human_order(rows)
    rated = [(a, b) for a, b in every if not np.isnan(order[a] - order[b])]
    rated.sort(key=lambda pair: -abs(order[pair[0]] - order[pair[1]]))
    if len(rated) < 2:
        return SystemPairs({ALL: rated}, "the only pair of rated systems")
    size = max(1, round(len(rated) * share))
    groups = {EASY: _thinned(rated[:size]), HARD: _thinned(rated[-size:])}
    what = "the mean rating" if len(rows.human) == 1 else "the mean of the standardized aspects"
    fewer = f"; {MAX_PAIRS:,} evenly spaced pairs of each group are tested" if size > MAX_PAIRS else ""
    return SystemPairs(
        groups,
        f"of {len(rated)} pairs of systems, easy: the {size} with the largest, hard: the {size} with the smallest "
        f"difference in {what}{fewer}",
    )


def _thinned(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return at most `MAX_PAIRS` of the pairs, evenly spaced: all pairs of 500 systems would be 124,750 tests."""
    if len(pairs) <= MAX_PAIRS:
        return pairs
    return [pairs[i] for i in np.linspace(0, len(pairs) - 1, MAX_PAIRS).round().astype(int)]


def _indices(pair: Sequence[str], rows: RaterRows) -> tuple[int, int]:
    if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
        raise NlgaugeError(f"{option('pairs')}: a pair must be two different systems; got {pair!r}.")
    systems = list(rows.panel.systems)
    for name in pair:
        if name in rows.panel.human_systems:
            raise NameUnknown(f"'{name}' is human-written and excluded; include it with {option('keep_human', True)}.")
        if name not in systems:
            raise NameUnknown(
                f"{rows.panel.name}: system '{name}' not found.{did_you_mean(name, systems)} Systems: "
                f"{', '.join(systems)}."
            )
    return systems.index(pair[0]), systems.index(pair[1])


def _sizes(groups: Mapping[str, Sequence[object]]) -> str:
    return ", ".join(f"{len(some)} {name}" for name, some in groups.items())


def averaged(rows: list[Row], per: str, values: Sequence[str]) -> list[Row]:
    """Average the values over pairs, and over the metrics of a family."""
    means: list[Row] = []
    for part in grouped(rows, "family" if per == "family" else "metric", "pairs").values():
        first = part[0]
        row: Row = {"metric": first["metric"]} if per == "metric" else {"metrics": len(grouped(part, "metric"))}
        row |= {"family": first["family"], "pairs": first["pairs"], "count": len(grouped(part, "first", "second"))}
        row |= {v: finite_mean([r[v] for r in part]) for v in values}
        if "p" in first:
            row["clear"] = finite_mean([float(r["p"] < 0.05) for r in part if not np.isnan(r["p"])])
        means.append(row)
    return means
