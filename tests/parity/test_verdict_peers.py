"""Figures of verdicts beside the small packages that answer the same file, where the definitions agree
(docs/verdicts.md says where they do not)."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.agreement.two_by_two import Figure, verdict_figures

NEAR = 1e-12
WORLDS = [(n, p) for n in (20, 155, 2000) for p in (0.1, 0.6, 0.9)]


def rows(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([n, int(100 * p)])
    people = rng.random(n) < p
    people[:2] = True, False
    judge = np.where(rng.random(n) < 0.8, people, ~people)
    judge[:2] = True, False
    return people, judge


def with_wilson(people: np.ndarray, judge: np.ndarray) -> dict[str, Figure]:
    return verdict_figures(people, judge, kind="wilson")


@pytest.mark.parametrize(("n", "p"), WORLDS)
def test_shares_and_wilson_intervals_equal_truescore(n: int, p: float) -> None:
    truescore = pytest.importorskip("truescore")
    people, judge = rows(n, p)
    theirs = truescore.judge_agreement(judge.astype(int), people.astype(int), n_bootstrap=100)
    ours = with_wilson(people, judge)
    pairs = [
        ("agreement", theirs.accuracy),
        ("pass_recall", theirs.sensitivity),
        ("fail_recall", theirs.specificity),
        ("pass_precision", theirs.precision),
    ]
    for name, their in pairs:
        assert ours[name].value == pytest.approx(their.point, abs=NEAR)
        if np.isfinite(ours[name].low):
            assert (ours[name].low, ours[name].high) == pytest.approx((their.low, their.high), abs=NEAR)
    assert ours["kappa"].value == pytest.approx(theirs.cohen_kappa.point, abs=NEAR)
    assert ours["human_pass_rate"].value == pytest.approx(theirs.gold_prevalence, abs=NEAR)


@pytest.mark.parametrize(("n", "p"), WORLDS)
def test_shares_equal_judgekeeper(n: int, p: float) -> None:
    metrics = pytest.importorskip("judgekeeper.metrics")
    people, judge = rows(n, p)
    words = [np.where(side, "pass", "fail").tolist() for side in (people, judge)]
    theirs = metrics.agreement(*words, "pass", "fail")
    ours = with_wilson(people, judge)
    found = {
        "tpr": ours["pass_recall"],
        "tnr": ours["fail_recall"],
        "accuracy": ours["agreement"],
        "kappa": ours["kappa"],
    }
    assert {name: figure.value for name, figure in found.items()} == pytest.approx(
        {name: theirs[name] for name in found}, abs=NEAR
    )
    wilson = metrics.wilson(theirs["confusion"]["tp"] + theirs["confusion"]["tn"], n)
    # It takes 1.96 for the normal quantile 1.959964.
    assert (ours["agreement"].low, ours["agreement"].high) == pytest.approx((wilson["lo"], wilson["hi"]), abs=1e-5)


@pytest.mark.parametrize(("n", "p"), WORLDS)
def test_shares_equal_judgegate(n: int, p: float) -> None:
    kappa = pytest.importorskip("judgegate.stats.kappa")
    people, judge = rows(n, p)
    words = [np.where(side, "pass", "fail").tolist() for side in (people, judge)]
    theirs = kappa.measure_agreement(*words, ["fail", "pass"])
    ours = with_wilson(people, judge)
    assert ours["kappa"].value == pytest.approx(theirs.kappa, abs=NEAR)
    assert ours["agreement"].value == pytest.approx(theirs.observed_agreement, abs=NEAR)
    for verdict, found in zip(("fail", "pass"), theirs.per_class, strict=True):
        assert ours[f"{verdict}_recall"].value == pytest.approx(found.recall, abs=NEAR)
        assert ours[f"{verdict}_precision"].value == pytest.approx(found.precision, abs=NEAR)
