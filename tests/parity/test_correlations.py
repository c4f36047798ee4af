"""The 12 measures against scipy and nlpstats, on tables with ties, gaps and constant groups."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nlpstats.correlations.correlations import correlate as nlpstats_correlate
from scipy import stats

from nlgauge.stats.correlation.measure import TWELVE, Measure, evaluate, group_values

SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
    "tau-c": lambda a, b: stats.kendalltau(a, b, variant="c"),
}
MISSING = 99  # marks a missing cell in tables of whole numbers
MEASURES = (*TWELVE, *(Measure(g, "tau-c") for g in ("global", "input", "item", "system")))


@st.composite
def panels(draw):
    """A metric and people as tenths (whole numbers / 10): their means are often equal but not as floats."""
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    top = draw(st.sampled_from([1, 3, 12]))
    cells = st.integers(0, top)
    if draw(st.booleans()):
        cells = st.one_of(cells, cells, cells, st.just(MISSING))
    x, z = draw(arrays(int, shape, elements=cells)), draw(arrays(int, shape, elements=cells))
    if draw(st.booleans()):
        x[draw(st.integers(0, shape[0] - 1))] = 1
    if draw(st.booleans()):
        z[:, draw(st.integers(0, shape[1] - 1))] = 1
    return x, z


def as_floats(table):
    return np.where(table == MISSING, np.nan, table / 10)


def vectors(x, z, grouping):
    """The pairs of vectors of one grouping, as the definition says; system means are exact fractions."""
    there = (x != MISSING) & (z != MISSING)
    if grouping == "global":
        return [(x[there], z[there])]
    if grouping == "input":
        return [(x[there[:, j], j], z[there[:, j], j]) for j in range(x.shape[1])]
    if grouping == "item":
        return [(x[i, there[i]], z[i, there[i]]) for i in range(x.shape[0])]
    rows = [i for i in range(len(x)) if there[i].any()]
    means = [[float(Fraction(int(v[i, there[i]].sum()), int(there[i].sum()))) for i in rows] for v in (x, z)]
    return [(np.array(means[0]), np.array(means[1]))]


def by_scipy(a, b, coefficient):
    if len(a) < 2:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(SCIPY[coefficient](a, b)[0])


@given(panels())
def test_every_measure_equals_scipy_with_ties_gaps_and_constant_groups(panel):
    x, z = panel
    ours = evaluate(as_floats(x)[None], as_floats(z), MEASURES)
    for j, measure in enumerate(MEASURES):
        groups = vectors(x, z, measure.grouping)
        single = measure.grouping in ("global", "system")
        theirs = [by_scipy(a, b, measure.coefficient) for a, b in groups]
        if single and len(groups[0][0]) < 3:
            theirs = [math.nan]
        kept = [v for v in theirs if not math.isnan(v)]
        estimate = ours.at(0, j)
        assert (estimate.groups, estimate.dropped) == (len(kept), len(theirs) - len(kept)), measure
        assert (estimate.reason is None) == bool(kept), measure
        expected = np.mean(kept) if kept else math.nan
        assert estimate.value == pytest.approx(expected, abs=1e-12, nan_ok=True), measure
        by_group = group_values(as_floats(x)[None], as_floats(z), measure)[0]
        np.testing.assert_allclose(by_group, theirs, atol=1e-12, rtol=0, err_msg=str(measure))


@given(panels())
def test_n_is_the_number_of_cells_that_were_used(panel):
    x, z = panel
    for measure in TWELVE:
        estimate = measure(as_floats(x), as_floats(z))
        groups = vectors(x, z, measure.grouping)
        if measure.grouping == "system":
            used = int(((x != MISSING) & (z != MISSING)).sum()) if estimate.groups else 0
        else:
            kept = ~np.isnan(group_values(as_floats(x)[None], as_floats(z), measure)[0])
            used = sum(len(a) for (a, _), keep in zip(groups, kept, strict=True) if keep)
        assert estimate.n == used, measure


@pytest.mark.parametrize(("systems", "inputs", "levels"), [(16, 100, 13), (17, 60, 0), (60, 30, 5), (3, 300, 0)])
def test_big_groups_equal_scipy_too(systems, inputs, levels):
    rng = np.random.default_rng([systems, inputs])
    z = rng.normal(size=(systems, inputs)) + rng.normal(size=(systems, 1))
    x = np.stack([z + rng.normal(size=z.shape), rng.normal(size=z.shape), np.round(8 * z) / 8])  # eighths: exact sums
    if levels:
        z = np.round((z - z.min()) / (z.max() - z.min()) * (levels - 1))
    x[1][rng.random(z.shape) < 0.1] = np.nan
    ours = evaluate(x, z, MEASURES)
    for k in range(3):
        there = np.isfinite(x[k])
        for j, measure in enumerate(MEASURES):
            if measure.grouping == "global":
                groups = [(x[k][there], z[there])]
            elif measure.grouping == "input":
                groups = [(x[k][there[:, m], m], z[there[:, m], m]) for m in range(inputs)]
            elif measure.grouping == "item":
                groups = [(x[k][i, there[i]], z[i, there[i]]) for i in range(systems)]
            else:
                groups = [tuple(np.nanmean(np.where(there, v, np.nan), axis=1) for v in (x[k], z))]
            theirs = np.nanmean([by_scipy(a, b, measure.coefficient) for a, b in groups])
            assert ours.value[k, j] == pytest.approx(theirs, abs=1e-12), (k, measure)


@st.composite
def coinciding_panels(draw):
    """Whole numbers (exact means) with the same gaps on both sides, at least two cells in each column."""
    shape = draw(st.tuples(st.integers(3, 8), st.integers(1, 8)))
    x, z = (draw(arrays(float, shape, elements=st.integers(0, 4).map(float))) for _ in range(2))
    gaps = draw(arrays(bool, shape, elements=st.booleans()))
    gaps[:2] = False
    gaps[:, 0] = False
    x[gaps] = z[gaps] = np.nan
    return x, z


@given(coinciding_panels())
def test_global_input_and_system_measures_equal_nlpstats(panel):
    x, z = panel
    for measure in TWELVE:
        if measure.grouping == "item":
            continue  # nlpstats has no such level
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = float(nlpstats_correlate(x, z, measure.grouping, measure.coefficient))
        assert measure(x, z).value == pytest.approx(theirs, abs=1e-12, nan_ok=True), measure
