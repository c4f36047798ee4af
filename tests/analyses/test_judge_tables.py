"""Tables about judges: agreement, steadiness, length, fineness, position, confusion."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr
from sklearn.metrics import cohen_kappa_score

from nlgauge.analyses.judges.confusion import confusion
from nlgauge.analyses.judges.fineness import fineness
from nlgauge.analyses.judges.judges import judges, partial_spearman
from nlgauge.analyses.judges.position import position
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing
from nlgauge.stats import coarsen


def made(seed: int = 0, missing: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    systems, inputs = [f"s{i}" for i in range(5)], [f"i{j}" for j in range(20)]
    keys = [(s, i) for s in systems for i in inputs]
    people = rng.integers(1, 6, len(keys)).astype(float)
    draws = np.clip(people[None] + rng.integers(-1, 2, (3, len(keys))), 1, 5)
    words = rng.integers(3, 30, len(keys))
    samples = pl.DataFrame(
        {"system": [k[0] for k in keys], "input": [k[1] for k in keys], "output": ["w " * int(n) for n in words]}
    )
    ratings = pl.DataFrame(
        {
            "system": [k[0] for k in keys],
            "input": [k[1] for k in keys],
            "aspect": "quality",
            "rater": None,
            "value": people,
        },
        schema=Dataset.RATINGS,
    )
    mean = draws.mean(axis=0)
    if missing:
        mean[:7] = np.nan
    scores = samples.select("system", "input").with_columns(
        pl.Series("judge", mean).fill_nan(None),
        *(pl.Series(f"judge#{k + 1}", draws[k]) for k in range(3)),
        pl.Series("len", words.astype(float)),
    )
    return Dataset.of("made", samples, ratings=ratings, scores=scores)


def facts(data: Dataset, judge: str = "judge") -> dict[str, float]:
    return {r["quantity"]: r["value"] for r in judges(data) if r["metric"] == judge}


def test_agreement_kappa_bias_and_length_equal_other_peoples_code() -> None:
    data = made()
    found = facts(data)
    panel = data.panel()
    x, z, size = panel.metrics["judge"].ravel(), panel.human.ravel(), panel.metrics["len"].ravel()
    assert found["global/pearson"] == pytest.approx(pearsonr(x, z).statistic)
    assert found["global/spearman"] == pytest.approx(spearmanr(x, z).statistic)
    per_input = [kendalltau(panel.metrics["judge"][:, j], panel.human[:, j]).statistic for j in range(20)]
    assert found["input/kendall"] == pytest.approx(np.nanmean(per_input))
    rounded = np.floor(x + 0.5)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(rounded, z, weights="quadratic"))
    assert found["exact"] == pytest.approx((rounded == z).mean())
    assert found["bias"] == pytest.approx(x.mean() - z.mean())
    assert found["length"] == pytest.approx(spearmanr(x, size).statistic)
    # partial correlation: of what a line through the third leaves of each
    rx, ry, rz = (rankdata(v) for v in (x, size, z))
    left = [v - np.polyval(np.polyfit(rz, v, 1), rz) for v in (rx, ry)]
    assert found["length|human"] == pytest.approx(pearsonr(*left).statistic)


def test_draws_are_no_judges_of_their_own_and_tell_how_steady_it_is() -> None:
    table = judges(made())
    assert {r["metric"] for r in table} == {"judge", "len"}
    found = facts(made())
    draws = np.stack([made().panel().metrics[f"judge#{k}"].ravel() for k in (1, 2, 3)])
    assert found["spread"] == pytest.approx(draws.std(axis=0, ddof=1).mean())
    between = 3 * draws.mean(axis=0).var(ddof=1)
    within = draws.var(axis=0, ddof=1).mean()
    assert found["consistency"] == pytest.approx((between - within) / (between + 2 * within))


def test_unscored_outputs_are_counted_and_left_out() -> None:
    table = judges(made(missing=True))
    assert facts(made(missing=True))["unscored"] == 7
    assert any("7 rated outputs without a score" in note for note in table.notes)


def test_another_scale_has_no_kappa() -> None:
    data = made()
    big = data.with_scores(data.scores.select("system", "input", (pl.col("judge") * 20).alias("percent")))
    assert "kappa" not in facts(big, "percent") or np.isnan(facts(big, "percent")["kappa"])


def test_no_judge_is_said() -> None:
    with pytest.raises(NeedsMissing, match=r"nlgauge\.judge"):
        judges(made().only_metrics([]))


def test_partial_correlation_of_a_constant_is_not_a_number() -> None:
    assert np.isnan(partial_spearman(np.ones(9), np.arange(9.0), np.arange(9.0))).all()


def test_one_draw_is_the_mean_over_draws_and_levels_are_cut() -> None:
    panel = made().panel()
    rows = list(fineness(panel, measures=["global/kendall"], levels=[2]))
    at = {(r["metric"], r["version"]): r for r in rows}
    single = [kendalltau(panel.metrics[f"judge#{k}"].ravel(), panel.human.ravel()).statistic for k in (1, 2, 3)]
    assert at["judge", "one draw"]["value"] == pytest.approx(np.mean(single))
    assert ("len", "one draw") not in at
    assert at["judge", "2 levels"]["unique"] == 2
    assert (at["judge", "2 levels"]["levels"], at["judge", "original"]["levels"]) == (2, None)
    cut = coarsen(panel.metrics["judge"], 2).ravel()
    assert at["judge", "2 levels"]["value"] == pytest.approx(kendalltau(cut, panel.human.ravel()).statistic)


def test_cutting_twice_is_cutting_once() -> None:
    rng = np.random.default_rng(3)
    fine = rng.random((6, 50))
    assert np.array_equal(coarsen(coarsen(fine, 4), 4), coarsen(fine, 4))


def votes(rows: list[tuple[str, str, str, str]]) -> Dataset:
    frame = pl.DataFrame(
        [(i, a, b, "quality", "judge", p) for i, a, b, p in rows], schema=Dataset.COMPARISONS, orient="row"
    )
    names = sorted({s for r in rows for s in r[1:3]})
    inputs = sorted({r[0] for r in rows})
    samples = pl.DataFrame([(s, i) for s in names for i in inputs], schema=["system", "input"], orient="row")
    return Dataset.of("votes", samples, comparisons=frame)


def test_position_is_counted_by_hand() -> None:
    data = votes(
        [
            ("1", "a", "b", "first"),
            ("1", "b", "a", "first"),
            ("2", "a", "b", "first"),
            ("2", "b", "a", "second"),
            ("3", "a", "b", "tie"),
        ]
    )
    (row,) = position(data)
    assert (row["choices"], row["ties"], row["first"]) == (5, 1, 0.75)
    assert (row["both_orders"], row["same"]) == (2, 0.5)


def test_no_choices_is_said() -> None:
    with pytest.raises(NeedsMissing, match="pairwise"):
        position(made())


def test_confusion_counts_every_output_once() -> None:
    table = confusion(made().panel(), judge="judge")
    assert sum(r["n"] for r in table) == 100
    at = {(r["human"], r["judge"]): r["n"] for r in table}
    panel = made().panel()
    both = (panel.human == 3) & (np.floor(panel.metrics["judge"] + 0.5) == 4)
    assert at[3, 4] == both.sum()
    with pytest.raises(NeedsMissing, match="judge 'x' not found"):
        confusion(panel, judge="x")
