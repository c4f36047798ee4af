"""Easy and hard pairs of systems (nimah2023, section 4.2): far apart and close together in people's eyes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge.analyses._common import known_mean
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
MAX_PAIRS = 1000  # of a group that are tested: a third of the pairs of 78 systems


@dataclass(frozen=True)
class SystemPairs:
    """Group (easy, hard, all …) -> pairs of places in `panel.systems`, and how they were chosen, in words."""

    groups: dict[str, list[tuple[int, int]]]
    words: str

    def heads(self, systems: Sequence[str]) -> dict[Any, str]:
        """Headings of columns that are groups of pairs, or single pairs."""
        single = {
            (systems[a], systems[b]): f"{systems[a]} – {systems[b]}" for some in self.groups.values() for a, b in some
        }
        return {**{name: f"{name} ({len(some)})" for name, some in self.groups.items()}, **single}


def system_pairs(rows: RaterRows, pairs: Pairs | None = None, share: float = 1 / 3) -> SystemPairs:
    """Pairs by the rule, all of them (`pairs="all"`), or those given: a list, or {"easy": […], "hard": […]}."""
    systems = rows.panel.systems
    if len(systems) < 2:
        raise NeedsMissing(
            f"pairs of systems need at least 2 systems, found {len(systems)}.",
            data=rows.panel.name,
            code="too_few_systems",
        )
    every = list(combinations(range(len(systems)), 2))
    if pairs is None and len(every) > 1:
        return _by_rule(rows, every, share)
    if pairs is None or pairs == ALL:
        return SystemPairs({ALL: every}, f"all {len(every)} pairs" if len(every) > 1 else "the only pair")
    if isinstance(pairs, str):
        raise NlgaugeError(
            f"pairs='{pairs}': use all, a list of pairs, or {{'easy': [('A', 'B')], 'hard': [('C', 'D')]}}."
        )
    given = pairs if isinstance(pairs, Mapping) else {"given": pairs}
    groups = {name: [_places(pair, rows) for pair in some] for name, some in given.items()}
    return SystemPairs(groups, "pairs as given, " + _sizes(groups))


def human_order(rows: RaterRows) -> Array:
    """One number a system: the mean over aspects of its ratings, each aspect standardised over its rows."""
    scaled = []
    for aspect, means in rows.system_means().items():
        values = rows.human[aspect]
        spread = np.nanstd(values)
        scaled.append((means - np.nanmean(values)) / (spread if spread > 0 else 1.0))
    stacked = np.stack(scaled)
    there = ~np.isnan(stacked).all(axis=0)
    order = np.full(stacked.shape[1], np.nan)
    order[there] = np.nanmean(stacked[:, there], axis=0)
    return order


def _by_rule(rows: RaterRows, every: list[tuple[int, int]], share: float) -> SystemPairs:
    if not 0 < share <= 0.5:
        raise NlgaugeError(f"share must lie above 0 and up to 0.5; found {share}")
    order = human_order(rows)
    known = [(a, b) for a, b in every if not np.isnan(order[a] - order[b])]
    known.sort(key=lambda pair: -abs(order[pair[0]] - order[pair[1]]))
    if len(known) < 2:
        return SystemPairs({ALL: known}, "the only pair of rated systems")
    size = max(1, round(len(known) * share))
    groups = {EASY: _thinned(known[:size]), HARD: _thinned(known[-size:])}
    what = "the mean rating" if len(rows.human) == 1 else "the mean of the standardised aspects"
    fewer = f"; of each group {MAX_PAIRS:,} pairs, evenly spaced in that order" if size > MAX_PAIRS else ""
    return SystemPairs(
        groups,
        f"of {len(known)} pairs of systems, easy: the {size} that people hold furthest apart, hard: the {size} closest "
        f"(difference in {what}){fewer}",
    )


def _thinned(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """At most `MAX_PAIRS` of the pairs, evenly spaced: all pairs of 500 systems would be 124,750 tests."""
    if len(pairs) <= MAX_PAIRS:
        return pairs
    return [pairs[i] for i in np.linspace(0, len(pairs) - 1, MAX_PAIRS).round().astype(int)]


def _places(pair: Sequence[str], rows: RaterRows) -> tuple[int, int]:
    if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
        raise NlgaugeError(f"a pair is two different systems; found {pair!r}")
    systems = list(rows.panel.systems)
    for name in pair:
        if name in rows.panel.people:
            raise NameUnknown(
                f"'{name}' is written by people and left out; keep it with {option('keep_people', True)}."
            )
        if name not in systems:
            raise NameUnknown(
                f"{rows.panel.name}: no system '{name}'.{did_you_mean(name, systems)} Systems: {', '.join(systems)}."
            )
    return systems.index(pair[0]), systems.index(pair[1])


def _sizes(groups: Mapping[str, Sequence[object]]) -> str:
    return ", ".join(f"{len(some)} {name}" for name, some in groups.items())


def averaged(rows: list[Row], per: str, values: Sequence[str]) -> list[Row]:
    """Means over pairs, and over the metrics of a family: rows with the same family (and metric) and group of pairs."""
    found: list[Row] = []
    for mine in grouped(rows, "family" if per == "family" else "metric", "pairs").values():
        first = mine[0]
        row: Row = {"metric": first["metric"]} if per == "metric" else {"metrics": len(grouped(mine, "metric"))}
        row |= {"family": first["family"], "pairs": first["pairs"], "count": len(grouped(mine, "first", "second"))}
        row |= {v: known_mean([r[v] for r in mine]) for v in values}
        if "p" in first:
            row["clear"] = known_mean([float(r["p"] < 0.05) for r in mine if not np.isnan(r["p"])])
        found.append(row)
    return found
