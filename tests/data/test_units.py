"""Trials of one input: the columns that tell them apart, and the one unit that they are."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.data.card import card
from nlgauge.data.export import export, split_data
from nlgauge.data.units import base_inputs, units_of
from nlgauge.datasets.load import check
from nlgauge.errors import DataError

NAMES = ("epoch", "trial", "attempt", "sample", "run", "seed", "repeat", "repetition", "Trial No.", "run_id")


def rows(
    column: str = "trial", systems: int = 2, trials: int = 3, value: str = "{}", **more: Any
) -> list[dict[str, Any]]:
    """Scores and ratings without texts: nothing but the column of trials tells the rows apart."""
    made = []
    for k, (s, i, t) in enumerate(product(range(systems), range(8), range(1, trials + 1))):
        label = value.format(t)
        trial: Any = int(label) if label.isdigit() else label
        made.append(
            {"model": f"m{s}", "task_id": f"q{i}", column: trial, "bleu": (7 * k % 13) / 13, "human_score": k % 5}
        )
        made[-1] |= {name: values(s, i, t) for name, values in more.items()}
    return made


@pytest.mark.parametrize("column", NAMES)
@pytest.mark.parametrize("value", ["{}", "run{}", "a name {}"])
def test_columns_of_trials_are_neither_metrics_nor_systems(column: str, value: str) -> None:
    data = ng.load(rows(column, value=value))
    assert (data.systems, data.metrics, data.aspects) == (["m0", "m1"], ["bleu"], ["score"])
    assert (len(data), set(base_inputs(data.samples))) == (48, {f"q{i}" for i in range(8)})
    assert "8 inputs × 3 trials: the trials of one input are one cluster" in data.notes
    roles = {row["column"]: row["role"] for row in check(rows(column, value=value))}
    assert roles[column] == "trial"


@pytest.mark.parametrize("column", ["run", "run_id", "sample", "epoch"])
def test_trials_of_one_system_without_a_system_column(column: str) -> None:
    plain = [{k: v for k, v in row.items() if k != "model"} for row in rows(column, systems=1)]
    data = ng.load(plain)
    assert (data.systems, data.metrics, len(data)) == (["system"], ["bleu"], 24)
    assert units_of(data, data.inputs).column == "input"


def test_a_run_with_a_name_is_a_system_where_no_other_column_is() -> None:
    made = [
        {"run": s, "task_id": f"q{i}", "bleu": 0.1 * i, "human_score": i % 3} for s in ("bm25", "t5") for i in range(6)
    ]
    assert ng.load(made).systems == ["bm25", "t5"]


def test_the_user_may_declare_a_column_of_trials_as_a_metric_or_as_the_system() -> None:
    assert ng.load(rows("seed"), metrics=["+seed"], repeats="number").metrics == ["bleu", "seed"]
    assert ng.load([{**row, "model": "one"} for row in rows("run", systems=1)], system="run").systems == ["1", "2", "3"]


def test_a_trial_has_the_same_number_in_every_system() -> None:
    made = [row for row in rows() if (row["model"], row["trial"]) != ("m1", 2)]
    data = ng.load(made)
    of_q0 = data.samples.filter(base_inputs(data.samples) == "q0").select("system", "input", "trial").rows()
    assert of_q0 == [("m0", "q0", 1), ("m0", "q0 #2", 2), ("m0", "q0 #3", 3), ("m1", "q0", 1), ("m1", "q0 #3", 3)]
    seeds = ng.load(rows("seed", seed=lambda s, i, t: 1000 * s + 10 * i + t))  # each seed occurs once
    assert seeds.inputs[:3] == ["q0", "q0 #2", "q0 #3"] and len(seeds.inputs) == 24


def test_equal_texts_of_different_trials_are_different_outputs() -> None:
    data = ng.load([{**row, "output": "yes"} for row in rows(systems=1)])
    assert len(data) == 24
    mean = ng.load(rows(systems=1), repeats="mean")
    assert len(mean) == 8
    assert mean.scores["bleu"][0] == pytest.approx(np.mean([row["bleu"] for row in rows(systems=1)[:3]]))


def test_documents_hold_all_trials_of_their_inputs() -> None:
    data = ng.load(rows(conversation_id=lambda s, i, t: f"d{i // 2}"))
    panel = data.panel()
    assert (panel.cluster_column, set(panel.units)) == ("conversation_id", {"d0", "d1", "d2", "d3"})
    panel = ng.load(rows(conversation_id=lambda s, i, t: f"d{t}")).panel()  # splits the trials of an input
    assert (panel.cluster_column, len(set(panel.units))) == ("input", 8)
    with pytest.raises(DataError, match="differs between the outputs of an input"):
        ng.load(rows(place=lambda s, i, t: f"p{t}")).clustered("place").panel()


def test_trials_survive_a_round_trip_through_files(tmp_path: Path) -> None:
    data = ng.load(rows(systems=1))
    for name in ("all.jsonl", "all.csv", "all.parquet"):
        export(data, tmp_path / name)
        back = ng.load(tmp_path / name)
        assert set(back.panel().units) == {f"q{i}" for i in range(8)}, name
        assert back.metrics == ["bleu"], name


def test_the_tuning_part_and_the_test_part_share_no_input() -> None:
    tune, test = split_data(ng.load(rows()), 0.45)
    assert not set(base_inputs(tune.samples)) & set(base_inputs(test.samples))


def test_a_column_beside_epochs_is_the_input_whatever_it_is_called() -> None:
    """Without an input column every row counted as independent, and a gate on 40 × 5 identical epochs passed."""
    rows = [
        {"q": f"q{q}", "epoch": e, "answer": f"{q} {e}", "human_label": ("fail", "pass")[q % 3 > 0], "judge": "pass"}
        for q in range(12)
        for e in range(3)
    ]
    data = ng.load(rows)
    assert len(set(units_of(data, data.inputs).names)) == 12
    assert any("'q' is used as the input" in note for note in data.notes)
    named = [{"epoch": row["epoch"], "human_label": row["human_label"], "judge": row["judge"]} for row in rows]
    assert any("there is no input column" in note for note in ng.load(named).notes)


def edits(documents: int, each: int) -> ng.Dataset:
    """Edits of summaries of the same documents; an id names each."""
    return ng.load(
        [
            {"id": f"e{d}-{e}", "source": f"text {d}", "output": f"{d} {e}", "human_score": (d + e) % 5, "m": d * e % 7}
            for d, e in product(range(documents), range(each))
        ]
    )


@pytest.mark.parametrize(("documents", "each", "clusters"), [(12, 5, 12), (40, 1, 0), (30, 2, 30), (5, 10, 0)])
def test_inputs_with_the_same_source_text_are_one_cluster(documents: int, each: int, clusters: int) -> None:
    data = edits(documents, each)
    panel = data.panel("score")
    assert len(set(panel.clusters or ())) == clusters
    assert any("same source are one cluster" in line for line in card(data)) == (clusters > 0)
    if clusters:
        alike = {(i.split("-")[0], c) for i, c in zip(panel.inputs, panel.clusters, strict=True)}
        assert len(alike) == clusters  # the inputs of a document, and no others
        assert data.clustered("input").panel("score").clusters is None
