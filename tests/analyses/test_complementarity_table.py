"""The matrix of distances between rankings, with its blocks."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by
from aspect_data import data_of, made
from scipy.stats import kendalltau

from nlgauge.analyses.complementarity.complementarity import complementarity, matrix
from nlgauge.errors import NameUnknown, NeedsMissing


def test_the_matrix_is_that_of_scipy_input_by_input() -> None:
    data = made()
    panel = data.panel("a0")
    names, human, found = matrix(complementarity(data))
    assert names == ["H:a0", "H:a1", "good", "fair", "noise", "error"]
    assert human == [True, True, False, False, False, False]
    scores = [*panel.humans.values(), *panel.oriented()]
    for i in range(6):
        for j in range(i):
            taus = [kendalltau(scores[i][:, u], scores[j][:, u]).statistic for u in range(40)]
            assert found[i][j] == pytest.approx((1 - np.mean(taus)) / 2) == pytest.approx(found[j][i])


def test_a_metric_of_which_less_is_better_is_turned() -> None:
    rows = by(complementarity(made()), "metric")
    assert rows["error"]["to_human"] < 0.4 < rows["noise"]["to_human"]
    turned = data_of({"a": np.eye(4)[:, :3] + 1.0}, {"m": -np.eye(4)[:, :3]}, lower=["m"])
    assert by(complementarity(turned), "metric")["m"]["to_human"] == 0


def test_means_are_those_of_equation_4() -> None:
    table = complementarity(made())
    names, human, found = matrix(table)
    row = by(table, "metric")["good"]
    others = [found[2][k] for k in range(6) if k != 2 and not human[k]]
    assert row["to_metrics"] == pytest.approx(np.mean(others))
    assert row["to_human"] == pytest.approx(np.mean(found[2][:2]))
    assert row["nearest"] == names[int(np.argmin([d if k != 2 else 9 for k, d in enumerate(found[2])]))]


def test_all_rules_for_ties_are_reported_whichever_is_shown() -> None:
    for rule in ("tau-b", "inversions", "decided"):
        notes = complementarity(made(), distance=rule).notes  # type: ignore[arg-type]
        line = next(note for note in notes if note.startswith("human–human, mean of 1 pair:"))
        assert all(word in line for word in ("tau-b", "inversions", "decided"))


def test_one_aspect_two_systems_and_holes_are_said() -> None:
    assert any("there is one aspect" in n for n in complementarity(made(aspects=1)).notes)
    assert any("two systems" in n for n in complementarity(made(systems=2)).notes)
    table = complementarity(made(holes=0.2))
    assert any("are missing" in n for n in table.notes)
    assert all(0 <= row["to_human"] <= 1 for row in table)


def test_chosen_aspects_and_metrics_only() -> None:
    names, _, _ = matrix(complementarity(made(aspects=3), aspects=["a2"], metrics=["good"]))
    assert names == ["H:a2", "good"]


def test_one_system_has_nothing_to_rank() -> None:
    with pytest.raises(NeedsMissing, match="requires two systems"):
        complementarity(made(systems=1))
    with pytest.raises(NameUnknown, match="distance must be tau-b"):
        complementarity(made(), distance="tau")  # type: ignore[arg-type]


def test_a_metric_named_like_a_column_does_not_hide_it() -> None:
    table = complementarity(
        data_of({"a": np.random.default_rng(0).random((3, 5))}, {"kind": np.random.default_rng(1).random((3, 5))})
    )
    assert [row["kind"] for row in table] == ["human", "automatic"]
    assert len(matrix(table)[2][0]) == 2
