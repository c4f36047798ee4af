"""Panel: people's means, raters, ties and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.errors import DataError, NameUnknown


def rows(ratings: dict[tuple[str, int, str], float]) -> list[dict[str, object]]:
    return [{"system": s, "input": i, "rater": r, "quality": v, "bleu": i / 7} for (s, i, r), v in ratings.items()]


def test_rater_axis_follows_rater_names_and_the_mean_skips_missing_raters() -> None:
    panel = ng.load(
        rows({("A", 1, "x"): 1, ("A", 1, "y"): 2, ("A", 2, "y"): 5, ("B", 1, "x"): 3, ("B", 2, "x"): 4})
    ).panel()
    assert panel.rater_names == ("x", "y")
    nan = np.nan
    np.testing.assert_array_equal(panel.raters["quality"], [[[1, nan], [3, 4]], [[2, 5], [nan, nan]]])
    np.testing.assert_array_equal(panel.human, [[1.5, 5], [3, 4]])


def test_means_of_the_same_ratings_stay_tied_whatever_the_order() -> None:
    given = [0.1, 0.2, 0.3]
    ratings = {("A", 1, f"r{k}"): v for k, v in enumerate(given)} | {
        ("B", 1, f"r{k}"): v for k, v in enumerate(given[::-1])
    }
    assert np.mean(given) != np.mean(given[::-1])
    panel = ng.load(rows(ratings)).panel()
    assert panel.human[0, 0] == panel.human[1, 0]


def test_the_median_can_be_asked_for() -> None:
    data = ng.load(rows({("A", 1, "x"): 1, ("A", 1, "y"): 2, ("A", 1, "z"): 6, ("B", 1, "x"): 3}))
    assert data.panel(aggregate="median").human[0, 0] == 2
    assert data.panel().human[0, 0] == 3


def test_an_average_beside_single_ratings_is_used_only_where_there_are_none() -> None:
    records = [
        {"system": "A", "input": 1, "human": {"quality": 9.0}, "ratings": [{"quality": 1}, {"quality": 2}]},
        {"system": "B", "input": 1, "human": {"quality": 4.0}, "ratings": None},
    ]
    panel = ng.load(records).panel()
    np.testing.assert_array_equal(panel.human, [[1.5], [4.0]])
    np.testing.assert_array_equal(panel.raters["quality"][:, :, 0], [[1, np.nan], [2, np.nan]])


def test_thousands_of_workers_become_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.data.panel.MAX_CELLS", 10)
    ratings = {(s, i, f"w{k}{s}{i}"): k for s in "AB" for i in (1, 2) for k in (1, 2, 3)}
    panel = ng.load(rows(ratings)).panel()
    assert panel.raters["quality"].shape == (3, 2, 2)
    assert not panel.persons
    np.testing.assert_array_equal(panel.human, [[2, 2], [2, 2]])


def test_wrong_names_and_missing_scores_are_said_in_one_line() -> None:
    data = ng.load([{"system": s, "input": 1, "quality": 1, "fluency": 2} for s in "AB"])
    with pytest.raises(NameUnknown, match=r"no aspect 'fluencey'\. Did you mean 'fluency'"):
        data.panel("fluencey")
    with pytest.raises(NameUnknown, match=r"Choose one\. Aspects: quality, fluency"):
        data.panel()
    with pytest.raises(DataError, match="no metric scores found"):
        data.panel("quality").correlate()
    with pytest.raises(DataError, match="no human ratings found"):
        ng.load([{"system": s, "input": 1, "bleu": 1} for s in "AB"]).panel()


def test_a_crowd_too_large_to_be_kept_apart_is_not_called_nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.data.panel.MAX_CELLS", 10)
    rows = [
        {"system": s, "input": i, "rater": f"w{i}{k}", "quality": (i + k) % 3, "bleu": i}
        for s in "ab"
        for i in range(3)
        for k in range(2)
    ]
    panel = ng.load(rows).panel()
    assert not panel.persons
    assert panel.nameless == "there are too many annotators (6)"
    assert "no identity" not in str([row["reason"] for row in panel.analyze("agreement", draws=5)])
