"""Predicting people from metrics, from people, from both."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, same_rows
from aspect_data import data_of, made

from nlgauge.analyses.complementarity.predictability import deal, predictability
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.stats.correlation.measure import Measure, evaluate


def test_every_aspect_is_predicted_from_all_feature_sets() -> None:
    rows = by(predictability(made(), model="ridge"), "aspect", "predictors")
    assert set(rows) == {(a, f) for a in ("a0", "a1") for f in ("best metric", "automatic", "human", "both")}
    assert rows["a0", "automatic"]["features"] == 4
    assert rows["a0", "human"]["features"] == 1
    assert rows["a0", "both"]["features"] == 5
    assert rows["a0", "best metric"]["best"] == "good"
    assert min(rows["a0", "human"]["value"], rows["a0", "automatic"]["value"]) > 0.4


def test_one_human_feature_gives_its_own_correlation() -> None:
    """With one feature, ridge on ranks keeps its order, so the held-out value is the plain correlation, fold by fold."""
    data = made()
    row = by(predictability(data, model="ridge"), "aspect", "predictors")["a0", "human"]
    panel = data.panel("a0", canonical=True)
    fold = deal(panel.humans["a0"], 5, "inputs", 0)
    for f, value in enumerate(row[f"fold_{k}"] for k in range(1, 6)):
        part = (fold == f).any(axis=0)
        measure = Measure.parse("input/kendall")
        own = evaluate(panel.humans["a1"][None][:, :, part], panel.humans["a0"][:, part], [measure]).value[0, 0]
        assert value == pytest.approx(own)


def test_noise_has_no_value_and_its_interval_says_so() -> None:
    rng = np.random.default_rng(0)
    data = data_of({"a": rng.normal(size=(6, 100))}, {f"m{k}": rng.normal(size=(6, 100)) for k in range(5)})
    for model in ("ridge", "xgboost"):
        row = by(predictability(data, model=model), "predictors")["automatic"]  # type: ignore[arg-type]
        assert abs(row["value"]) < 0.1
        assert row["low"] < 0 < row["high"]


def test_xgboost_predicts_what_can_be_predicted_and_repeats_itself() -> None:
    data = made(inputs=60, aspects=1)
    first = predictability(data, seed=3)
    assert by(first, "predictors")["automatic"]["value"] > 0.3
    assert same_rows(first, predictability(data, seed=3))


def test_plain_folds_are_named() -> None:
    table = predictability(made(), model="ridge", split="outputs", measure="global/kendall")
    assert "outputs are split" in table.method
    assert "split:outputs" in table.signature


def test_one_aspect_says_that_there_are_no_human_features() -> None:
    table = predictability(made(aspects=1), model="ridge")
    assert {row["predictors"] for row in table} == {"best metric", "automatic"}
    assert any("there is one aspect" in note for note in table.notes)


def test_two_systems_one_system_and_holes() -> None:
    two = by(predictability(made(systems=2), model="ridge"), "aspect", "predictors")
    assert two["a0", "automatic"]["value"] > 0.2
    one = predictability(made(systems=1, inputs=80), model="ridge")
    assert {row["measure"] for row in one} == {"global/kendall"}
    holes = by(predictability(made(holes=0.2)), "aspect", "predictors")["a0", "both"]
    assert holes["value"] > 0.2
    assert holes["n"] < 240


def test_unknown_models_and_splits_are_refused() -> None:
    with pytest.raises(NameUnknown, match="model must be xgboost"):
        predictability(made(), model="forest")  # type: ignore[arg-type]
    with pytest.raises(NameUnknown, match="split must be inputs"):
        predictability(made(), model="ridge", split="rows")  # type: ignore[arg-type]


def test_nothing_to_predict_from_is_an_error() -> None:
    with pytest.raises(NeedsMissing, match="nor a second aspect"):
        predictability(data_of({"a": np.random.default_rng(0).random((3, 9))}, {}), model="ridge")
