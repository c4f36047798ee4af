"""Strengths beside those of other packages, where they are installed (extra `bench`)."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.ranking.ballots import Ballots
from nlgauge.stats.ranking.bradley_terry import fit

SYSTEMS = 7


def votes(seed: int) -> Ballots:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, SYSTEMS, 900)
    b = (a + rng.integers(1, SYSTEMS, 900)) % SYSTEMS
    p = 1 / (1 + np.exp(0.3 * (a - b)))
    outcome = np.where(rng.random(900) < 0.2, 2, (rng.random(900) > p).astype(int))
    return Ballots(a, b, outcome, np.arange(900))


@pytest.mark.parametrize("seed", range(3))
def test_strengths_with_half_ties_equal_evalica(seed: int) -> None:
    evalica = pytest.importorskip("evalica")
    v = votes(seed)
    winner = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw]
    theirs = evalica.bradley_terry(
        [f"s{i}" for i in v.first],
        [f"s{i}" for i in v.second],
        [winner[o] for o in v.outcome],
        tolerance=1e-14,
        limit=100_000,
    )
    scores = np.log(theirs.scores.sort_index().to_numpy())
    assert fit(v, SYSTEMS, "half").theta == pytest.approx(scores - scores.mean(), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_strengths_without_ties_equal_choix(seed: int) -> None:
    choix = pytest.importorskip("choix")
    v = votes(seed)
    pairs = zip(v.first, v.second, v.outcome, strict=True)
    won = [(int(a), int(b)) if o == 0 else (int(b), int(a)) for a, b, o in pairs if o != 2]
    theirs = choix.opt_pairwise(SYSTEMS, won, alpha=0, method="Newton-CG", tol=1e-12)
    assert fit(v, SYSTEMS, "drop").theta == pytest.approx(theirs - theirs.mean(), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_place_and_its_errors_equal_a_logistic_regression(seed: int) -> None:
    sm = pytest.importorskip("statsmodels.api")
    v = votes(seed)
    v = v.part(v.outcome != 2)
    design = np.zeros((len(v), SYSTEMS))
    design[np.arange(len(v)), v.first] += 1
    design[np.arange(len(v)), v.second] -= 1
    design[:, 0] = 1.0  # the first system is 0; the column is the place
    unit = np.arange(len(v)) // 3
    model = sm.Logit((v.outcome == 0).astype(float), design)
    theirs = model.fit(disp=0, tol=1e-12, method="newton", cov_type="cluster", cov_kwds={"groups": unit})
    made = fit(Ballots(v.first, v.second, v.outcome, unit), SYSTEMS, "drop", position=True)
    assert made.theta[1:] - made.theta[0] == pytest.approx(theirs.params[1:], abs=1e-6)
    assert made.effects == pytest.approx(theirs.params[:1], abs=1e-6)
    groups = int(unit.max()) + 1
    ours = np.sqrt(made.covariance[SYSTEMS, SYSTEMS])
    wide = np.sqrt((len(v) - 1) / (len(v) - SYSTEMS))  # statsmodels widens by the number of parameters, too
    assert ours == pytest.approx(theirs.bse[0] / wide, rel=1e-3), groups
