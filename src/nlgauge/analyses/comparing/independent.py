"""Comparison of a metric's agreement between parts of the data (tests for independent correlations)."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted, flipped_words
from nlgauge.analyses.parts import halves_of
from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.options import option
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.tests.corrections import holm
from nlgauge.stats.tests.fisher import fisher_test
from nlgauge.stats.tests.independent_parts import dealt_test
from nlgauge.stats.tests.part_tests import part_tests
from nlgauge.stats.tests.split_panels import Outputs, difference_words, single
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array


@analysis(
    "independent",
    trials="mean",
    paper="novikova2017",
    takes="groups",
    question="Does a metric agree better with human ratings on one part of the data than on another?",
)
def independent(
    choice: Choice,
    *,
    measure: Named = "global/spearman",
    draws: int = 500,
    level: float = 0.05,
    outputs: Outputs = "clustered",
    progress: Progress | None = None,
) -> Table:
    """Test whether a metric agrees better with human ratings on one part of the data than on another.

    To compare two metrics on the same outputs, use `compare`.

    Parameters
    ----------
    measure : str or Measure, default 'global/spearman'
        One correlation over outputs: global/pearson, global/spearman or global/kendall.
    draws : int, default 500
        Number of permutations of the check.

    Returns
    -------
    Table
        One row per aspect, pair of parts (values of the column `by`) and metric: both correlations, their
        difference, p, p of the permutation check, and p after Holm's correction.

    Notes
    -----
    The permutation check standardizes (or ranks) each part separately, assigns the outputs to the parts at random, and
    counts how often the difference is at least as large.
    """
    data, seed = choice.data, choice.seed
    chosen = single(measure, "independent")
    column = next(iter(choice.columns), "")
    if not column:
        raise NlgaugeError(f"name the column that splits the data with {option('by')}.")
    parts = replace(choice, by=[column]).parts
    if len(parts) < 2:
        raise NeedsMissing(f"column '{column}' has a single value; two or more are required.", code="constant")
    rows: list[Row] = []
    jobs = [(aspect, a, b) for aspect in choice.aspects or data.aspects for a, b in combinations(parts, 2)]
    for aspect, a, b in counted(jobs, progress):
        one, two = a.panel(aspect, canonical=True), b.panel(aspect, canonical=True)
        rows += _pair(one, two, (a.name, b.name), chosen, draws, outputs, seed)
    for row, p in zip(rows, holm([r["p"] for r in rows]).tolist(), strict=True):
        row["p_corrected"], row["significant"] = p, bool(p < level)
    return Table(
        title=Title(data.name, f"{chosen} on parts of the data, by {column}"),
        rows=rows,
        shown=[
            "metric",
            "aspect",
            "first",
            "second",
            "value_first",
            "value_second",
            "n_first",
            "n_second",
            "difference",
            "p",
            "p_check",
            "p_corrected",
            "significant",
        ],
        definitions={str(chosen): chosen.definition},
        method=f"p: {difference_words(outputs)}. p check: permutation of outputs, assumed to be independent, after "
        f"standardizing or ranking within each part, {draws} permutations, seed {seed}; Holm's correction over "
        f"{len(rows)} "
        "tests.",
        notes=flipped_words(data.lower & {r["metric"] for r in rows}),
        signature=f"by:{column}|measure:{chosen}|draws:{draws}|seed:{seed}",
    )


def _pair(
    a: Panel, b: Panel, parts: tuple[str, str], measure: Measure, draws: int, outputs: Outputs, seed: int
) -> list[Row]:
    rows: list[Row] = []
    halves = halves_of(a, b)
    shared = outputs == "clustered" and halves.clustered
    tests = part_tests(*halves, measure, absolute=False) if shared else None
    for metric, x, y in zip(a.names, a.oriented(), b.oriented(), strict=True):
        one, two = _shared(x, a.human), _shared(y, b.human)
        r1, r2 = _value(one, measure), _value(two, measure)
        n1, n2 = one.shape[1], two.shape[1]
        independent_p = fisher_test(r1, n1, r2, n2, coefficient=measure.coefficient)
        p = float(independent_p if tests is None else tests[len(rows)])
        # One seed for all: a row does not depend on the other rows or their order.
        check = _check(one, two, measure, r1 - r2, draws, np.random.default_rng(np.random.SeedSequence(seed)))
        rows.append(
            {
                "metric": metric,
                "aspect": a.aspect,
                "measure": str(measure),
                "first": parts[0],
                "second": parts[1],
                "value_first": r1,
                "value_second": r2,
                "n_first": n1,
                "n_second": n2,
                "difference": r1 - r2,
                "p": p,
                "p_check": check,
            }
        )
    return rows


def _shared(x: Array, z: Array) -> Array:
    both = np.isfinite(x) & np.isfinite(z)
    return np.stack([x[both], z[both]])


def _value(part: Array, measure: Measure) -> float:
    return float(evaluate(part[:1, None], part[1][None], [measure]).value[0, 0]) if part.shape[1] else float("nan")


def _check(one: Array, two: Array, measure: Measure, seen: float, draws: int, rng: np.random.Generator) -> float:
    if np.isnan(seen) or draws < 1:
        return float("nan")
    if measure.coefficient != "kendall":
        parts = ((one[0], one[1]), (two[0], two[1]))
        return dealt_test(*parts, ranks=measure.coefficient == "spearman", draws=draws, rng=rng)
    one, two = sorted((one, two), key=lambda part: (part.shape[1], part[1].tobytes(), part[0].tobytes()))
    pooled = np.concatenate([(average_ranks(part, axis=1) - 0.5) / part.shape[1] for part in (one, two)], axis=1)
    n, hits, known = one.shape[1], 0, 0
    for _ in range(draws):
        dealt = pooled[:, rng.permutation(pooled.shape[1])]
        drawn = _value(dealt[:, :n], measure) - _value(dealt[:, n:], measure)
        if not np.isnan(drawn):
            known += 1
            hits += abs(drawn) >= abs(seen) - 1e-10
    return (hits + 1) / (known + 1)
