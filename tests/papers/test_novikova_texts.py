"""Characteristics and ensembles: what needs texts, references or domains."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, two_domains
from scipy import stats

from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge_papers.novikova2017.characteristics import characteristics, cut_of, describe
from nlgauge_papers.novikova2017.ensemble import ensemble, fit


def short_and_long(n: int = 120) -> Dataset:
    """The metric follows people on outputs of two words only; others have nine."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        for s in "AB":
            words = 2 if rng.random() < 0.5 else 9
            q = float(rng.integers(1, 6))
            rows.append(
                {
                    "system": s,
                    "input": str(i),
                    "output": "w " * words,
                    "source": "one source",
                    "references": ["a b", "c d e f"][: 1 + i % 2],
                    "year": 2000 + i,
                    "quality": q,
                    "m": q + rng.normal(0, 0.3 if words == 2 else 30),
                }
            )
    return load(rows, human=["quality"], metrics=["m"])


def test_characteristics_are_counted_from_the_texts() -> None:
    found = describe(short_and_long(), ["year"]).row(2, named=True)
    assert (found["reference words"], found["references"], found["source words"], found["year"]) == (
        3.0,
        2.0,
        2.0,
        2001.0,
    )


def test_the_half_on_which_a_metric_works_is_found() -> None:
    rows = by(characteristics(short_and_long(), numeric_columns="year", draws=200), "characteristic")
    row = rows["output words"]
    assert row["cut"] == 9.0 and row["significant"] and row["p_check"] == pytest.approx(1 / 201)
    assert row["value_low"] > 0.9 > abs(row["value_high"])
    assert not rows["references"]["significant"] and not rows["year"]["significant"]
    assert "source words" not in rows  # the same for all outputs


def test_constant_characteristics_and_unknown_columns_are_named() -> None:
    table = characteristics(short_and_long())
    assert any("the same for all outputs: source words" in note for note in table.notes)
    with pytest.raises(NameUnknown, match=r"no numeric column 'yeer'\. Did you mean 'year'"):
        characteristics(short_and_long(), numeric_columns="yeer")


def test_a_cut_leaves_no_half_empty() -> None:
    assert cut_of(np.array([1.0, 2.0, 3.0, 4.0])) == 2.5
    assert cut_of(np.array([1.0, 1.0, 1.0, 2.0])) == 2.0
    assert cut_of(np.array([1.0, 2.0, 2.0, 2.0])) == 2.0


def test_ridge_weights_are_those_of_sklearn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    rng = np.random.default_rng(0)
    x, y = rng.normal(2, 3, (50, 4)), rng.normal(size=50)
    scaled = preprocessing.StandardScaler().fit_transform(x)
    assert fit(x, y, 2.0)[2] == pytest.approx(linear.Ridge(alpha=2.0).fit(scaled, y).coef_)


def domains(turned: bool, n: int = 150) -> Dataset:
    """Quality is the sum of two traits, one metric each; in `turned` data the second trait counts the other way in
    chat.
    """
    rng = np.random.default_rng(1)
    rows = []
    for domain in ("news", "chat"):
        for i in range(n):
            a, b = rng.normal(size=2)
            sign = -1 if turned and domain == "chat" else 1
            rows.append(
                {
                    "system": "AB"[i % 2],
                    "input": f"{domain}{i // 2}",
                    "domain": domain,
                    "q": a + sign * b + rng.normal(0, 0.3),
                    "one": a,
                    "two": b,
                }
            )
    return load(rows, human=["q"], metrics=["one", "two"])


def test_an_ensemble_beats_each_metric_and_carries_to_a_like_domain() -> None:
    rows = by(ensemble(domains(turned=False), by="domain"), "train", "test")
    for key in (("news", "news"), ("news", "chat"), ("chat", "news")):
        assert rows[key]["gain"] > 0.15 and rows[key]["p"] < 0.001
    assert rows["news", "news"]["setting"] == "in-domain"


def test_an_ensemble_does_not_carry_to_a_domain_where_a_trait_counts_the_other_way() -> None:
    rows = by(ensemble(domains(turned=True), by="domain"), "train", "test")
    assert rows["news", "news"]["value"] > 0.85
    assert rows["news", "chat"]["value"] < 0.3


def test_pure_chance_scores_nothing_in_domain() -> None:
    """Folds must not leak: with 12 random families and few outputs, learning and testing on the same ones would look
    good.
    """
    rng = np.random.default_rng(0)
    rows = [
        {"system": "AB"[i % 2], "input": str(i // 2), "q": rng.normal(), **{f"m{k}": rng.normal() for k in range(12)}}
        for i in range(60)
    ]
    table = ensemble(load(rows, human=["q"], metrics=[f"m{k}" for k in range(12)]))
    [row] = table.rows
    assert row["value"] < 0.2
    fitted = fit(*_ranks(rows), 1.0)
    x, y = _ranks(rows)
    assert stats.spearmanr((x - fitted[0]) / fitted[1] @ fitted[2], y).statistic > 0.4  # what leaking would give
    assert any("one part only" in note for note in table.notes)


def _ranks(rows: list[dict[str, float]]) -> tuple[np.ndarray, np.ndarray]:
    x = np.array([[r[f"m{k}"] for k in range(12)] for r in rows])
    return stats.rankdata(x, axis=0) / len(x), stats.rankdata([r["q"] for r in rows]) / len(x)


def test_families_are_averaged_and_a_family_that_a_domain_lacks_is_left_out() -> None:
    data = domains(turned=False)
    table = ensemble(data, by="domain", families={"both": ["one", "two"]})
    assert {r["families"] for r in table} == {1}
    chat = data.samples["domain"].to_numpy() == "chat"
    gone = data.with_scores({"three": [None if c else 1.0 * i for i, c in enumerate(chat)]})
    table = ensemble(gone, by="domain")
    assert {r["families"] for r in table} == {2}
    assert any("three" in note for note in table.notes)


def test_too_little_to_learn_from_is_said() -> None:
    with pytest.raises(NeedsMissing, match="no part has 20 outputs"):
        ensemble(two_domains(inputs=2))


def test_a_family_of_the_user_holds_what_they_named_and_nothing_else() -> None:
    families = {"mine": ["good", "back"]}
    named = ensemble(two_domains(), families=families, by="domain")
    assert named.rows == ensemble(two_domains(), metrics=["good", "back"], families=families, by="domain").rows
    assert any("no family contains them: flat" in note for note in named.notes)
