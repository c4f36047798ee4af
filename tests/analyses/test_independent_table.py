"""Correlations on different outputs: Fisher's z and its permutation check."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.analyses.comparing.independent import independent
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.errors import NeedsMissing, NlgaugeError


def data(good: float = 0.3, bad: float = 0.3, inputs: int = 60, shift: float = 0.0) -> Dataset:
    """Two domains in which the metric follows people with different noise; the second may be shifted."""
    rng = np.random.default_rng(0)
    rows = []
    for domain, noise, move in (("news", good, 0.0), ("chat", bad, shift)):
        for i in range(inputs):
            for s in "ABC":
                q = rng.normal()
                rows.append(
                    {
                        "system": s,
                        "input": f"{domain}{i}",
                        "domain": domain,
                        "quality": q + move,
                        "m": q + rng.normal(0, noise) + move,
                    }
                )
    return load(rows, human=["quality"], metrics=["m"])


def test_a_worked_case_by_scipy() -> None:
    set_ = data(0.3, 3.0)
    row = independent(set_, by="domain", measure="global/pearson", draws=100).rows[0]
    frame = (
        set_.samples.select("system", "input", "domain")
        .join(set_.scores, on=["system", "input"])
        .join(set_.ratings, on=["system", "input"])
    )
    r = [
        stats.pearsonr(*frame.filter(frame["domain"] == d).select("m", "value").to_numpy().T)[0]
        for d in ("news", "chat")
    ]
    z = (np.arctanh(r[0]) - np.arctanh(r[1])) / np.sqrt(2 / (180 - 3))
    assert (row["first"], row["second"]) == ("news", "chat")
    assert (row["value_first"], row["value_second"]) == pytest.approx(tuple(r))
    assert row["p"] == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert row["p_check"] == pytest.approx(1 / 101)
    assert row["significant"]
    assert (row["n_first"], row["n_second"]) == (180, 180)


@pytest.mark.parametrize("measure", ["global/pearson", "global/spearman", "global/kendall"])
def test_equal_parts_are_not_told_apart_even_when_one_is_shifted(measure: str) -> None:
    row = independent(data(1.0, 1.0, shift=50.0), by="domain", measure=measure, draws=100).rows[0]
    assert row["p"] > 0.05
    assert row["p_check"] > 0.05


def test_fisher_and_the_check_agree_on_the_whole() -> None:
    for noise in (0.5, 0.8, 1.2):
        row = independent(data(0.5, noise, inputs=40), by="domain", measure="global/pearson", draws=400).rows[0]
        assert row["p_check"] == pytest.approx(row["p"], abs=0.1)


def test_what_it_cannot_do_is_named() -> None:
    with pytest.raises(NlgaugeError, match="not a single correlation"):
        independent(data(), by="domain", measure="input/kendall")
    with pytest.raises(NlgaugeError, match="name the column"):
        independent(data())
    one = data()
    with pytest.raises(NeedsMissing, match="has a single value"):
        independent(one.where(one.samples.filter(one.samples["domain"] == "news")), by="domain")
