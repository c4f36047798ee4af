"""The same data told in another way give the same results, for every analysis through the public door.

Splitting a file in two is no relation here: several files are several data sets (`nlgauge analyze correlate a.csv b.csv`), never
one.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable

import pytest
from metamorphic_data import (
    Given,
    doubled,
    facts,
    given,
    in_any_direction,
    other_unit,
    renamed_inputs,
    renamed_metrics,
    renamed_raters,
    renamed_systems,
    shuffled_columns,
    shuffled_rows,
    table_of,
    turned,
    with_constant,
)

from nlgauge import registry

ANALYSES = registry.names("analysis")


@functools.cache
def original(name: str) -> tuple[str, ...]:
    return tuple(facts(table_of(name)))


@functools.cache
def relative_of(change: Callable[[Given], Given]) -> Given:
    return change(given())


def same(name: str, relative: Given) -> None:
    assert tuple(facts(relative.table(name), relative.names)) == original(name)


ORDER_AND_NAMES = [shuffled_rows, shuffled_columns, renamed_systems, renamed_inputs, renamed_raters, renamed_metrics]


@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize("change", ORDER_AND_NAMES, ids=lambda f: f.__name__)
def test_order_and_names_change_nothing(name, change):
    same(name, relative_of(change))


# --- a lower-is-better metric, negated and no longer called so ---

OWN_SIGN = "shows the scores themselves, so their numbers change their sign and nothing else"
TURNED = {
    "aspect-preference": OWN_SIGN,
    "delegate": OWN_SIGN,
    "drift": OWN_SIGN,
    "judges": OWN_SIGN,  # the correlation of its scores with the length
    "parameters": OWN_SIGN,
    "split": "marks the metric with an arrow",
    "system-means": OWN_SIGN,
    "threshold": OWN_SIGN,
}


@pytest.mark.parametrize("name", ANALYSES)
def test_turning_a_metric_together_with_its_direction_changes_no_conclusion(name):
    found = facts(relative_of(turned).table(name))
    if name in TURNED:
        assert in_any_direction(found, "wobble") == in_any_direction(list(original(name)), "wobble")
    else:
        assert tuple(found) == original(name)


# --- another unit of a metric ---

UNIT = {
    "aspect-preference": "shows the means of the scores themselves",
    "confusion": "counts the scores themselves, as ratings",
    "delegate": "shows a score itself",
    "distributions": "the values of a judge are those that annotators gave",
    "drift": "shows the means of the scores themselves, and their change",
    "parameters": "shows mean and spread of the scores themselves",
    "rubric": "the value from which on the judge passes is on the scale of the scores",
    "slices": "the value from which on the judge passes is on the scale of the scores",
    "steps": "the value from which on the judge passes is on the scale of the scores",
    "system-means": "shows the means of the scores themselves",
    "threshold": "shows a score itself",
    "verdicts": "the value from which on the judge passes is on the scale of the scores",
}


@pytest.mark.parametrize("name", [n for n in ANALYSES if n not in UNIT])
def test_another_unit_of_a_metric_changes_nothing(name):
    same(name, relative_of(other_unit))


# --- one metric more: a copy of another, or a constant ---

SET = "speaks of the metrics as a set"
# Columns that may change, and why; None: every row speaks of the set.
TWICE: dict[str, tuple[set[str] | None, str]] = {
    "best-of": ({"low", "best", "contender"}, "pays for the choice among all"),
    "chance": ({"metrics_above", "of"}, "counts metrics"),
    "complementarity": ({"to_metrics", "nearest", "nearest_at", "farthest", "farthest_at"}, SET),
    "consensus": ({"metrics_borda", "metrics_kemeny", "metrics_share"}, "the copy votes too"),
    "consensus-distance": ({"from_metrics"}, "the copy votes too"),
    "delegate": (None, "splits delta over the metrics and takes their mean"),
    "ensemble": (None, SET),
    "inter-metric": ({"cluster"}, SET),
    "jury": (None, SET),
    "jury-errors": (None, SET),
    "measures": (None, SET),
    "portfolio": (None, SET),
    "predictability": (None, SET),
    "quality-bins": ({"p_corrected"}, "corrects over the metrics"),
    "compare": ({"rank", "rank_high", "p_to_next", "no_different_from"}, SET),
    "compare-pairs": ({"p_corrected", "significant"}, "corrects over the pairs"),
    "slices": ({"q", "found"}, "corrects over the slices of all judges"),
    "stability": (None, SET),
    "transport": (None, "takes all metrics as one prediction"),
    "threshold": (
        {"low", "high", "advantage_low", "advantage_high"},
        "intervals hold for all judges together; their level is drawn",
    ),
}
FLAT: dict[str, tuple[set[str] | None, str]] = {
    "delegate": (None, "splits delta over the metrics and takes their mean"),
    "chance": ({"metrics_above", "of"}, "counts metrics"),
    "consensus": ({"metrics_share"}, "a constant metric's votes are ties"),
    "inter-metric": ({"cluster"}, "numbers the clusters"),
    "portfolio": ({"size"}, "counts metrics"),
    "predictability": ({"features"}, "counts metrics"),
    "compare": ({"rank_high", "no_different_from", "p_to_next"}, "a constant is chance, and has a rank"),
    "compare-pairs": ({"p_corrected", "significant"}, "corrects over the pairs"),
    "slices": ({"q", "found"}, "corrects over the slices of all judges"),
    "transport": (None, "takes all metrics as one prediction"),
}


@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize(
    ("change", "new", "known"), [(doubled, "twin", TWICE), (with_constant, "flat", FLAT)], ids=["doubled", "constant"]
)
def test_one_metric_more_changes_nothing_about_the_others(name, change, new, known):
    columns, _ = known.get(name, (set(), ""))
    more = relative_of(change).table(name)
    if columns is None:
        return
    found = [_without(row, columns, new) for row in facts(more)]
    assert sorted(row for row in found if row) == sorted(_without(row, columns, new) for row in original(name))


@pytest.mark.parametrize("name", ["correlate", "intervals", "quality-bins", "split", "ceiling"])
def test_a_constant_metric_has_no_value_where_a_correlation_is_shown(name):
    rows = [row for row in relative_of(with_constant).table(name).rows if row.get("metric") == "flat"]
    values = [row[c] for row in rows for c in ("value", "share") if c in row]
    assert values and all(math.isnan(v) for v in values)


@pytest.mark.parametrize("name", ["compare", "uses"])
def test_a_constant_metric_is_chance_where_pairs_are_counted(name):
    rows = [row for row in relative_of(with_constant).table(name).rows if row["metric"] == "flat"]
    assert rows and [row["value"] for row in rows] == pytest.approx([0.5] * len(rows), abs=1e-12)


def test_a_constant_metric_tells_no_levels_apart():
    rows = [row for row in relative_of(with_constant).table("discrimination").rows if row["metric"] == "flat"]
    assert rows and all(abs(row["value"]) < 1e-12 for row in rows)


def _without(row: str, columns: set[str], new: str) -> str:
    """The row without what may change; empty if it is a row of the new metric."""
    plain = {k: v for k, v in json.loads(row).items() if k not in columns and k != new}
    if any(isinstance(v, str) and new in v.split(" ") for v in plain.values()):
        return ""
    return json.dumps(plain, sort_keys=True)
